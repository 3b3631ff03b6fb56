INSERT INTO vk(k,id) VALUES ('abc   ', 1)
INSERT INTO vk(k,id) VALUES ('abc', 1)
INSERT INTO vk(k,id) SELECT 'abc   ', 1
INSERT INTO vk(k,id) VALUES ('abc   '::text, 1)
INSERT INTO vk(k,id) VALUES ('abc   '::varchar(5), 1)
INSERT INTO vk(k,id) VALUES (123, 1)
INSERT INTO vk(k,id) VALUES ($1, 1)
INSERT INTO vk(k,id) SELECT k, id FROM tk
INSERT INTO vk(k,id) SELECT k, id FROM tk WHERE k = 'abc   '
INSERT INTO vk(k,id) VALUES ((SELECT k FROM tk WHERE k = 'abc   '), 1)
INSERT INTO tk(k,id) SELECT k, id FROM vk
INSERT INTO dk(k,id) VALUES ('abc   ', 1)
INSERT INTO dk(k,id) VALUES ('abc   '::text, 1)
INSERT INTO tk(k,id) VALUES ('abc'::char(5), 1)
INSERT INTO tk(k,id) VALUES ('abc  '::char(5)::text, 1)
INSERT INTO ik(k,id) VALUES (5.4, 1)
INSERT INTO ik(k,id) VALUES (5.4::float8, 1)
INSERT INTO ik(k,id) VALUES ('5', 1)
INSERT INTO sk(k,id) VALUES (70000, 1)
INSERT INTO ik(k,id) SELECT k, id FROM bk
INSERT INTO bk(k,id) SELECT k, id FROM ik
INSERT INTO bk(k,id) SELECT k::int, id FROM bk
INSERT INTO bk(k,id) SELECT k::smallint, id FROM bk
INSERT INTO bk(k,id) SELECT d, id FROM bk
INSERT INTO bk(k,id) SELECT nullable, id FROM bk
INSERT INTO bk(k,id) SELECT g, id FROM bk
INSERT INTO bk(k,id) SELECT k+0, id FROM bk WHERE k = 5
INSERT INTO bk(k,id) SELECT max(k), 1 FROM bk WHERE k = 5
INSERT INTO bk(k,id) SELECT 5, id FROM ref
INSERT INTO bk(k,id) SELECT 5, id FROM bk WHERE k = 5
INSERT INTO bk(k,id) SELECT 6, id FROM bk WHERE k = 5
INSERT INTO bk(k,id) SELECT k, id FROM ref
INSERT INTO bk(k,id) SELECT k, id FROM ref WHERE k = 5
INSERT INTO bk(k,id) SELECT r.k, r.id FROM ref r JOIN bk b ON b.k = r.k
INSERT INTO bk(k,id) SELECT k, id FROM loc WHERE k = 5
INSERT INTO bk(k,id) VALUES (5, (SELECT max(id) FROM bk WHERE k = 5))
INSERT INTO bk(k,id) VALUES (5, (SELECT max(id) FROM bk WHERE k = 6))
INSERT INTO bk(k,id) VALUES (5, (SELECT max(id) FROM ref))
INSERT INTO bk(k,id) VALUES (5, 1), (6, (SELECT max(id) FROM ref))
INSERT INTO bk(k,id) VALUES ((SELECT 5), 1)
INSERT INTO bk(k,id) VALUES ((SELECT 5 WHERE false), 1)
INSERT INTO bk(k,id) VALUES ((SELECT '5'), 1)
INSERT INTO bk(k,id) VALUES ((SELECT 5.4), 1)
INSERT INTO bk(k,id) VALUES (NULL, 1)
INSERT INTO bk(k,id) VALUES (NULL::bigint, 1)
INSERT INTO bk(k,id) VALUES (nullif(5,5), 1)
INSERT INTO bk(k,id) VALUES (COALESCE(NULL, 5), 1)
INSERT INTO bk(id) VALUES (1)
INSERT INTO bk DEFAULT VALUES
INSERT INTO defk DEFAULT VALUES
INSERT INTO defk(id) VALUES (3)
INSERT INTO defk VALUES (DEFAULT, 3), (6, 4)
INSERT INTO defk(id) SELECT id FROM ref
INSERT INTO gk(id) VALUES (1)
INSERT INTO gk(id) VALUES (1), (2)
INSERT INTO gk(k,id) OVERRIDING SYSTEM VALUE VALUES (5, 1)
INSERT INTO gk(k,id) OVERRIDING USER VALUE VALUES (5, 1)
INSERT INTO gk(k,id) OVERRIDING USER VALUE SELECT k, id FROM bk
INSERT INTO gk OVERRIDING USER VALUE VALUES (5, 1, 1)
INSERT INTO gk(k,id) VALUES (DEFAULT, 1)
INSERT INTO pk VALUES (5, '2024-05-05', 1)
INSERT INTO pk_2024 VALUES (5, '2024-05-05', 1)
INSERT INTO pk_def VALUES (1, 5, '2023-05-05')
SELECT * FROM pk WHERE k = 5
SELECT * FROM pk_def WHERE k = 5
SELECT * FROM pk_def WHERE v = 5
SELECT * FROM pk_2024 JOIN pk_def USING (k)
UPDATE pk SET at = '2025-01-01' WHERE k = 5
SELECT * FROM parent WHERE k = 5
SELECT * FROM child WHERE k = 5
SELECT * FROM ONLY parent WHERE k = 5
SELECT * FROM parent JOIN child USING (k)
INSERT INTO child(k,v) VALUES (5,5)
INSERT INTO trg VALUES (5, 1)
UPDATE trg SET v = 1 WHERE k = 5
INSERT INTO rul VALUES (5, 1)
UPDATE rul SET v = 1 WHERE k = 5
SELECT * FROM rls WHERE k = 5
INSERT INTO v_where VALUES (5, 1, 3)
UPDATE v_where SET o = 4 WHERE k = 5
UPDATE v_where SET k = 6 WHERE k = 5
DELETE FROM v_where
INSERT INTO v_ren(a,b) VALUES (1, 5)
INSERT INTO v_ren VALUES (1, 5)
INSERT INTO v_ren(a,b) VALUES (1, 5) ON CONFLICT (a, b) DO UPDATE SET b = EXCLUDED.b
INSERT INTO v_ren(a,b) VALUES (1, 5) ON CONFLICT (a, b) DO UPDATE SET a = EXCLUDED.b
INSERT INTO v_ren(a,b) VALUES (1, 5) ON CONFLICT (a, b) DO UPDATE SET b = EXCLUDED.a
UPDATE v_ren SET b = 6 WHERE b = 5
UPDATE v_ren SET a = 6 WHERE b = 5
UPDATE v_ren SET a = 6 WHERE a = 5
INSERT INTO v_expr(k, id) VALUES (5, 1)
UPDATE v_expr SET id = 1 WHERE k = 5
INSERT INTO v_trg VALUES (5, 1)
SELECT * FROM v_agg WHERE k = 5
SELECT * FROM v_agg WHERE c = 5
SELECT * FROM v_lim WHERE k = 5
SELECT * FROM v_dist WHERE k = 5
SELECT count(*) FROM v_dist
SELECT * FROM v_win WHERE k = 5
SELECT * FROM v_win2 WHERE k = 5
SELECT * FROM v_uni WHERE k = 5
SELECT * FROM v_uni2 WHERE k = 5
SELECT * FROM v_uni u JOIN bk b ON b.k = u.k
SELECT * FROM v_agg a JOIN v_win w USING (k) JOIN v_dist USING (k) WHERE k = 5
SELECT * FROM v_agg a JOIN v_lim w USING (k) WHERE a.k = 5
SELECT * FROM bk WHERE k = abs(5::bigint)
SELECT * FROM bk WHERE k = public.abs(5::bigint)
SELECT * FROM bk WHERE k = myabs(5::bigint)
SELECT * FROM bk WHERE k = abs(5)
SELECT * FROM tk WHERE k = lower('ABC')
SELECT * FROM tk WHERE k = lower(5::bigint)
SELECT * FROM tk WHERE k = weird(NULL)
SELECT a.k FROM tk a LEFT JOIN tk b ON a.k = b.k AND a.k = 'x' WHERE weird(b.t) = 'z'
SELECT * FROM mv WHERE k = 5
SELECT * FROM bk JOIN mv USING (k)
SELECT * FROM nk WHERE k = 'ABC'
SELECT * FROM tk JOIN nk ON tk.k = nk.k WHERE nk.k = 'ABC'
SELECT * FROM tk WHERE k = 'ABC' COLLATE nocase
SELECT * FROM tk WHERE k COLLATE nocase = 'ABC'
SELECT * FROM tk a JOIN tk b ON a.k = b.k COLLATE nocase
SELECT * FROM tk a JOIN tk b ON a.k COLLATE "C" = b.k
SELECT k COLLATE nocase AS k, count(*) FROM tk GROUP BY k COLLATE nocase
SELECT DISTINCT k COLLATE nocase FROM tk
SELECT count(*) FROM (SELECT DISTINCT k COLLATE nocase AS k FROM tk) s
SELECT count(*) FROM (SELECT k COLLATE nocase AS k FROM tk UNION SELECT k FROM tk) s
SELECT count(*) FROM (SELECT k COLLATE nocase AS k FROM tk GROUP BY 1) s
SELECT * FROM (SELECT k COLLATE nocase AS k FROM tk) s WHERE k = 'ABC'
SELECT * FROM (SELECT k COLLATE nocase AS k FROM tk UNION ALL SELECT k FROM vk) s WHERE k = 'ABC'
SELECT * FROM (SELECT k FROM tk UNION ALL SELECT k COLLATE nocase FROM vk) s WHERE k = 'ABC'
SELECT * FROM tk WHERE k IN ('ABC' COLLATE nocase, 'x')
SELECT * FROM tk WHERE k = ANY (ARRAY['ABC' COLLATE nocase])
SELECT * FROM tk WHERE k = (SELECT 'ABC' COLLATE nocase)
SELECT * FROM tk WHERE k IN (SELECT 'ABC' COLLATE nocase)
SELECT * FROM tk t, (VALUES ('ABC' COLLATE nocase)) v(x) WHERE t.k = v.x
SELECT * FROM tk t, (SELECT 'ABC' COLLATE nocase AS x) v WHERE t.k = v.x
WITH w AS (SELECT 'ABC' COLLATE nocase AS x) SELECT * FROM tk t, w WHERE t.k = w.x
SELECT * FROM tk t JOIN bk ON false WHERE t.k = 'a'
SELECT * FROM tk WHERE k = 'ABC'::citext
SELECT * FROM tk WHERE k::citext = 'ABC'
SELECT * FROM cit WHERE k = 'ABC'
SELECT * FROM tk JOIN cit ON cit.k = tk.k WHERE cit.k = 'ABC'
SELECT * FROM bk JOIN ik USING (k) WHERE k = 5
SELECT * FROM bk JOIN ref USING (k) WHERE ref.k = 5
SELECT * FROM bk FULL JOIN ik USING (k) WHERE k = 5
SELECT * FROM ik FULL JOIN bk USING (k) WHERE k = 5
SELECT * FROM ik JOIN sk ON ik.k = sk.k WHERE sk.k = 5
SELECT * FROM ik WHERE k = 3000000000
SELECT * FROM sk WHERE k = 5::bigint
SELECT * FROM ik WHERE k = '3000000000'
SELECT * FROM bk WHERE d = 5
SELECT * FROM bk a JOIN bk b ON a.d = b.k WHERE a.k = 5
SELECT * FROM dk WHERE k = 'abc'
SELECT * FROM dk WHERE k = 'abc   '
SELECT * FROM dk WHERE k = 'abcd'::short_key
SELECT * FROM vk WHERE k = 'abc   '
SELECT * FROM vk WHERE k = 'abcdef'::varchar(3)
SELECT * FROM vk WHERE k = 'abc  '::bpchar
SELECT * FROM vk WHERE k = 'abc  '::char(3)
SELECT * FROM tk JOIN vk ON tk.k = vk.k WHERE tk.k = 'abc   '
SELECT * FROM tk JOIN bpk ON tk.k = bpk.k WHERE bpk.k = 'abc'
SELECT * FROM uk WHERE k = '{bd19836ddb62c11c55ab251ccaca5645}'
SELECT * FROM uk WHERE k = 'urn:uuid:bd19836d-db62-c11c-55ab-251ccaca5645'
SELECT * FROM nullk WHERE k IS NULL
SELECT * FROM nullk WHERE k = 5
SELECT count(*) FROM (SELECT k, count(*) FROM nullk GROUP BY k) s
INSERT INTO nullk VALUES (NULL, 1)
INSERT INTO nullk SELECT v.k, 1 FROM (VALUES (5),(NULL)) v(k)
INSERT INTO nullk(k, id) SELECT nullable, id FROM bk
INSERT INTO nullk(id) VALUES (1)
INSERT INTO vk(k,id) SELECT k, id + 1 FROM vk
INSERT INTO vk(k,id) SELECT k, id + 1 FROM vk WHERE k = $1
INSERT INTO vk(k,id) SELECT k, id + 1 FROM (SELECT * FROM vk) s WHERE k = $1
INSERT INTO vk(k,id) SELECT k, id + 1 FROM tk WHERE k = $1
INSERT INTO vk(k,id) VALUES ('a', 1), ('b   ', 2), ('c', 2)
INSERT INTO dk(k,id) VALUES ('abc', 1)
UPDATE vk SET k = $1 WHERE k = $1
UPDATE vk SET k = 'abc' WHERE k = 'abc'
INSERT INTO gk(id) VALUES (1), ('2'::int)
INSERT INTO gk(id) SELECT id FROM ref
INSERT INTO gk(id) SELECT 1
INSERT INTO gk(id) SELECT 1 UNION ALL SELECT 2
INSERT INTO gk(id) SELECT unnest(ARRAY[1,2])
INSERT INTO gk(id) SELECT id FROM bk WHERE k = 5
INSERT INTO gk(id) SELECT count(*) FROM bk WHERE k = 5
INSERT INTO gk(k,id) VALUES (DEFAULT, 1), (DEFAULT, 2)
INSERT INTO nullk SELECT k, 1 FROM bk
INSERT INTO nullk SELECT k, 1 FROM nullk WHERE k = 5
MERGE INTO vk t USING (VALUES ('abc   ')) s(k) ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, id) VALUES (s.k, 1)
MERGE INTO vk t USING (SELECT k, id FROM tk) s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, id) VALUES (s.k, 1)
MERGE INTO vk t USING (VALUES (1)) s(k) ON t.k = 'abc   ' WHEN NOT MATCHED THEN INSERT (k, id) VALUES ('abc   ', 1)
MERGE INTO bk t USING (VALUES (5, 1)) s(k, o) ON t.k = s.k WHEN MATCHED THEN UPDATE SET o = s.o WHEN NOT MATCHED THEN INSERT (k, id) VALUES (s.k, s.o)
SELECT * FROM imm_reads(5)
SELECT * FROM bk, imm_reads(bk.k) r WHERE bk.k = 5
SELECT imm_part(at) FROM pk WHERE k = 5
SELECT imm_runs('SELECT 1')
