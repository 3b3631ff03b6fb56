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
