-- Where a template's traffic comes from, most calls first, at most five of each kind.
SELECT template, kind, list(name ORDER BY calls DESC, name)[:5]
FROM base_origins
WHERE name <> ''
GROUP BY template, kind
ORDER BY template, kind
