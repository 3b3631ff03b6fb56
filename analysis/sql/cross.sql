-- The traffic of templates that join tables of different colos, each once.
SELECT coalesce(sum(calls), 0)::BIGINT, coalesce(sum(time_us), 0)::BIGINT, count(*)
FROM base_totals
WHERE template IN (SELECT template FROM verdict_pairs WHERE candidate = ?)
