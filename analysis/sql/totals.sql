-- Traffic by template.
CREATE OR REPLACE TEMP TABLE totals AS
SELECT template, sum(calls)::BIGINT AS calls, sum(errors)::BIGINT AS errors, sum(time_us)::BIGINT AS time_us,
       NOT starts_with(template, 'opaque/') AS real
FROM traffic
GROUP BY template
