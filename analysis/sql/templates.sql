-- Every template, those that two writers wrote twice.
SELECT id, text, slots, search_path, verb
FROM templates
