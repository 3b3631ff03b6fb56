-- Transactions that wrote, by shape.
SELECT shape, sum("count")::BIGINT
FROM wal_transactions
WHERE day BETWEEN ?::DATE AND ?::DATE
GROUP BY ALL
ORDER BY ALL
