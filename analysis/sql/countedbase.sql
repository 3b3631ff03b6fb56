-- The base of a report on a warehouse without a log: what servers counted themselves. There are no latencies, transactions and key values in it.
CREATE TEMP TABLE base_totals AS
SELECT template, sum(calls)::BIGINT AS calls, 0::BIGINT AS errors, sum(time_us)::BIGINT AS time_us
FROM statistics JOIN at_looks USING (source, "from", "to") WHERE template <> '' GROUP BY template;

CREATE TEMP TABLE base_origins AS
SELECT template, 'team' AS kind, "user" AS name, sum(calls)::BIGINT AS calls
FROM statistics JOIN at_looks USING (source, "from", "to") WHERE template <> '' GROUP BY ALL;

CREATE TEMP TABLE base_latency (template VARCHAR, bucket BIGINT, n BIGINT);
CREATE TEMP TABLE base_shapes (signature VARCHAR, explicit BOOLEAN, partial BOOLEAN, opaque BOOLEAN, overflow BOOLEAN, n BIGINT);
CREATE TEMP TABLE base_slots (table_name VARCHAR, column_name VARCHAR, slot BIGINT, calls BIGINT);
