-- Statements whose verdict was once refuted by running it (package analysis/prove), each cut down to what showed it: class, statement.

-- A WITH query is evaluated where it is read: one that a subquery reads belongs to the subquery, wherever it is defined.
multi_phase WITH c AS (SELECT user_id FROM notifications) SELECT user_id, (SELECT count(*) FROM c) FROM users
multi_phase WITH c AS (SELECT f.file_id FROM files f, files g) SELECT a.file_id, (SELECT count(*) FROM c WHERE c.file_id = a.file_id) FROM comments a
multi_phase WITH c AS (SELECT a.user_id FROM users a LEFT JOIN notifications n ON a.handle = n.kind) SELECT u.user_id FROM users u WHERE EXISTS (SELECT 1 FROM c WHERE c.user_id IN (5, 6))
scatter     WITH c AS (SELECT user_id FROM notifications) SELECT user_id, (SELECT count(*) FROM c WHERE c.user_id = u.user_id) FROM users u

-- The type of a recursive text column is its seed's; asking the recursive term for it did not end.
scatter     WITH RECURSIVE r AS (SELECT org_id AS c1, 1 AS d FROM orgs UNION ALL SELECT m.org_id, r.d + 1 FROM org_members m JOIN r ON m.org_id = r.c1 WHERE r.d < 3) SELECT * FROM r
single_shard WITH RECURSIVE r AS (SELECT org_id AS c1, 1 AS d FROM orgs WHERE org_id = 'org1' UNION ALL SELECT r.c1, r.d + 1 FROM org_members m JOIN r ON m.org_id = r.c1 WHERE r.d < 3) SELECT * FROM r

-- Not refuted but dearer than need be: that a column is NOT NULL holds above a derived table, too.
none        SELECT s.joined_at FROM (SELECT * FROM org_members) s WHERE s.joined_at IS NULL
scatter     SELECT s.joined_at FROM (SELECT m.joined_at, o.org_id FROM orgs o LEFT JOIN org_members m USING (org_id)) s WHERE s.joined_at IS NULL

-- A writing WITH query is run in any case: also where its reader is the side of an outer join that never matches.
multi_phase WITH d AS (INSERT INTO users (user_id, handle, email) VALUES (930, 'a', 'b') RETURNING user_id AS c1) SELECT u.user_id FROM d RIGHT JOIN users u ON d.c1 = u.user_id AND d.c1 = 15 WHERE u.handle = 'h2'
multi_phase WITH d AS (DELETE FROM users u USING notifications n WHERE u.handle = n.kind RETURNING u.user_id) SELECT u.user_id FROM users u LEFT JOIN d ON d.user_id = u.user_id AND false
scatter     WITH d AS (DELETE FROM users u USING notifications n WHERE u.user_id = n.user_id RETURNING u.user_id) SELECT u.user_id FROM users u LEFT JOIN d ON d.user_id = u.user_id AND false

-- A MERGE that can match nothing still inserts.
single_shard MERGE INTO activity_log a USING (VALUES ('k1'), ('k0')) AS s(v) ON a.verb = s.v AND false WHEN NOT MATCHED THEN INSERT (user_id, verb) VALUES (11, s.v)
single_shard MERGE INTO activity_log a USING (VALUES ('k1')) AS s(v) ON a.verb = s.v AND (s.v, s.v) = ('a', 'b') WHEN NOT MATCHED THEN INSERT (user_id, verb) VALUES (11, s.v)
none        MERGE INTO activity_log a USING (VALUES ('k1')) AS s(v) ON a.verb = s.v AND false WHEN MATCHED THEN DELETE
single_shard MERGE INTO activity_log a USING (SELECT 'k1' AS v WHERE false) s ON a.verb = s.v WHEN NOT MATCHED THEN INSERT (user_id, verb) VALUES (11, s.v)

-- A cast that fails does so when it is evaluated, and the planner of PostgreSQL may drop what it is in; a literal fails at once.
multi_phase SELECT r.name FROM regions r LEFT JOIN (SELECT count(*) AS c FROM users u WHERE u.user_id = 5000000039::int) s ON true CROSS JOIN users v
invalid     SELECT * FROM users WHERE user_id = 'abc'::bigint
