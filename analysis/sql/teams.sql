-- Traffic by owner and readiness: the team of the tags, else the application name, else the role.
SELECT name, readiness, sum(calls)::BIGINT, count(*) FILTER (NOT starts_with(template, 'opaque/'))
FROM base_origins JOIN verdicts USING (template)
WHERE kind = 'team' AND candidate = ?
GROUP BY ALL
ORDER BY ALL
