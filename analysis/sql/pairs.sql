-- Joins of tables in different colos, by pair.
SELECT left_table, right_table, sum(calls)::BIGINT, sum(time_us)::BIGINT, count(*)
FROM verdict_pairs JOIN base_totals USING (template)
WHERE candidate = ?
GROUP BY ALL
ORDER BY sum(calls) DESC, left_table, right_table
