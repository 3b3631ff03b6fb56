SELECT u.user_id FROM users u LEFT JOIN user_sessions s ON s.user_id = u.user_id WHERE s.user_id IS NULL AND u.region_id = 2
SELECT count(*) FROM users WHERE NOT (user_id = 5 OR user_id = 6)
SELECT * FROM (SELECT user_id, kind, count(*) c FROM notifications GROUP BY GROUPING SETS ((user_id),(kind))) s
SELECT DISTINCT ON (kind) kind, user_id FROM notifications GROUP BY kind, user_id, notif_id ORDER BY kind, user_id LIMIT 2
SELECT kind, avg(notif_id) FROM notifications GROUP BY kind ORDER BY avg(notif_id), kind LIMIT 1
INSERT INTO user_settings(user_id,name) SELECT u.user_id, 'j' || min(n.notif_id) FROM users u JOIN notifications n ON n.notif_id = u.user_id GROUP BY u.user_id
INSERT INTO user_settings(user_id,name) SELECT u.user_id, 'a' || count(*) FROM users u JOIN activity_log a USING (user_id) GROUP BY 1
SELECT u.user_id, s.ip FROM users u LEFT JOIN user_sessions s ON s.user_id = u.user_id AND u.region_id = 1
SELECT p.title, o.name FROM orgs o RIGHT JOIN plans p ON p.plan_code = o.plan_code
SELECT region_id FROM regions UNION ALL SELECT region_id FROM users WHERE user_id IN (5,6,7)
SELECT count(*), 'total' AS label FROM org_members
SELECT user_id, count(1) FROM notifications WHERE user_id IN (10, 6) GROUP BY user_id
INSERT INTO org_members(org_id,user_id) VALUES ('org1',901),('org0',902),('org2',903)
SELECT * FROM files WHERE file_id NOT IN ('bd19836d-db62-c11c-55ab-251ccaca5645','3667f6a0-c974-9075-8d7d-c9659d01ea34') AND owner_id = 7
SELECT i.invoice_no FROM orgs o JOIN billing.invoices i ON o.seats = i.invoice_no
UPDATE users SET handle = CASE region_id WHEN $1 THEN $2 ELSE handle END WHERE user_id = $3
SELECT * FROM users u LEFT JOIN regions d ON d.region_id = u.region_id WHERE u.handle = 'h7'
SELECT u.user_id FROM users u LEFT JOIN user_sessions s ON s.user_id = u.user_id WHERE s.user_id IS NULL AND u.user_id = 5
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id LEFT JOIN recent_files r ON r.user_id = n.user_id WHERE u.user_id = 5
SELECT * FROM regions r LEFT JOIN users u ON u.region_id = r.region_id AND u.user_id = 5
SELECT u.user_id, x.* FROM users u LEFT JOIN LATERAL (SELECT * FROM notifications n WHERE n.user_id = u.user_id ORDER BY created_at LIMIT 3) x ON true
SELECT u.user_id, x.* FROM users u, LATERAL (SELECT * FROM notifications n WHERE n.user_id = u.user_id ORDER BY created_at LIMIT 3) x
SELECT u.user_id, x.* FROM users u, LATERAL (SELECT * FROM notifications n WHERE n.user_id = u.user_id ORDER BY created_at LIMIT 3) x WHERE u.user_id = 5
WITH RECURSIVE t AS (SELECT file_id, comment_id FROM comments WHERE parent_id IS NULL UNION ALL SELECT c.file_id, c.comment_id FROM comments c JOIN t ON c.parent_id = t.comment_id AND c.file_id = t.file_id) SELECT * FROM t
WITH RECURSIVE t AS (SELECT file_id, comment_id FROM comments WHERE parent_id IS NULL UNION ALL SELECT c.file_id, c.comment_id FROM comments c JOIN t ON c.parent_id = t.comment_id AND c.file_id = t.file_id) SELECT * FROM t WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
WITH RECURSIVE t AS (SELECT file_id, comment_id FROM comments WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645' UNION ALL SELECT c.file_id, c.comment_id FROM comments c JOIN t ON c.parent_id = t.comment_id) SELECT * FROM t
WITH d AS (DELETE FROM notifications WHERE read_at < now() RETURNING *) SELECT count(*) FROM d
WITH d AS (DELETE FROM notifications WHERE read_at < now() RETURNING user_id, kind) INSERT INTO user_settings(user_id, name) SELECT user_id, kind FROM d
WITH d AS (DELETE FROM notifications WHERE user_id = 5 RETURNING user_id, kind) INSERT INTO user_settings(user_id, name) SELECT user_id, kind FROM d
SELECT n.user_id, count(*) FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id GROUP BY n.user_id
SELECT u.user_id, row_number() OVER (PARTITION BY n.user_id) FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id
SELECT * FROM (SELECT n.user_id, count(*) c FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id GROUP BY n.user_id) s WHERE c > 1
SELECT * FROM users WHERE user_id = 9007199254740992::float8
SELECT * FROM users WHERE user_id = 9223372036854775808
SELECT user_id FROM users EXCEPT SELECT region_id FROM regions
SELECT user_id FROM users EXCEPT ALL SELECT region_id FROM regions
SELECT region_id FROM regions EXCEPT SELECT user_id FROM users
SELECT handle FROM users EXCEPT SELECT name FROM regions
SELECT handle FROM users UNION SELECT name FROM regions
SELECT * FROM users WHERE user_id = ANY(ARRAY[5,6])
SELECT * FROM users WHERE user_id = ALL(ARRAY[5,5])
SELECT * FROM users WHERE (user_id, handle) IN ((5,'a'),(6,'b'))
SELECT * FROM users u WHERE (user_id, handle) IN (SELECT user_id, kind FROM notifications)
SELECT * FROM users u WHERE u.user_id = 5 AND u.user_id NOT IN (SELECT user_id FROM notifications)
SELECT * FROM users u WHERE u.user_id = 5 AND u.handle NOT IN (SELECT kind FROM notifications WHERE user_id = 5)
UPDATE users SET handle = 'x' FROM (SELECT user_id FROM notifications LIMIT 1) s WHERE s.user_id = users.user_id
DELETE FROM users WHERE ctid IN (SELECT ctid FROM users WHERE user_id = 5 LIMIT 10) AND user_id = 5
DELETE FROM users WHERE ctid = '(0,1)'
UPDATE users SET handle = 'x' WHERE user_id = $1 AND $2 = 5
SELECT * FROM users u JOIN notifications n ON n.user_id = $1 WHERE u.user_id = $1
SELECT * FROM users u JOIN notifications n ON n.user_id = $1 WHERE u.user_id = $2
SELECT * FROM users WHERE user_id = $1 OR $1 IS NULL
SELECT * FROM users WHERE ($1::bigint IS NULL OR user_id = $1)
SELECT * FROM users WHERE user_id = $1::numeric
PREPARE q AS SELECT * FROM users WHERE user_id = $1
EXECUTE q(5)
LISTEN c
CALL purge_user(5)
DO $$ BEGIN NULL; END $$
COPY regions FROM STDIN
COPY activity_log TO STDOUT
VACUUM users
ANALYZE
GRANT SELECT ON users TO bob
CREATE EXTENSION pg_trgm
SELECT pg_sleep(1)
SELECT lower(handle) FROM users WHERE user_id=5
SELECT currval('notif_seq')
LOCK TABLE users
SELECT * FROM feature_flags f, regions r
SELECT * FROM feature_flags f WHERE EXISTS (SELECT 1 FROM users WHERE user_id = 5)
INSERT INTO job_queue(kind) VALUES ('a')
INSERT INTO job_queue(kind) SELECT name FROM regions
INSERT INTO regions SELECT job_id, kind FROM job_queue
MERGE INTO regions t USING (VALUES (1,'a')) s(id,n) ON t.region_id = s.id WHEN MATCHED THEN UPDATE SET name = s.n
BEGIN; UPDATE users SET handle='x' WHERE user_id=5; UPDATE users SET handle='y' WHERE user_id=6; COMMIT
BEGIN; UPDATE users SET handle='x' WHERE user_id=5; UPDATE feature_flags SET rollout=1; COMMIT
SELECT * FROM user_inbox JOIN active_files f ON f.owner_id = user_inbox.user_id
SELECT * FROM org_seat_usage WHERE org_id = 'org1'
SELECT * FROM owner_counts WHERE owner_id = 5
SELECT * FROM owner_files WHERE user_id = 5
INSERT INTO users(user_id,handle,email) SELECT 5, 'a', 'b' WHERE NOT EXISTS (SELECT 1 FROM users WHERE user_id = 5)
INSERT INTO users(user_id,handle,email) SELECT 5, 'a', 'b' WHERE NOT EXISTS (SELECT 1 FROM users WHERE handle = 'a')
SELECT array_agg(user_id) FROM users WHERE user_id = ANY($1)
SELECT * FROM users WHERE user_id IN (SELECT 5 UNION SELECT 6)
SELECT * FROM users u, (SELECT 5 AS id UNION ALL SELECT 6) s WHERE u.user_id = s.id
SELECT * FROM users u JOIN (VALUES (5),(6)) v(id) ON v.id = u.user_id
SELECT * FROM users u FULL JOIN notifications n USING (user_id) WHERE n.kind = 'a' AND user_id = 5
SELECT max(user_id) FROM (SELECT user_id FROM users WHERE user_id = 5 UNION ALL SELECT user_id FROM notifications WHERE user_id = 5) s
SELECT * FROM users WHERE user_id = 5 FOR UPDATE OF users
SELECT count(*) FROM users u WHERE false
SELECT (SELECT count(*) FROM notifications), count(*) FROM users WHERE false
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND false WHERE u.user_id = 5
SELECT * FROM users u LEFT JOIN notifications n ON false
SELECT s.k FROM (SELECT NULL::bigint AS k, handle FROM users) s
SELECT * FROM users u CROSS JOIN LATERAL (SELECT count(*) FROM notifications n WHERE n.user_id = u.user_id) c
SELECT * FROM users u WHERE u.user_id IN (SELECT n.user_id FROM notifications n GROUP BY n.user_id HAVING count(*) > 3)
SELECT * FROM users u WHERE u.user_id IN (SELECT n.user_id FROM notifications n GROUP BY n.user_id HAVING count(*) > 3) AND user_id = 5
SELECT * FROM users u WHERE 5 IN (SELECT n.user_id FROM notifications n WHERE n.user_id = u.user_id)
WITH a AS (SELECT * FROM users WHERE user_id = 5), b AS (SELECT * FROM notifications) SELECT * FROM a JOIN b USING (user_id)
SELECT DISTINCT user_id FROM notifications WHERE user_id IN (5,6) ORDER BY user_id LIMIT 1
SELECT * FROM notifications n WHERE created_at > ALL (SELECT created_at FROM users u WHERE u.user_id = n.user_id)
SELECT CASE WHEN user_id = 5 THEN (SELECT count(*) FROM notifications n WHERE n.user_id = users.user_id) END FROM users
WITH d AS (DELETE FROM notifications WHERE read_at < now() RETURNING user_id, kind) SELECT * FROM users WHERE handle IN (SELECT kind FROM d)
WITH d AS (DELETE FROM notifications WHERE read_at < now() RETURNING user_id, kind) SELECT * FROM users u WHERE u.user_id IN (SELECT user_id FROM d)
WITH d AS (DELETE FROM notifications WHERE read_at < now() RETURNING user_id, kind) SELECT * FROM users u JOIN d USING (user_id)
SELECT * FROM (SELECT (SELECT max(u.user_id)) AS m FROM users u) s
SELECT (SELECT max(u.user_id)) AS m FROM users u
SELECT * FROM users u FULL JOIN notifications n USING (user_id) WHERE n.kind = 'a' AND user_id = 5
SELECT user_id, count(*) FROM users u FULL JOIN notifications n USING (user_id) WHERE n.kind = 'a' GROUP BY user_id
SELECT u.user_id, x.* FROM users u, LATERAL (SELECT * FROM notifications n WHERE n.user_id = u.user_id ORDER BY created_at LIMIT 3) x
SELECT * FROM users u LEFT JOIN notifications n ON false
INSERT INTO regions(name) VALUES ('a')
SELECT * FROM users WHERE user_id = 5 AND handle = (SELECT random()::text)
SELECT * FROM users WHERE org_id = 1
SELECT * FROM nosuch
SELECT nosuch(user_id) FROM users WHERE user_id = 5
SELECT * FROM users u WHERE EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = u.user_id AND n.user_id = 5)
SELECT * FROM users u WHERE EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = u.user_id AND n.user_id = 5) OR u.user_id = 5
SELECT * FROM users u WHERE (SELECT n.user_id FROM notifications n WHERE n.user_id = 5 LIMIT 1) = u.user_id
SELECT count(DISTINCT kind) FILTER (WHERE kind IN (SELECT name FROM regions)) FROM notifications
SELECT * FROM users u, notifications n WHERE u.user_id = n.user_id AND u.user_id IN (5,6) AND n.user_id IN (6,7)
SELECT * FROM users u, notifications n WHERE u.user_id IN (5,6) AND n.user_id IN (5,6)
SELECT * FROM users u, notifications n WHERE u.user_id = 5 AND (n.user_id = 5 OR n.user_id = u.user_id)
UPDATE users SET user_id = user_id WHERE user_id = 5
UPDATE users SET user_id = 5, handle = 'a' WHERE user_id = 5 AND handle = 'b'
INSERT INTO users(user_id,handle,email) VALUES (5,'a','b') ON CONFLICT (email) DO NOTHING
INSERT INTO users(user_id,handle,email) VALUES (5,'a','b') ON CONFLICT (user_id) DO UPDATE SET user_id = EXCLUDED.user_id
INSERT INTO users(user_id,handle,email) VALUES ($1,'a','b')
INSERT INTO activity_log SELECT 5, now(), 'a'
SELECT * FROM users WHERE user_id BETWEEN 5 AND 5
SELECT 5 = ANY(ARRAY(SELECT user_id FROM users))
SELECT n.user_id FROM notifications n GROUP BY GROUPING SETS ((n.user_id), ()) 
SELECT * FROM (SELECT n.user_id, count(*) FROM notifications n GROUP BY ROLLUP (n.user_id)) s WHERE s.user_id = 5
SELECT DISTINCT ON (user_id) * FROM notifications WHERE user_id = 5 ORDER BY user_id, created_at
SELECT * FROM (SELECT DISTINCT ON (kind) * FROM notifications ORDER BY kind, created_at) s WHERE user_id = 5
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND n.kind = 'like' LEFT JOIN recent_files r ON r.user_id = n.user_id
SELECT u.user_id, n.user_id FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND u.user_id = 6 WHERE u.user_id IN (5,6)
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id LEFT JOIN recent_files r ON r.user_id = n.user_id WHERE u.user_id = 6
SELECT * FROM users u LEFT JOIN (notifications n LEFT JOIN recent_files r ON r.user_id = n.user_id AND r.user_id = 6) ON n.user_id = u.user_id WHERE u.user_id = 6
SELECT * FROM (SELECT u.user_id AS a, n.user_id AS b FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id) s WHERE s.b = 6
SELECT * FROM (SELECT u.user_id AS a, n.user_id AS b FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id) s WHERE s.b IS NULL AND s.a = 6
SELECT * FROM (SELECT u.user_id AS a, n.user_id AS b FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id) s JOIN recent_files r ON r.user_id = s.b
SELECT * FROM (SELECT u.user_id AS a, n.user_id AS b FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id) s LEFT JOIN recent_files r ON r.user_id = s.b
SELECT s.b, count(*) FROM (SELECT u.user_id AS a, n.user_id AS b FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id) s GROUP BY s.b
SELECT s.a, count(*) FROM (SELECT u.user_id AS a, n.user_id AS b FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id) s GROUP BY s.a
SELECT user_id, count(*) FROM users u FULL JOIN notifications n USING (user_id) GROUP BY user_id HAVING user_id > 100
SELECT user_id FROM users u FULL JOIN (SELECT user_id FROM notifications WHERE user_id = 6) n USING (user_id) WHERE user_id = 6
SELECT user_id, u.handle, n.kind FROM users u FULL JOIN notifications n USING (user_id) LEFT JOIN recent_files r USING (user_id)
SELECT user_id, u.handle FROM users u FULL JOIN notifications n USING (user_id) FULL JOIN recent_files r USING (user_id)
SELECT user_id FROM users u FULL JOIN notifications n USING (user_id) FULL JOIN recent_files r USING (user_id) WHERE user_id = 6
SELECT u.user_id FROM users u WHERE NOT EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = u.user_id AND n.user_id = 6)
SELECT u.user_id FROM users u WHERE NOT EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = 6 AND n.kind = u.handle) AND u.user_id = 6
SELECT u.user_id FROM users u WHERE u.user_id NOT IN (SELECT n.user_id FROM notifications n WHERE n.kind = 'like')
SELECT u.user_id FROM users u WHERE u.user_id = 6 OR EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = u.user_id)
SELECT u.user_id, EXISTS (SELECT 1 FROM notifications n WHERE n.user_id = u.user_id AND n.kind = 'like') FROM users u
SELECT u.user_id, u.user_id IN (SELECT n.user_id FROM notifications n WHERE n.kind = 'like') FROM users u
SELECT u.user_id, u.user_id IN (SELECT s.b FROM (SELECT n.user_id AS b FROM users x LEFT JOIN notifications n ON n.user_id = x.user_id) s) FROM users u
SELECT u.user_id, u.user_id NOT IN (SELECT n.user_id FROM notifications n WHERE n.kind = 'like') FROM users u
SELECT u.user_id, u.region_id IN (SELECT n.user_id FROM notifications n WHERE n.user_id = u.user_id) FROM users u
SELECT user_id FROM users WHERE user_id IN (SELECT user_id FROM notifications UNION SELECT user_id FROM recent_files)
SELECT user_id FROM users WHERE user_id IN (SELECT user_id FROM notifications INTERSECT SELECT user_id FROM recent_files)
SELECT user_id FROM users WHERE user_id IN (SELECT user_id FROM notifications EXCEPT SELECT user_id FROM recent_files)
SELECT user_id FROM users WHERE user_id NOT IN (SELECT user_id FROM notifications EXCEPT SELECT user_id FROM recent_files)
(SELECT user_id FROM users EXCEPT SELECT user_id FROM notifications) UNION ALL SELECT user_id FROM recent_files
(SELECT user_id, 1 FROM users UNION ALL SELECT user_id, 2 FROM notifications) INTERSECT SELECT user_id, 1 FROM recent_files
SELECT user_id, kind FROM notifications EXCEPT ALL SELECT user_id, kind FROM notifications WHERE kind = 'like'
SELECT region_id FROM users UNION SELECT region_id FROM regions
SELECT handle FROM users UNION SELECT kind FROM notifications UNION SELECT name FROM user_settings
SELECT handle FROM users UNION ALL (SELECT kind FROM notifications UNION SELECT name FROM user_settings)
SELECT DISTINCT ON (user_id) user_id, kind FROM notifications ORDER BY user_id, notif_id
SELECT user_id, max(notif_id) OVER (PARTITION BY user_id), min(notif_id) OVER (PARTITION BY user_id, kind) FROM notifications
SELECT * FROM (SELECT user_id, kind, max(notif_id) OVER (PARTITION BY user_id, kind) m FROM notifications) s WHERE user_id = 6 AND kind = 'like'
SELECT * FROM (SELECT user_id, kind, max(notif_id) OVER (PARTITION BY kind) m FROM notifications) s WHERE kind = 'like' AND user_id = 6
SELECT * FROM (SELECT user_id, region_id, count(*) OVER (PARTITION BY region_id) c FROM users) s WHERE user_id = 6
SELECT * FROM users u JOIN LATERAL (SELECT count(*) c, max(n.user_id) m FROM notifications n WHERE n.user_id = u.user_id) x ON x.m = u.user_id WHERE u.user_id = 6
SELECT * FROM users u LEFT JOIN LATERAL (SELECT n.kind FROM notifications n WHERE n.user_id = u.user_id LIMIT 1) x ON x.kind = 'like' WHERE u.user_id = 6
SELECT * FROM regions r LEFT JOIN LATERAL (SELECT u.user_id FROM users u WHERE u.user_id = 6 AND u.region_id = r.region_id) x ON true
SELECT * FROM regions r, LATERAL (SELECT count(*) FROM users u WHERE u.region_id = r.region_id AND u.user_id = 6) x
SELECT * FROM regions r WHERE EXISTS (SELECT 1 FROM users u WHERE u.region_id = r.region_id AND u.user_id = 6)
SELECT * FROM regions r WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.region_id = r.region_id AND u.user_id = 6)
SELECT * FROM regions r WHERE r.region_id NOT IN (SELECT u.region_id FROM users u WHERE u.user_id = 6)
SELECT * FROM regions r LEFT JOIN users u ON u.user_id = 6 AND u.region_id = r.region_id LEFT JOIN notifications n ON n.user_id = u.user_id
SELECT * FROM regions r LEFT JOIN (users u LEFT JOIN notifications n ON n.user_id = u.user_id) ON u.region_id = r.region_id AND u.user_id = 6
SELECT count(*) FROM users u WHERE u.user_id = 6 AND u.user_id = 7
SELECT count(*), (SELECT count(*) FROM notifications WHERE user_id = 6) FROM users WHERE user_id = 6
SELECT count(*), (SELECT count(*) FROM notifications WHERE user_id = 6) FROM users WHERE user_id = 7 AND false
SELECT max(user_id), (SELECT count(*) FROM notifications n WHERE n.user_id = max(u.user_id)) FROM users u WHERE u.user_id = 6
SELECT u.user_id, (SELECT count(*) FROM notifications n WHERE n.user_id = u.user_id) FROM users u GROUP BY u.user_id
SELECT u.region_id, sum((SELECT count(*) FROM notifications n WHERE n.user_id = u.user_id)) FROM users u GROUP BY u.region_id
SELECT u.region_id, count(DISTINCT u.user_id), count(DISTINCT n.user_id) FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id GROUP BY u.region_id
SELECT user_id, kind, count(*) FROM notifications GROUP BY ROLLUP (user_id, kind) HAVING user_id = 6
SELECT user_id, kind, count(*) FROM notifications GROUP BY GROUPING SETS ((user_id, kind), (user_id)) HAVING user_id = 6
SELECT user_id, kind, count(*) FROM notifications GROUP BY GROUPING SETS ((user_id, kind), (kind)) HAVING user_id = 6
SELECT user_id, kind, count(*) FROM notifications GROUP BY CUBE (user_id, kind) HAVING user_id = 6 OR user_id IS NULL
SELECT user_id, count(*) FROM notifications GROUP BY user_id HAVING user_id IN (6, 7) AND count(*) > 1
SELECT 1 FROM users HAVING count(*) > 3 AND false
WITH RECURSIVE t AS (SELECT file_id, comment_id, 0 AS d FROM comments WHERE parent_id IS NULL UNION SELECT c.file_id, c.comment_id, d + 1 FROM comments c JOIN t ON c.parent_id = t.comment_id AND c.file_id = t.file_id) SELECT * FROM t
WITH RECURSIVE t AS (SELECT file_id, comment_id FROM comments WHERE parent_id IS NULL UNION ALL SELECT c.file_id, c.comment_id FROM comments c JOIN t ON c.parent_id = t.comment_id AND c.file_id = t.file_id) SELECT * FROM t WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
WITH RECURSIVE t AS (SELECT file_id, comment_id FROM comments WHERE parent_id IS NULL UNION ALL SELECT c.file_id, c.comment_id FROM comments c JOIN t ON c.parent_id = t.comment_id) SELECT * FROM t WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
WITH RECURSIVE t AS (SELECT 1::bigint AS i UNION ALL SELECT i + 1 FROM t WHERE i < 9) SELECT * FROM users u JOIN t ON t.i = u.user_id
WITH RECURSIVE t AS (SELECT 6::bigint AS i, 1 AS n UNION ALL SELECT i, n + 1 FROM t WHERE n < 3) SELECT * FROM users u JOIN t ON t.i = u.user_id
WITH a AS (SELECT user_id FROM users WHERE user_id = 6) SELECT * FROM notifications n WHERE n.user_id IN (SELECT user_id FROM a) OR n.user_id = (SELECT user_id FROM a)
WITH a AS (SELECT user_id, region_id FROM users) SELECT * FROM a x JOIN a y ON x.user_id = y.user_id AND x.region_id = y.region_id
WITH a AS (SELECT user_id, count(*) c FROM notifications GROUP BY user_id) SELECT * FROM a x LEFT JOIN a y ON x.user_id = y.user_id AND x.c < y.c
SELECT * FROM users u JOIN (SELECT 6 AS id UNION ALL SELECT 6) s ON s.id = u.user_id
SELECT * FROM users u WHERE u.user_id IN (VALUES (6), (6))
SELECT * FROM users u WHERE (u.user_id, u.handle) IN (SELECT n.user_id, n.kind FROM notifications n WHERE n.user_id = 6)
SELECT * FROM users u WHERE (u.user_id, 1) = (SELECT n.user_id, 1 FROM notifications n WHERE n.user_id = 6 LIMIT 1)
SELECT * FROM users u WHERE u.user_id = ANY (ARRAY(SELECT n.user_id FROM notifications n WHERE n.user_id = 6))
SELECT * FROM users u WHERE (CASE WHEN true THEN u.user_id END) = 6
SELECT * FROM users u WHERE COALESCE(u.user_id = 6, false) AND u.region_id IS DISTINCT FROM 99
SELECT * FROM users u WHERE (u.user_id = 6) IS NOT FALSE
SELECT * FROM users u WHERE (u.user_id = 6) IS NOT TRUE
SELECT * FROM users u WHERE (u.user_id = 6) IS UNKNOWN
SELECT * FROM users u WHERE NOT (u.user_id = 6 IS NOT TRUE)
SELECT * FROM users u WHERE (u.user_id = 6) <> false
SELECT * FROM users u WHERE (u.user_id <> 6) = false
SELECT * FROM users u WHERE u.user_id = 6.0
SELECT * FROM users u WHERE u.user_id IN (6.0, 7.5)
SELECT * FROM users u WHERE u.user_id = 6::smallint + 0
SELECT * FROM users u WHERE u.user_id = mod(26, 20)
SELECT * FROM users u WHERE u.user_id = 13 / 2
SELECT * FROM users u WHERE u.user_id = -13 / -2
SELECT * FROM users u WHERE u.user_id = '0x6'
SELECT * FROM orgs WHERE org_id = lower('oRG1')
SELECT * FROM orgs WHERE org_id = left('org11', 4)
SELECT * FROM orgs WHERE org_id = btrim('xorg1x', 'x')
SELECT * FROM orgs WHERE org_id = 'org1   '::char(10)
SELECT * FROM orgs WHERE org_id = 'org12'::varchar(4)
SELECT * FROM orgs WHERE org_id::varchar(4) = 'org1'
SELECT * FROM orgs o JOIN "OrgDomains" d ON d."orgId" = o.org_id AND d.verified RIGHT JOIN org_members m ON m.org_id = o.org_id
SELECT * FROM orgs o LEFT JOIN org_members m USING (org_id) LEFT JOIN billing.invoices i USING (org_id) WHERE org_id = 'org1'
SELECT m.org_id, count(*) FROM orgs o RIGHT JOIN org_members m USING (org_id) GROUP BY m.org_id
SELECT org_id, count(*) FROM orgs o RIGHT JOIN org_members m USING (org_id) GROUP BY org_id
SELECT o.org_id, count(*) FROM orgs o RIGHT JOIN org_members m USING (org_id) GROUP BY o.org_id
UPDATE users SET handle = 'x' WHERE user_id IN (SELECT user_id FROM notifications WHERE user_id = 6)
UPDATE users u SET handle = 'x' FROM notifications n LEFT JOIN recent_files r ON r.user_id = n.user_id WHERE n.user_id = u.user_id AND r.user_id IS NULL
UPDATE users u SET region_id = (SELECT count(*) FROM notifications n WHERE n.user_id = u.user_id)
DELETE FROM notifications n USING users u LEFT JOIN user_settings s ON s.user_id = u.user_id AND s.name = 'k1' WHERE u.user_id = n.user_id AND s.user_id IS NULL
DELETE FROM notifications n WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.user_id = n.user_id AND u.region_id = 1)
INSERT INTO user_settings(user_id, name) SELECT n.user_id, max(n.kind) FROM notifications n GROUP BY n.user_id ON CONFLICT DO NOTHING
INSERT INTO user_settings(user_id, name) SELECT DISTINCT u.user_id, 'zz' FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id
INSERT INTO user_settings(user_id, name) SELECT user_id, 'zz' FROM users UNION SELECT user_id, 'zz' FROM notifications
INSERT INTO user_settings(user_id, name) SELECT user_id, 'zz' FROM users WHERE user_id = 6 UNION ALL SELECT 6, 'yy'
WITH d AS (DELETE FROM notifications WHERE kind = 'like' RETURNING user_id) UPDATE users u SET handle = 'x' FROM d WHERE d.user_id = u.user_id
MERGE INTO user_settings t USING (SELECT DISTINCT user_id FROM notifications) s ON t.user_id = s.user_id AND t.name = 'q' WHEN NOT MATCHED THEN INSERT (user_id, name) VALUES (s.user_id, 'q')
MERGE INTO user_settings t USING users s ON t.user_id = s.user_id AND t.name = 'k1' WHEN NOT MATCHED BY SOURCE AND t.user_id = 6 THEN DELETE
MERGE INTO user_settings t USING users s ON t.user_id = s.user_id AND s.user_id = 6 WHEN NOT MATCHED BY SOURCE THEN DELETE
SELECT * FROM users u, notifications n WHERE u.user_id = n.user_id AND n.user_id IN (6, 7) AND u.user_id IN (7, 8)
SELECT * FROM users u JOIN notifications n ON (u.user_id = n.user_id AND n.user_id = 6) OR (u.user_id = n.user_id AND u.user_id = 7)
SELECT * FROM users u JOIN notifications n ON (u.user_id = 6 AND n.user_id = 6) OR (u.user_id = 7 AND n.user_id = 7)
SELECT * FROM users u JOIN notifications n ON (u.user_id = 5 AND n.user_id = 10) OR (u.user_id = 10 AND n.user_id = 5)
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id WHERE n.user_id = 6 OR (u.user_id = 5 AND u.user_id = 6)
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id WHERE (n.user_id = 6 OR n.user_id IS NULL) AND u.user_id = 7
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND n.kind IN (SELECT u2.handle FROM users u2 WHERE u2.user_id = n.user_id)
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND EXISTS (SELECT 1 FROM recent_files r WHERE r.user_id = u.user_id)
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND EXISTS (SELECT 1 FROM recent_files r WHERE r.user_id = u.user_id) WHERE u.user_id = 6
SELECT * FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND EXISTS (SELECT 1 FROM recent_files r WHERE r.user_id = n.user_id AND r.user_id = 6) WHERE u.user_id IN (6,7)
-- Prepared statements and transactions in one text.
PREPARE p(bigint) AS SELECT * FROM users WHERE user_id = $1; EXECUTE p(5)
PREPARE p AS SELECT * FROM users WHERE user_id = ANY($1); EXECUTE p('{5,6}'); DEALLOCATE p
BEGIN; SELECT * FROM users WHERE user_id = 5; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'; COMMIT
BEGIN; SELECT * FROM users WHERE user_id = 5; SELECT * FROM regions; COMMIT
BEGIN; SELECT * FROM users WHERE user_id = 5; SELECT * FROM users WHERE user_id = 10; COMMIT
SELECT * FROM users WHERE user_id = ANY(ARRAY[]::bigint[])
SELECT * FROM users WHERE user_id = ANY('{5,6}')
SELECT * FROM users WHERE user_id = ALL('{5}')
SELECT * FROM users WHERE user_id = length('abcde')
SELECT * FROM files WHERE file_id = 'garbage'
INSERT INTO users DEFAULT VALUES
INSERT INTO users(user_id,handle,email) VALUES (dice(),'a','b')
MERGE INTO users t USING (SELECT 5 AS id) s ON t.user_id = s.id WHEN NOT MATCHED THEN INSERT (user_id,handle,email) VALUES (s.id,'a','b')
CREATE UNIQUE INDEX ON users(email) WHERE user_id = 5
CREATE UNIQUE INDEX ON users((user_id + 0))
CREATE UNIQUE INDEX ON regions(name)
ALTER TABLE regions ADD FOREIGN KEY (region_id) REFERENCES users(user_id)
ALTER TABLE users ALTER COLUMN user_id TYPE int
ALTER TABLE users DROP COLUMN user_id
CREATE POLICY p ON users USING (true)
CREATE RULE r AS ON DELETE TO users DO INSTEAD NOTHING
ALTER TABLE job_queue ADD COLUMN x int
SELECT pg_advisory_lock(user_id) FROM users
SELECT dice() FROM users WHERE user_id = 5
SELECT norm_slug(handle) FROM users
CREATE TABLE t AS SELECT * FROM users WHERE user_id = 5
CREATE TABLE orders (id bigint REFERENCES users)
SELECT * FROM users WHERE user_id = 5 AND handle = $$x$$ LIMIT 0
UPDATE users SET handle = 'x' WHERE CURRENT OF c
SELECT * FROM users u JOIN LATERAL generate_series(1, u.region_id) g ON true
SELECT * FROM users u, LATERAL (SELECT dice() d FROM regions r WHERE r.region_id = u.region_id) x WHERE u.user_id = 5
SELECT * FROM users WHERE user_id = 5 FETCH FIRST 1 ROW ONLY FOR UPDATE SKIP LOCKED
SELECT u.user_id FROM users u TABLESAMPLE SYSTEM (10) JOIN notifications n USING (user_id)
SELECT * FROM users u JOIN (SELECT * FROM regions LIMIT 1) r ON r.region_id = u.region_id
SELECT * FROM users u JOIN (SELECT * FROM regions ORDER BY region_id LIMIT 1) r ON r.region_id = u.region_id
SELECT * FROM users u WHERE EXISTS (SELECT 1 FROM regions r LIMIT 1)
SELECT * FROM users u JOIN (SELECT * FROM regions LIMIT 1) r ON r.region_id = u.region_id WHERE u.user_id = 5
SELECT u.user_id FROM users u LEFT JOIN notifications n ON n.user_id = u.user_id AND u.user_id = 5 WHERE (ARRAY[1::bigint] || n.notif_id) <> ARRAY[2::bigint]
SELECT * FROM orgs WHERE org_id = ANY(string_to_array('56', NULL))
SELECT count(*) FROM orgs WHERE org_id = ANY(string_to_array('abc', NULL))
SELECT * FROM users WHERE user_id = COALESCE(5, 1/0)
SELECT * FROM users WHERE false AND user_id = 1/0
SELECT * FROM users WHERE user_id = 5 AND (true OR user_id = 1/0)
SELECT user_id FROM users UNION SELECT floor(random()*100)::bigint
SELECT user_id FROM users EXCEPT SELECT floor(random()*100)::bigint
SELECT user_id::int FROM users UNION (SELECT region_id FROM regions LIMIT 1)
SELECT user_id FROM users EXCEPT (SELECT region_id FROM regions LIMIT 1)
WITH a AS (SELECT random() r) SELECT * FROM users WHERE 0.5 < (SELECT r FROM a)
WITH a AS (SELECT random() r), b AS (SELECT r FROM a) SELECT * FROM users WHERE 0.5 < (SELECT r FROM b)
WITH a AS (SELECT region_id FROM regions LIMIT 1) SELECT * FROM users WHERE region_id = (SELECT region_id FROM a)
SELECT * FROM users WHERE region_id = (SELECT x FROM (SELECT region_id x FROM regions LIMIT 1) s)
SELECT * FROM users WHERE region_id IN (SELECT region_id FROM regions TABLESAMPLE BERNOULLI (50))
SELECT pg_advisory_lock(region_id) FROM regions
SELECT count(*), pg_advisory_lock(1) FROM users WHERE false
SELECT pg_advisory_lock(user_id) FROM users WHERE user_id = 5
SELECT pg_advisory_xact_lock(5)
SELECT currval('notif_seq') FROM regions
SELECT lastval() FROM users WHERE user_id = 5
SELECT DISTINCT user_id, count(*) OVER () FROM notifications
WITH RECURSIVE t(k) AS (SELECT user_id FROM users WHERE user_id = 5 UNION (SELECT t.k FROM t UNION ALL SELECT s.user_id FROM user_sessions s)) SELECT * FROM t
WITH RECURSIVE t(k) AS (SELECT user_id FROM users WHERE region_id = 5 UNION SELECT d.k FROM (SELECT t.k FROM t UNION ALL SELECT s.user_id FROM user_sessions s) d) SELECT * FROM t
WITH RECURSIVE t(k) AS (SELECT user_id FROM users WHERE handle = 'h5' UNION (SELECT t.k FROM t UNION ALL SELECT s.user_id FROM user_sessions s WHERE s.user_id > 100)) SELECT count(*) FROM t
WITH RECURSIVE t(k) AS (SELECT user_id FROM users WHERE handle = 'h5' UNION (SELECT t.k FROM t JOIN user_sessions s ON s.user_id = t.k UNION ALL SELECT t.k FROM t)) SELECT count(*) FROM t
WITH RECURSIVE t(k) AS (SELECT user_id FROM users UNION SELECT d.k FROM (SELECT t.k FROM t) d JOIN notifications n ON n.user_id = d.k) SELECT count(*) FROM t
SELECT * FROM users WHERE user_id = $1::regclass::oid::bigint
SELECT * FROM users WHERE user_id = 'users'::regclass::oid::bigint
PREPARE q(float8) AS SELECT * FROM users WHERE user_id = $1; EXECUTE q(5)
PREPARE q(numeric) AS SELECT * FROM users WHERE user_id = $1; EXECUTE q(5.5)
PREPARE q(float8) AS SELECT * FROM users WHERE user_id = $1; EXECUTE q(4 + 1)
PREPARE q(varchar(3)) AS SELECT * FROM orgs WHERE org_id = $1; EXECUTE q('org1')
PREPARE q(bigint) AS SELECT * FROM users WHERE user_id = $1; EXECUTE q(5); EXECUTE q(5)
PREPARE q(bigint) AS SELECT * FROM users WHERE user_id = $1; EXECUTE q(4 + 1); EXECUTE q(5 + 1)
CREATE TEMP TABLE users (user_id bigint); DELETE FROM users WHERE user_id = 5
CREATE TEMP VIEW users AS SELECT * FROM regions; SELECT * FROM users
CREATE TEMP TABLE t AS SELECT * FROM users WHERE user_id = 5; SELECT * FROM t
DROP TABLE users; SELECT * FROM users WHERE user_id = 5
ALTER TABLE users RENAME TO u2; SELECT * FROM u2 WHERE user_id = 5
ALTER TABLE users ADD COLUMN foo int; UPDATE users SET foo = 1 WHERE user_id = 5
SELECT set_config('search_path', 'archive', false); SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
SELECT set_config('app.uid', '5', false); SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
SET LOCAL search_path = archive; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
SET search_path = archive; RESET search_path; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
SET search_path = archive; RESET ALL; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
SET search_path = archive; DISCARD ALL; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
BEGIN; SET LOCAL search_path = archive; COMMIT; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
BEGIN; SET search_path = archive; ROLLBACK; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
BEGIN; SET search_path = archive; COMMIT; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
BEGIN; SAVEPOINT s; SET search_path = archive; ROLLBACK TO s; SELECT * FROM files WHERE file_id = 'bd19836d-db62-c11c-55ab-251ccaca5645'
SET standard_conforming_strings = off; SELECT * FROM orgs WHERE org_id = 'a\\b'
SELECT * FROM users WHERE user_id = $1; SELECT * FROM users WHERE user_id = $2
SELECT * FROM users WHERE user_id = 5::bit(3)::int; SELECT * FROM users WHERE user_id = 6::bit(3)::int
INSERT INTO user_sessions(user_id) VALUES ((random()*100)::int); INSERT INTO user_sessions(user_id) VALUES ((random()*100)::int)
BEGIN; UPDATE users SET handle = 'x' WHERE user_id = 5; DELETE FROM notifications WHERE user_id = 5; COMMIT
