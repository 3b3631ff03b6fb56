-- Values of the key columns of a colo's tables by logical shard: all, and those of the busiest shard.
WITH load AS (
  SELECT colo, shards, (slot * shards) // 65536 AS shard, sum(calls) AS calls
  FROM base_slots JOIN placements USING (table_name, column_name)
  WHERE candidate = ?
  GROUP BY ALL
)
SELECT colo, shards, sum(calls)::BIGINT, max(calls)::BIGINT
FROM load
GROUP BY colo, shards
ORDER BY colo
