-- Traffic by template, with the latency bucket in which the 95th percentile of the timed executions lies.
WITH ranked AS (
  SELECT template, bucket,
         sum(n) OVER (PARTITION BY template ORDER BY bucket) AS upto,
         sum(n) OVER (PARTITION BY template) AS total
  FROM base_latency
), p95 AS (
  SELECT template, min(bucket) AS bucket FROM ranked WHERE upto * 100 >= total * 95 GROUP BY template
)
SELECT template, calls, errors, time_us, coalesce(bucket, -1)
FROM base_totals LEFT JOIN p95 USING (template)
ORDER BY template
