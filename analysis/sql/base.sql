-- The traffic that a report weighs verdicts with, summed over the window and free of candidates. Tables new_* hold what the views at hand
-- have. Executions without a template are entries named by their reason. Transactions and key slots are counted per day.
CREATE TEMP TABLE new_origins AS
WITH seen AS (
  SELECT template, coalesce(nullif(team, ''), nullif(application, ''), "user") AS owner, endpoint, application, calls
  FROM rollups WHERE minute BETWEEN getvariable('from_minute') AND getvariable('to_minute')
  UNION ALL
  SELECT 'opaque/' || reason, coalesce(nullif(team, ''), nullif(application, ''), "user"), '', application, calls
  FROM opaque WHERE minute BETWEEN getvariable('from_minute') AND getvariable('to_minute')
)
SELECT template,
       CASE WHEN grouping(owner) = 0 THEN 'team' WHEN grouping(endpoint) = 0 THEN 'endpoint' ELSE 'app' END AS kind,
       CASE WHEN grouping(owner) = 0 THEN owner WHEN grouping(endpoint) = 0 THEN endpoint ELSE application END AS name,
       sum(calls)::BIGINT AS calls
FROM seen
GROUP BY GROUPING SETS ((template, owner), (template, endpoint), (template, application));

CREATE TEMP TABLE new_totals AS
SELECT template, sum(calls)::BIGINT AS calls, sum(errors)::BIGINT AS errors, sum(time_us)::BIGINT AS time_us
FROM rollups WHERE minute BETWEEN getvariable('from_minute') AND getvariable('to_minute') GROUP BY template
UNION ALL
SELECT 'opaque/' || reason, sum(calls)::BIGINT, sum(errors)::BIGINT, sum(time_us)::BIGINT
FROM opaque WHERE minute BETWEEN getvariable('from_minute') AND getvariable('to_minute') GROUP BY ALL;

CREATE TEMP TABLE new_latency AS
SELECT template, bucket, sum(n)::BIGINT AS n
FROM (SELECT template, unnest(buckets) AS bucket, unnest(counts) AS n FROM rollups WHERE minute BETWEEN getvariable('from_minute') AND getvariable('to_minute'))
GROUP BY ALL;

CREATE TEMP TABLE new_shapes AS
SELECT signature, explicit, partial, opaque, overflow, sum("count")::BIGINT AS n
FROM transactions WHERE day BETWEEN getvariable('from_day') AND getvariable('to_day')
GROUP BY ALL;

CREATE TEMP TABLE new_slots AS
SELECT table_name, column_name, slot, sum(calls)::BIGINT AS calls
FROM key_slots WHERE day BETWEEN getvariable('from_day') AND getvariable('to_day')
GROUP BY ALL;
