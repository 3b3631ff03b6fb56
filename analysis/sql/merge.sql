-- The base of an earlier snapshot (old_*) and what came since (new_*), added up.
CREATE TEMP TABLE base_origins AS
SELECT template, kind, name, sum(calls)::BIGINT AS calls
FROM (FROM old_origins UNION ALL FROM new_origins) GROUP BY ALL;

CREATE TEMP TABLE base_totals AS
SELECT template, sum(calls)::BIGINT AS calls, sum(errors)::BIGINT AS errors, sum(time_us)::BIGINT AS time_us
FROM (FROM old_totals UNION ALL FROM new_totals) GROUP BY ALL;

CREATE TEMP TABLE base_latency AS
SELECT template, bucket, sum(n)::BIGINT AS n
FROM (FROM old_latency UNION ALL FROM new_latency) GROUP BY ALL;

CREATE TEMP TABLE base_shapes AS
SELECT signature, explicit, partial, opaque, overflow, sum(n)::BIGINT AS n
FROM (FROM old_shapes UNION ALL FROM new_shapes) GROUP BY ALL;

CREATE TEMP TABLE base_slots AS
SELECT table_name, column_name, slot, sum(calls)::BIGINT AS calls
FROM (FROM old_slots UNION ALL FROM new_slots) GROUP BY ALL;
