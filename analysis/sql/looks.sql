-- The looks at servers' statistics, each with the one before it.
SELECT source, "from", "to", bool_or(evidence = 'at_least'), bool_or(evidence = 'unclear')
FROM statistics
WHERE template = '' AND "from" >= getvariable('from_look') AND "to" <= getvariable('to_look')
GROUP BY source, "from", "to"
ORDER BY source, "from", "to"
