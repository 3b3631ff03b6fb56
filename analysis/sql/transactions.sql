-- Transactions by shape, over whole days.
SELECT signature, explicit, partial, opaque, overflow, sum("count")::BIGINT
FROM transactions
WHERE day >= CAST(? AS DATE) AND day <= CAST(? AS DATE)
GROUP BY ALL
ORDER BY ALL
