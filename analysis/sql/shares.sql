-- Calls, time and templates by class and readiness.
SELECT class, readiness, sum(calls)::BIGINT, sum(time_us)::BIGINT, count(*) FILTER (NOT starts_with(template, 'opaque/')),
       (sum(calls) FILTER (layout_dependent))::BIGINT
FROM verdicts JOIN base_totals USING (template)
WHERE candidate = ?
GROUP BY class, readiness
ORDER BY class, readiness
