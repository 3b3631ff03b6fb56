-- The statements of every shape once, in order.
SELECT signature, position, any_value(template), any_value(repeated), any_value(slots), any_value(symbols)
FROM signatures
GROUP BY signature, position
ORDER BY signature, position
