-- Traffic by template and origin, in the window. Executions without a template are entries named by their reason.
CREATE OR REPLACE TEMP TABLE traffic AS
SELECT template, coalesce(nullif(team, ''), nullif(application, ''), "user") AS owner, endpoint, application,
       sum(calls)::BIGINT AS calls, sum(errors)::BIGINT AS errors, sum(time_us)::BIGINT AS time_us
FROM rollups
WHERE minute >= ? AND minute <= ?
GROUP BY ALL
UNION ALL
SELECT 'opaque/' || reason, coalesce(nullif(team, ''), nullif(application, ''), "user"), '', application,
       sum(calls)::BIGINT, sum(errors)::BIGINT, sum(time_us)::BIGINT
FROM opaque
WHERE minute >= ? AND minute <= ?
GROUP BY ALL
