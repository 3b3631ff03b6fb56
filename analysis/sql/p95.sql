-- The latency bucket in which the 95th percentile of a template's timed executions lies.
WITH flat AS (
  SELECT template, unnest(buckets) AS bucket, unnest(counts) AS n
  FROM rollups
  WHERE minute >= ? AND minute <= ?
), merged AS (
  SELECT template, bucket, sum(n)::BIGINT AS n FROM flat GROUP BY ALL
), ranked AS (
  SELECT template, bucket,
         sum(n) OVER (PARTITION BY template ORDER BY bucket) AS upto,
         sum(n) OVER (PARTITION BY template) AS total
  FROM merged
)
SELECT template, min(bucket)
FROM ranked
WHERE upto * 100 >= total * 95
GROUP BY template
ORDER BY template
