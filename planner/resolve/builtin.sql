-- Makes builtin.tsv: run with psql -X -q -f builtin.sql on an empty PostgreSQL 17 database; the first line of the file is its comment.
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\t'
-- types
SELECT 'T', t.typname, t.typcategory, CASE WHEN t.typispreferred THEN 'p' ELSE '-' END, t.typtype, coalesce((SELECT e.typname::text FROM pg_type e WHERE e.oid=t.typelem AND t.typelem<>0),'-')
FROM pg_type t WHERE t.typnamespace='pg_catalog'::regnamespace AND t.typtype IN ('b','p','r','m') AND t.typname NOT LIKE '\_%' ORDER BY 2;
SELECT 'R', a.typname, b.typname, m.typname FROM pg_range r JOIN pg_type a ON a.oid=rngtypid JOIN pg_type b ON b.oid=rngsubtype JOIN pg_type m ON m.oid=rngmultitypid ORDER BY 2;
-- casts
SELECT 'C', s.typname, d.typname, c.castcontext, c.castmethod, coalesce(p.provolatile,'i')
FROM pg_cast c JOIN pg_type s ON s.oid=castsource JOIN pg_type d ON d.oid=casttarget LEFT JOIN pg_proc p ON p.oid=c.castfunc WHERE s.typnamespace='pg_catalog'::regnamespace ORDER BY 2,3;
-- operators
SELECT 'O', o.oprname, coalesce(l.typname,'-'), r.typname, x.typname, p.provolatile
FROM pg_operator o LEFT JOIN pg_type l ON l.oid=oprleft JOIN pg_type r ON r.oid=oprright JOIN pg_type x ON x.oid=oprresult JOIN pg_proc p ON p.oid=oprcode ORDER BY o.oprname,o.oid;
-- functions
SELECT 'F', p.proname, coalesce((SELECT string_agg(t.typname, ',' ORDER BY i) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY u(o,i) JOIN pg_type t ON t.oid=u.o),'-'),
 x.typname, p.provolatile::text||p.prokind::text||CASE WHEN p.proretset THEN 's' ELSE '-' END||CASE WHEN p.provariadic<>0 THEN 'v' ELSE '-' END, p.pronargdefaults,
 coalesce((SELECT string_agg(p.proargnames[i]||' '||t.typname, ',' ORDER BY i) FROM unnest(p.proallargtypes) WITH ORDINALITY u(o,i) JOIN pg_type t ON t.oid=u.o WHERE p.proargmodes[i] IN ('o','b','t')),'-')
FROM pg_proc p JOIN pg_type x ON x.oid=p.prorettype
WHERE p.pronamespace='pg_catalog'::regnamespace AND x.typname NOT IN ('internal','trigger','event_trigger','cstring','index_am_handler','table_am_handler','tsm_handler','fdw_handler','language_handler')
 AND NOT EXISTS (SELECT 1 FROM unnest(p.proargtypes::oid[]) o WHERE o IN ('internal'::regtype,'cstring'::regtype)) ORDER BY p.proname, p.oid;
-- relations
SELECT 'S', n.nspname||'.'||c.relname, string_agg(a.attname||' '||t.typname, ',' ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid=relnamespace JOIN pg_attribute a ON a.attrelid=c.oid AND attnum>0 AND NOT attisdropped JOIN pg_type t ON t.oid=atttypid
WHERE n.nspname IN ('pg_catalog','information_schema') AND relkind IN ('r','v') GROUP BY 1,2 ORDER BY 2;
