-- Executions of the log whose text cannot be read, in the minutes at hand: the server may have counted them under their statement.
SELECT coalesce(sum(calls - errors), 0)::BIGINT
FROM (SELECT minute, calls, errors, CASE WHEN ? THEN database ELSE '' END AS database FROM opaque)
JOIN at_minutes USING (database, minute)
