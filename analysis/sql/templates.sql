-- Every template once. Two writers that met one at the same time both wrote it, with the same content.
SELECT id, any_value(text), any_value(slots), any_value(search_path), any_value(verb), any_value(bound)
FROM templates
GROUP BY id
ORDER BY id
