-- Where a template's traffic comes from, most calls first, at most five of each kind.
WITH parts AS (
  SELECT template, 'team' AS kind, owner AS name, sum(calls) AS calls FROM traffic GROUP BY ALL
  UNION ALL
  SELECT template, 'endpoint', endpoint, sum(calls) FROM traffic GROUP BY ALL
  UNION ALL
  SELECT template, 'app', application, sum(calls) FROM traffic GROUP BY ALL
)
SELECT template, kind, name
FROM parts
WHERE name <> ''
QUALIFY row_number() OVER (PARTITION BY template, kind ORDER BY calls DESC, name) <= 5
ORDER BY template, kind, calls DESC, name
