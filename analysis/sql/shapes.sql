-- Transactions by shape.
SELECT signature, explicit, partial, opaque, overflow, n FROM base_shapes ORDER BY ALL
