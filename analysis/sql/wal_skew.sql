-- Rows written to a colo's tables by logical shard of the key: all, and those of the busiest shard.
WITH load AS (
  SELECT colo, shards, (slot * shards) // 65536 AS shard, sum("rows") AS n
  FROM wal_slots JOIN placements USING (table_name, column_name)
  WHERE candidate = ? AND day BETWEEN ?::DATE AND ?::DATE
  GROUP BY ALL
)
SELECT colo, shards, sum(n)::BIGINT, max(n)::BIGINT
FROM load
GROUP BY colo, shards
ORDER BY colo
