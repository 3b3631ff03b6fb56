-- Traffic by owner and readiness: the team of the tags, else the application name, else the role.
WITH owned AS (
  SELECT owner, template, sum(calls)::BIGINT AS calls FROM traffic GROUP BY ALL
)
SELECT owner, readiness, sum(calls)::BIGINT, count(*) FILTER (NOT starts_with(template, 'opaque/'))
FROM owned JOIN verdicts USING (template)
WHERE candidate = ?
GROUP BY ALL
ORDER BY ALL
