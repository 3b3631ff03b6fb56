-- Rows written by table and operation, and the minutes between which there were any.
SELECT table_name, op, sum("rows")::BIGINT, sum(bytes)::BIGINT, epoch_us(min("minute")), epoch_us(max("minute"))
FROM wal_rows
WHERE "minute" BETWEEN ?::TIMESTAMPTZ AND ?::TIMESTAMPTZ
GROUP BY ALL
ORDER BY table_name, op
