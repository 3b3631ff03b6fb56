-- Executions of the log that did not fail, in the minutes at hand; edge is a minute beside them.
SELECT template, database, sum(calls - errors) FILTER (NOT edge)::BIGINT, sum(calls - errors)::BIGINT
FROM rollups JOIN at_minutes USING (database, minute)
GROUP BY template, database
ORDER BY template, database
