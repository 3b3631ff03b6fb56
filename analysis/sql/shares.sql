-- Calls, time and templates by class and readiness.
SELECT class, readiness, sum(calls)::BIGINT, sum(time_us)::BIGINT, count(*) FILTER (real), 
       (sum(calls) FILTER (layout_dependent))::BIGINT
FROM verdicts JOIN totals USING (template)
WHERE candidate = ?
GROUP BY class, readiness
ORDER BY class, readiness
