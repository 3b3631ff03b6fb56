-- The facts that fit one schema and one version of their encoding; two writers may both have written them.
SELECT template, facts
FROM facts
WHERE schema_hash = ? AND version = ?
