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
