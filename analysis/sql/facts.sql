-- The facts that fit one schema and one version of their encoding.
SELECT template, any_value(facts)
FROM facts
WHERE schema_hash = ? AND version = ?
GROUP BY template
ORDER BY template
