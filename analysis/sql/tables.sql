-- Traffic by table and readiness.
SELECT table_name, readiness, sum(calls)::BIGINT, sum(time_us)::BIGINT, count(*)
FROM verdict_tables JOIN verdicts USING (candidate, template) JOIN base_totals USING (template)
WHERE candidate = ?
GROUP BY ALL
ORDER BY ALL
