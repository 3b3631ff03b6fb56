-- Executions of the log that did not fail, in the minutes at hand; edge is a minute beside them. Where a log does not tell databases all are one.
SELECT template, database, sum(calls - errors) FILTER (NOT edge)::BIGINT, sum(calls - errors)::BIGINT
FROM (SELECT template, minute, calls, errors, CASE WHEN ? THEN database ELSE '' END AS database FROM rollups)
JOIN at_minutes USING (database, minute)
GROUP BY template, database
ORDER BY template, database
