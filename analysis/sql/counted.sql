-- What servers counted between the looks at hand, by template and database.
SELECT template, database, source, sum(calls)::BIGINT, sum(time_us)::BIGINT
FROM statistics JOIN at_looks USING (source, "from", "to")
WHERE template <> ''
GROUP BY template, database, source
ORDER BY template, database, source
