-- Values of the key columns of a colo's tables by logical shard, over whole days: the busiest shard, and all.
WITH load AS (
  SELECT colo, shards, (slot * shards) // 65536 AS shard, sum(calls) AS calls
  FROM key_slots JOIN placements USING (table_name, column_name)
  WHERE candidate = ? AND day >= CAST(? AS DATE) AND day <= CAST(? AS DATE)
  GROUP BY ALL
)
SELECT colo, shards, sum(calls)::BIGINT, max(calls)::BIGINT
FROM load
GROUP BY colo, shards
ORDER BY colo
