-- What is known of the values of columns that can be a shard key.
SELECT table_name, column_name, sum("rows")::BIGINT, sum(nulls + unknown)::BIGINT, sum(moved)::BIGINT, sum(blind)::BIGINT
FROM wal_columns
WHERE day BETWEEN ?::DATE AND ?::DATE
GROUP BY ALL
ORDER BY ALL
