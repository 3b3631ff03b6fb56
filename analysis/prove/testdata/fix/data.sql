INSERT INTO flags SELECT 'flag ' || i FROM generate_series(1, 3) i;
INSERT INTO stars SELECT i FROM generate_series(1, 40, 3) i;
INSERT INTO orgs SELECT i, 'org ' || i FROM generate_series(1, 4) i;
INSERT INTO users SELECT 1 + i % 4, i + 1, 'u' || i + 1 || '@example.org', 'user ' || i FROM generate_series(0, 19) i;
INSERT INTO files SELECT u.org_id, (u.user_id - 1) * 2 + k, u.user_id, 'file ' || u.user_id || '/' || k FROM users u, generate_series(0, 1) k WHERE u.user_id < 16;
INSERT INTO comments SELECT f.org_id, f.file_id, f.file_id * 3 + k, 'comment ' || k FROM files f, generate_series(1, 3) k WHERE f.file_id % 4 <> 0;
