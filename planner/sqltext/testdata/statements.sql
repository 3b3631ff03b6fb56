## One statement per line; ␊ ␍ ␉ stand for newline, carriage return and tab. Each is compared with PostgreSQL's parser.
SELECT a,B , "c", "Foo", "name" FROM T WHERE x=1 AND y = 'a''b' AND z=$3 and d = date '2020-01-01' -- hi
SELECT a,␍␊␉ b␍␊FROM t
select -5, a -5, x - -5, (-5), - 5::int, a[-1:2], 1-1, 5.0, '5', 5000000000, -2147483648, -9223372036854775808, 0x1F, 1_000, 1e5, .5
select - a, + 5, - - 5, -5.5, - .5, -(5), 2 ^ -3, a * -1
select -5 collate "C", -5 ^ 2, - 5 at time zone 'x', - /* c */ 5, -␊5
select * from t where id in (1,2,3) and b in ('a','b') and c in (1) and d in ($1,$2) and e = any(array[1,2])
select * from t where (a,b) in ((1,2),(3,4))
select * from t where (a,b) in ((1+1,2),(3+1,4))
select * from t where a not in (1, 2.5) and b in (1, 'a') and c in (1, x) and d in (null, 1) and e in ('a'::uuid, 'b'::uuid)
insert into t (a,b,c) values (1,'x',now()),(2,'y',NOW()),(3000000000,'z',now())
insert into t values (1, null),(2,3)
insert into t values (default),(default)
insert into t values (1, default, true, -1, $1, now() - interval '1 day', E'a\n', array[1,2])
insert into t select * from (values (1,'a'),(2,'b')) v(a,b) on conflict (a) do update set b = excluded.b where t.b <> 'x' returning *
insert into t (a) values ((select max(a) from t where b = 5)), ((select max(a) from t where b = 6))
insert into t default values
insert into t as x (a, b) overriding system value values (1, 2)
select interval '1 day', date '2026-01-01', now() - interval '2 h', timestamp '2020-01-01', time '10:00', timestamptz '2020-01-01'
select timestamp with time zone '2020-01-01', time without time zone '10:00', interval '1' day, interval '1-2' year to month, interval '1' second(3), interval(3) '1'
select double precision '1.5', character varying '5', char(3) 'abc', national character varying(3) 'x', nchar(3) 'x', bit varying(3) '101', bit '1', numeric(10,2) '5', float(24) '5'
select my.type '5', "MyType" '5', pg_catalog.int4 '5', text 'a', json '{}', jsonb '{}', xml '<a/>', uuid 'x', name 'x', point '(1,2)', varchar(10) 'x'
select x::varchar(10), cast(y as numeric(10,2)), z::vector(3), current_timestamp(3), current_time(3), localtime(3), localtimestamp(3), round(10,2), x::int[3] from t
select x::timestamp(3) with time zone, x::time(0), x::interval(3), x::interval day to second(3), x::character varying(10), x::bit(3), x::float(24), x::dec(5), x::pg_catalog.varchar(3)
select x::int[3][4], x::int[], x::varchar(10)[3], x::double precision[3], x::timestamp with time zone[3], x::int array[3], (x::int[])[1], x[1][2], x[1:2], x[:2], x[1:], (f(1))[2]
select cast(x as int[3]), cast(x as vector(3)), cast(1 as bigint), cast('a' as text), cast(x as interval(3))
select * from f(1) as t(a varchar(10), b numeric(10,2), c int[3], d interval(3))
select * from json_to_recordset('[]') as x(a int, b text) where a = 5
select a, count(*) from t group by 1, a, 2+1 order by 1, 2 desc, 3+1 limit 0 offset 5
select a from t group by rollup(1, 2), cube(1), grouping sets ((1), (1,2), ()) having count(*) > 5 order by (1), (a+1) nulls first, 2
select distinct on (1, a) a, b from t order by 1, b desc nulls last, a is distinct from b, 3
select a from t order by 1::text, 1 collate "C", 1 + 1, 'x', 1.5, 12345
select a from t order by a using <, 2 limit 5
select row_number() over (partition by 1, a order by 2 rows between 1 preceding and 5 following), sum(x) over w from t window w as (order by a range between interval '1 day' preceding and current row)
select array_agg(a order by 1, b desc) filter (where a > 5), percentile_cont(0.5) within group (order by x), string_agg(a, ',' order by a) from t
select a from t limit 5 offset 10 rows
select a from t offset 10 rows fetch first 5 rows only
select a from t fetch next row only
select a from t order by 1 fetch first 5 rows with ties
select a from t limit all
select a from t limit null
select a from t limit $1 offset $2
select extract(year from x), extract('year' from x), x at time zone 'utc', date_part('year', x), substring(x from 2 for 3), substring(x, 2), overlay(x placing 'a' from 2 for 3), position('a' in x), trim(both 'x' from y), trim(leading from y), trim('x' from y)
select U&'d!0061t' uescape '!', U&'\0061', E'a\n\x41\u00e9', $$x$$, $tag$a $$ b$tag$, N'abc', B'101', X'1F', U&"d!0061t" uescape '!' from t
select 'a'␊'b', E'a'␊'\n', 'a' -- c␊'b'
select a like 'x%' escape '!', a not like 'x', a ilike 'x', a similar to 'x', a ~ 'x', a between 1 and 5, a not between symmetric 1 and 5, a is null, a is not distinct from 5, a is true, a isnull
select case a when 1 then 'x' when 2 then 'y' else 'z' end, case when a > 5 then 1 end, coalesce(a, 5, 'x'), nullif(a, 5), greatest(1, 2), least(a, -1)
select a->'x', a->>'x', a#>'{a,b}', a @> '{"a":1}', a ? 'x', a ?| array['a','b'], a ?& array['a'], a || 'x', a -> 0, a - 1, a #- '{a}'
select a operator(pg_catalog.=) 5, a operator(pg_catalog.||) 'x', 'x' operator(pg_catalog.||) 'y'
select f(a => 1, b := 'x'), f(variadic array[1,2]), f(variadic '{1}'), f(distinct a), f(all a), f(*), f()
select exists (select 1 from u where u.id = t.id and u.x = 'a'), array(select 1), (select 5), row(1, 2), (1, 'a'), row(), a = any('{1,2}'), a = all(array[1]), a in (select 1) from t
select a from t where a = any($1) and b = any($1::int[]) and c = $2::text and d = cast($3 as int)
with a as (select 1 as x), b(y) as not materialized (select 'q'), c as materialized (values (1), (2)) select * from a, b, c
with recursive r(n) as (select 1 union all select n + 1 from r where n < 100) search depth first by n set o cycle n set is_cycle to 'Y' default 'N' using p select * from r
with recursive r(n) as (select 1 union all select n + 1 from r where n < 100) cycle n set is_cycle to 1 default 0 using p select * from r
with recursive r(n) as (select 1) cycle n set is_cycle using p select * from r
with x as (insert into t values (1) returning id), y as (delete from u where id = 5 returning *) update v set a = 'x' from x where v.id = x.id
select * from a join b on a.id = b.id and b.x = 5 left join c using (id) right outer join d on true full join e on a.x = e.x cross join f natural join g, lateral (select 1) h, lateral f(5) with ordinality i(x, n)
select * from rows from (f(1), g('x')) as t(a, b), only (u), v tablesample bernoulli (10) repeatable (5), w.x y
select a from t union select 1 union all (select 2 order by 1 limit 5) intersect select 3 except all select 4 order by 1 limit 10
(select 1) union (select 2)
((select a from t where x = 5))
values (1, 'a'), (2, 'b') order by 1
table t
select * into temp y from t where a = 5
select * from t for update of t nowait
select * from t where a = 5 for no key update skip locked
update t set a = 1, b = 'x', (c, d) = (1, 2), (e, f) = (select 1, 2), g = default, h[1] = 5, i.j = 'x' where id = $1
update t as x set a = a - 1, b = -1 where x.id = 5 and current_date > '2020-01-01' returning a, b as "B", -1
update only t set "order" = 5, "name" = 'x', "group" = 1 where "t"."user" = 'u'
delete from t using u where t.id = u.id and u.x in (1,2) returning t.*
delete from t where current of c
merge into t using (values (1,'a'),(2,'b')) s(id, x) on t.id = s.id when matched and t.x <> 'q' then update set x = s.x when not matched then insert (id, x) values (s.id, 'new') when not matched by source then delete
merge into t using s on t.id = 5 when matched then do nothing
select "a"."b", "select", "Select", "select"."x", "a b", "a""b", "größe", "ünï", "1a" from u
select "a"."b", "select", "Select", "select"."x", "a b", "a""b", "größe", "ünï", "1a", "_a", "a$b", "year" from t
select "name", "value", "type", t."data", "user", "order"."id", "interval", "text"('a'), "coalesce"(1), "level" "mode" from "public"."t" as "role" where "index" = 5 and "date" > '2020-01-01'
select t.order, t.select, t.limit from t as order_items, s.group
select 1 as order, 2 as limit, 3 as "by", 4 as end, 5 as case, 'a' as select, 6 as in from t order by 1, 2
select 2 "year", 3 name, 4 "name"
select xmlelement(name foo, xmlattributes('a' as b), 'c'), xmlforest(a as b), xmlparse(document '<a/>'), xmlpi(name x, 'y'), xmlroot('<a/>', version '1.0', standalone yes), xmlserialize(content x as text), xmlexists('//a' passing by ref x)
select * from xmltable(xmlnamespaces('u' as x), '/a/b' passing d columns a int path '@a' default 5, b varchar(10) path 'b' not null, c for ordinality)
select json_object('a': 1, 'b' value 'x'), json_array(1, 'a' null on null), json_value(j, '$.a' returning int default 5 on empty), json_query(j, '$.a' with wrapper), json_exists(j, '$.a' passing 5 as x), j is json object
select * from json_table('[]', '$[*]' as p passing 5 as x columns (a int path '$.a' default 5 on empty, b varchar(10) path '$.b', nested path '$.c' columns (d int path '$.d'), e for ordinality))
select json_objectagg('a': b), json_arrayagg(a order by 1), json_scalar(5), json_serialize('{}' returning text), json('{}')
select normalize('a', nfc), 'a' is nfc normalized, collation for ('a'), a collate "de_DE", grouping(a, b), treat(a as int), current_user, user, session_user, current_schema
select a from t where (a, b) > (1, 'x') and (a, b) overlaps (1, 2) and not (a = 5 or not b) and a is not null and b is not true
select a from t where a > 5 and b < -5 or c >= 5 and d <= 5 or e <> 5 or f != 5 and g !=-5
select 1 where 1=1and 2=2
select 1 from t where a=1or b=2
select count(*), count(distinct a), sum(a) filter (where b) over (), avg(a) over (partition by b order by c desc groups between unbounded preceding and current row exclude ties) from t
select ($1 + 5) * -$2, -$1, - a.b, -f(5), -(select 1)
select * from t where a = 5 and b = 5.0 and c = '5' and d = 5000000000 and e = 99999999999999999999 and f = 1e3
select 'a' as "x", 'b' x, 'c' "X", 5 y
select '2020-01-01'::date, '{1,2}'::int[], '(1,2)'::my.type, '5'::"MyType"(3)
select a.b.c.d, a.*, (a).*, (a.b).c, (f(5)).x[1], $1.a, ($1).a, a[f(5)][-1]
select first - 1, next -5, by -1, zone -1, path -5, rows -1 from t
select a from t where name = 'x' and value -5 > 0
call p(1, 'a', $1)
execute p(5, 'a', null, 1+1, array[1,2])
execute p
prepare p as select * from t where a = $1 and b = 'x'
prepare p (int, varchar(10), text[]) as insert into t values ($1, $2, 5), ($1, $3, 6)
prepare transaction 'gid'
commit prepared 'gid'
rollback prepared 'gid'
deallocate p
deallocate prepare all
begin
begin isolation level serializable, read only, deferrable
start transaction read write
commit and chain
end work
abort
rollback
savepoint "A b"
savepoint a1
release savepoint a1
release a1
rollback to savepoint a1
rollback work to a1
set search_path to a, "B", 'c'
set search_path = public
set local statement_timeout = 5000
set session x.y to 'secret', -5, on
set x to default
set time zone 'UTC'
set time zone interval '1' hour to minute
set time zone -5
set time zone local
set session authorization 'bob'
set role none
set names 'utf8'
set transaction isolation level read committed
set transaction snapshot '0001-1'
set constraints all deferred
set session characteristics as transaction read only
reset all
reset work_mem
reset time zone
show search_path
show all
discard all
listen c
notify c, 'payload'
unlisten *
declare c no scroll cursor with hold for select 'x', 5 from t where a in (1,2) order by 1
declare c binary insensitive scroll cursor for values (1),(2)
fetch 5 from c
fetch forward all in c
fetch absolute -5 c
move backward 10 from c
close c
close all
lock table t in access exclusive mode nowait
truncate t, u restart identity cascade
copy t (a, b) from stdin with (format csv, delimiter ',', null 'x', header true, quote '"', force_null (a))
copy t from '/data/x' csv header delimiter as ';' null 'x' escape '\' quote as '"'
copy t from program 'cat x' where a > 5 and b = 'x'
copy (select * from t where a = 'x' and b in (1,2)) to '/data/x' with (format text, delimiter '|')
copy (values (1,'a')) to stdout binary
copy t to stdout
explain select * from t where a = 5 and b = 'x'
explain (analyze, buffers on, format json, costs 0, timing 'off') select 1
explain analyze verbose insert into t values (1, 'x')
explain (select 5)
explain create table x as select 5 as a
explain declare c cursor for select 5
explain execute p(5)
do $$ begin raise notice 'x'; end $$
do language plpgsql 'begin end'
create table t (id bigint primary key, a varchar(10) default 'x' check (a > 5), b numeric(10,2) not null default -5, c int[3], d interval(3), e timestamp(3) with time zone default now(), f text collate "C", g vector(3), h int generated always as (id * 5) stored, i int generated by default as identity (start with 10 increment by -5), constraint c check (b in (1,2) and a in ('x','y')), unique (a, b) with (fillfactor = 70), foreign key (a) references u (b) on delete set null)
create table x partition of t for values from (1, 'a', minvalue) to (10, 'b', maxvalue) partition by hash (a)
create table x partition of t for values in (1, 'a', null)
create table x partition of t for values with (modulus 4, remainder 3)
create table x (like t including all) inherits (u) with (fillfactor = 50, autovacuum_enabled = 'off') tablespace ts
create table if not exists x as select 5 as a, 'x' as b from t where c in (1,2) with no data
create temp table x on commit drop as values (1, 'a')
create table x as execute p(5)
create table x as table y
create unlogged table x ()
create unique index concurrently if not exists i on t using btree (a desc nulls last, lower(b), (c + 5), d text_pattern_ops (siglen = 5)) include (e) with (fillfactor = 70) where a > 5 and b = 'x'
create index "index" on t ("name")
create view v (a, b) with (security_barrier) as select 5, 'x' from t where a = 'y' with check option
create or replace recursive view v (n) as select 1 union all select n+1 from v where n < 10
create materialized view v as select 5 as a from t where b = 'x' with data
create function f(a int default 5, b text = 'x', out c varchar(10)) returns setof int as $$ select 5 $$ language sql immutable cost 100 rows 5 set search_path = 'a'
create function f() returns int language 'c' as 'obj', 'sym'
create function f(a int) returns int return a + 5
create or replace procedure p(a int) language sql begin atomic insert into t values (a, 'x'); select case when a > 5 then 1 else 2 end; end
create function f() returns table (a int, b varchar(10)) begin atomic select 1, 'a'; end
create trigger tr after insert or update of a on t referencing new table as n for each row when (new.a > 5) execute function f('x', 5, y, 1.5)
create rule r as on insert to t where new.a > 5 do instead (update u set a = 5; delete from v where a = 'x')
create rule r as on update to t do instead nothing
create policy p on t for select to public using (a = 5 and b in ('x','y')) with check (a > 5)
create type e as enum ('a', 'b')
create type c as (a int, b varchar(10))
create type r as range (subtype = float8, subtype_diff = float8mi)
create domain d as text default 'x' check (value ~ 'a' and length(value) < 5)
create sequence s start 5 increment by -1 minvalue -100 maxvalue 10000000000 cache 5 no cycle owned by t.a
create schema s authorization bob create table x (a int default 5) create view v as select 'x'
create extension if not exists e schema s version '1.0' cascade
create user x with password 'secret' valid until '2030-01-01' connection limit 5 in role y
create role x superuser login
create database d owner x encoding 'utf8' connection limit 5
create tablespace ts location '/x'
create server s type 'x' version '1' foreign data wrapper w options (host 'h', port '5')
create user mapping for x server s options (user 'u', password 'p')
create foreign table x (a int options (c 'x')) server s options (t 'y')
create publication p for table t (a, b) where (a > 5 and b = 'x'), tables in schema s with (publish = 'insert')
create subscription s connection 'host=x password=y' publication p with (slot_name = 'x', copy_data = false)
create event trigger e on ddl_command_start when tag in ('CREATE TABLE', 'DROP TABLE') execute function f()
create aggregate a (int) (sfunc = f, stype = int, initcond = '0', sspace = 5)
create operator === (leftarg = int, rightarg = int, function = f, commutator = ===)
create cast (a as b) with function f(a) as implicit
create collation c (provider = icu, locale = 'de', deterministic = false)
create statistics s (ndistinct) on a, b from t
create text search configuration c (copy = english)
create text search dictionary d (template = simple, stopwords = 'x')
create access method m type index handler h
create operator class o for type int using btree as operator 1 <, function 1 f(int, int)
create conversion c for 'utf8' to 'latin1' from f
alter table t add column a varchar(10) default 'x' not null, drop column if exists b cascade, alter column c type numeric(10,2) using c::numeric(10,2) * 5, alter d set default 5, alter e set statistics 100, alter f set storage external, add constraint x check (a > 5) not valid
alter table t add constraint x foreign key (a) references u (b) on delete set null (a) deferrable initially deferred, validate constraint y
alter table t attach partition x for values from ('2020-01-01') to ('2021-01-01')
alter table t rename column "a" to "B"
alter table t set (fillfactor = 70), owner to x, enable row level security, replica identity full, set logged
alter index i alter column 1 set statistics 100
alter type e add value if not exists 'c' after 'b'
alter type e rename value 'a' to 'z'
alter user x password 'secret'
alter role x set work_mem = '5MB'
alter database d set x to 5
alter system set x = 'y', 'z'
alter sequence s restart with 5
alter function f(int) set x = 5 cost 10
alter default privileges in schema s grant select on tables to x
alter domain d add check (value > 5)
alter publication p set (publish = 'insert, update')
alter subscription s connection 'x'
alter extension e update to '2.0'
alter server s options (set host 'x', drop y)
alter view v alter a set default 5
alter materialized view v set schema x
alter statistics s set statistics 5
alter operator + (int, int) set (restrict = none)
alter table t alter a add generated always as identity (start 5), alter b restart with 5, alter c drop expression
alter trigger a on t depends on extension x
drop table if exists a, "B".c cascade
drop index concurrently i
drop function f(int, varchar), g
drop owned by x
drop schema s restrict
comment on table t is 'secret'
comment on column t.a is null
comment on function f(int) is 'x'
security label for p on table t is 'x'
grant select (a, b), insert on table t to x, public with grant option
grant x to y with admin true
revoke all on all tables in schema s from x cascade
analyze verbose t (a, b)
vacuum (full, analyze, parallel 5) t
vacuum full t
reindex (verbose) index concurrently i
cluster t using i
checkpoint
refresh materialized view concurrently v with no data
import foreign schema s limit to (a, b) from server x into y options (c 'd')
load 'x'
reassign owned by x to y
select pg_catalog.set_config('search_path', 'a', false)
SELECT c.oid, n.nspname AS "Schema", c.relname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r','p','') AND n.nspname !~ '^pg_toast' ORDER BY 1,2
SELECT "users".* FROM "users" WHERE "users"."id" = $1 AND "users"."deleted_at" IS NULL ORDER BY "users"."created_at" DESC LIMIT $2 /*application:App,controller:users,action:show*/
SELECT "public"."User"."id", "public"."User"."email" FROM "public"."User" WHERE ("public"."User"."id" = $1 AND 1=1) LIMIT $2 OFFSET $3
UPDATE "orders" SET "status" = 'paid', "total_cents" = 1999, "updated_at" = '2026-01-02 03:04:05.678' WHERE "orders"."id" = 42
INSERT INTO "events" ("user_id", "kind", "payload", "created_at") VALUES (7, 'click', '{"x":1}', NOW()) RETURNING "id"
insert into t (a, b, c) values (1,'a',null),(2,null,5),(3,'b',null),(5000000000,null,6),(4,'c','d'),(5,'e',null) returning a
insert into t values (1),(2),((select max(a) from (values (1),(2)) v(a))),(3),(4)
insert into t values (1, array[1,2]), (2, array[1,2]), (2, array[1,2,3]), (3, '{}')
insert into t values (1, date '2020-01-01', -1, default), (2, date '2020-01-02', -2, default), (-3, null, -2.5, default)
insert into t values ($1,$2),($3,$4) on conflict (a) do update set b = excluded.b
select * from (values (1, 'x'), (2, null), (3, 'y')) v(a, b) join (values (1), (2)) w(c) on v.a = w.c where v.a in (values (5), (6))
