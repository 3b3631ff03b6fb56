-- The rows of every shape once, in order.
SELECT shape, any_value(table_name), any_value(op), any_value(column_name), any_value(symbol), any_value(nulls OR unknown), any_value(moved), any_value(blind)
FROM wal_shapes
GROUP BY shape, position
ORDER BY shape, position
