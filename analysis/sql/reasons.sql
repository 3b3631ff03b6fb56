-- The traffic of templates that are not ready, by reason, and the busiest templates of each.
SELECT code, sum(calls)::BIGINT, sum(time_us)::BIGINT, count(*) FILTER (NOT starts_with(template, 'opaque/')),
       list(template ORDER BY calls DESC, template)[:5]
FROM verdict_reasons JOIN base_totals USING (template)
WHERE candidate = ?
GROUP BY code
ORDER BY sum(calls) DESC, code
