package pgcatalog

import "strings"

// partOf is one kind of objects. Its query gives a name for messages and a whole statement per object; NULL for an object that was dropped
// meanwhile.
type partOf struct{ name, query string }

// sql fills in what the queries share. USER(n): namespace n is the user's. OWN(class, oid): the object is no part of an extension.
func (p partOf) sql() string {
	s := strings.ReplaceAll(p.query, "USER(n)", `(n.nspname !~ '^pg_' and n.nspname <> 'information_schema')`)
	for _, class := range []string{"pg_class", "pg_type", "pg_proc", "pg_collation"} {
		for {
			open := "OWN(" + class + ", "
			i := strings.Index(s, open)
			if i < 0 {
				break
			}
			end := i + strings.IndexByte(s[i:], ')')
			oid := s[i+len(open) : end]
			s = s[:i] + "not exists (select from pg_catalog.pg_depend x where x.classid = 'pg_catalog." + class + "'::pg_catalog.regclass and x.objid = " + oid + " and x.deptype = 'e')" + s[end+1:]
		}
	}
	return s
}

// column writes one column of a table or composite type a of type t with default d.
const column = `format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
	(select format(' COLLATE %I.%I', cn.nspname, co.collname) from pg_collation co join pg_namespace cn on cn.oid = co.collnamespace where co.oid = a.attcollation and a.attcollation <> t.typcollation),
	case when a.attgenerated = 's' then ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' when a.attgenerated = 'v' then ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ')'
		when d.adbin is not null then ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) end,
	case when a.attnotnull then ' NOT NULL' end)`

// parts are read and written in this order: nothing is named before it is made.
var parts = [...]partOf{
	{"settings of the database", `select d.datname, format('ALTER DATABASE %I SET search_path = %s', d.datname, case when substr(c, 13) = '' then '''''' else substr(c, 13) end)
		from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c
		where s.setrole = 0 and d.datname = current_database() and c like 'search\_path=%'`},
	{"schemas", `select n.nspname, format('CREATE SCHEMA %I', n.nspname) from pg_namespace n where USER(n) and n.nspname <> 'public' order by 1`},
	{"extensions", `select e.extname, format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA %I', e.extname, n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace
		where e.extname <> 'plpgsql' order by 1`},
	{"collations", `select c.collname, format('CREATE COLLATION %I.%I (provider = %s, deterministic = %s, locale = %L)', n.nspname, c.collname,
		case c.collprovider when 'i' then 'icu' when 'b' then 'builtin' else 'libc' end, case when c.collisdeterministic then 'true' else 'false' end,
		coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale', to_jsonb(c) ->> 'collcollate', ''))
		from pg_collation c join pg_namespace n on n.oid = c.collnamespace where USER(n) and OWN(pg_collation, c.oid) order by n.nspname, c.collname`},
	{"enums", `select t.typname, format('CREATE TYPE %I.%I AS ENUM (%s)', n.nspname, t.typname,
		coalesce((select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid), ''))
		from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype = 'e' and USER(n) and OWN(pg_type, t.oid) order by n.nspname, t.typname`},
	{"base types", `select t.typname, format('CREATE TYPE %I.%I (INPUT = %s, OUTPUT = %s, INTERNALLENGTH = %s)', n.nspname, t.typname, t.typinput, t.typoutput,
		case when t.typlen < 0 then 'variable' else t.typlen::text end)
		from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype = 'b' and t.typisdefined and USER(n) and OWN(pg_type, t.oid)
		and not exists (select from pg_type e where e.typarray = t.oid) order by n.nspname, t.typname`},
	{"ranges", `select t.typname, format('CREATE TYPE %I.%I AS RANGE (subtype = %s)', n.nspname, t.typname, format_type(r.rngsubtype, null))
		from pg_range r join pg_type t on t.oid = r.rngtypid join pg_namespace n on n.oid = t.typnamespace where USER(n) and OWN(pg_type, t.oid) order by n.nspname, t.typname`},
	{"composite types", `select t.typname, format('CREATE TYPE %I.%I AS (%s)', n.nspname, t.typname,
		(select string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod), (select format(' COLLATE %I.%I', cn.nspname, co.collname) from pg_collation co
			join pg_namespace cn on cn.oid = co.collnamespace, pg_type at where co.oid = a.attcollation and at.oid = a.atttypid and a.attcollation <> at.typcollation)), ', ' order by a.attnum)
		from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
		from pg_class c join pg_type t on t.oid = c.reltype join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'c' and USER(n) and OWN(pg_class, c.oid) and OWN(pg_type, t.oid)
		order by t.oid`},
	// A domain over a domain has the higher oid, unless one was altered since, which does not change what it is over.
	{"domains", `select t.typname, format('CREATE DOMAIN %I.%I AS %s%s%s%s%s', n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod),
		(select format(' COLLATE %I.%I', cn.nspname, co.collname) from pg_collation co join pg_namespace cn on cn.oid = co.collnamespace, pg_type bt
			where co.oid = t.typcollation and bt.oid = t.typbasetype and t.typcollation <> bt.typcollation),
		case when t.typdefault is not null then ' DEFAULT ' || coalesce(pg_get_expr(t.typdefaultbin, 0), quote_literal(t.typdefault)) end,
		case when t.typnotnull then ' NOT NULL' end,
		(select string_agg(format(' CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid)), '' order by k.conname) from pg_constraint k where k.contypid = t.oid and k.contype = 'c'))
		from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype = 'd' and USER(n) and OWN(pg_type, t.oid) order by t.oid`},
	{"sequences", `select c.relname, format('CREATE SEQUENCE %I.%I', n.nspname, c.relname)
		from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'S' and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid)
		and not exists (select from pg_depend x where x.classid = 'pg_class'::regclass and x.objid = c.oid and x.deptype = 'i') order by n.nspname, c.relname`},
	{"functions", `select p.proname, pg_get_functiondef(p.oid) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		where p.prokind <> 'a' and USER(n) and OWN(pg_proc, p.oid) and not exists (select from pg_depend x where x.classid = 'pg_proc'::regclass and x.objid = p.oid and x.deptype = 'i') order by n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)`},
	{"aggregates", `select p.proname, format('CREATE AGGREGATE %I.%I(%s) (SFUNC = %s, STYPE = %s)', n.nspname, p.proname,
		coalesce(nullif(pg_get_function_identity_arguments(p.oid), ''), '*'), a.aggtransfn, format_type(a.aggtranstype, null))
		from pg_proc p join pg_aggregate a on a.aggfnoid = p.oid join pg_namespace n on n.oid = p.pronamespace where USER(n) and OWN(pg_proc, p.oid)
		order by n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)`},
	// A partition is made as a table of its own and attached afterwards; a child of plain inheritance holds what it does not inherit. Parents
	// come first: a child is made after them, or is told to inherit later, so the depth below the top decides.
	{"tables", `with recursive above(oid, depth) as (
			select c.oid, 0 from pg_class c where c.relkind in ('r', 'p', 'f') and (c.relispartition or not exists (select from pg_inherits i where i.inhrelid = c.oid))
			union all select i.inhrelid, above.depth + 1 from pg_inherits i join above on above.oid = i.inhparent join pg_class c on c.oid = i.inhrelid where c.relkind in ('r', 'p', 'f') and not c.relispartition),
		depths as (select oid, max(depth) as depth from above group by oid)
		select c.relname, format('CREATE %sTABLE %I.%I (%s)%s%s%s', case when c.relkind = 'f' then 'FOREIGN ' when c.relpersistence = 'u' then 'UNLOGGED ' end, n.nspname, c.relname,
			coalesce((select string_agg(` + column + `, ', ' order by a.attnum) from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
				where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and (a.attislocal or c.relispartition)), ''),
			case when not c.relispartition then (select ' INHERITS (' || string_agg(format('%I.%I', pn.nspname, pc.relname), ', ' order by i.inhseqno) || ')' from pg_inherits i join pg_class pc on pc.oid = i.inhparent
				join pg_namespace pn on pn.oid = pc.relnamespace where i.inhrelid = c.oid) end,
			case when c.relkind = 'p' then ' PARTITION BY ' || pg_get_partkeydef(c.oid) end,
			(select format(' SERVER %I', s.srvname) from pg_foreign_table f join pg_foreign_server s on s.oid = f.ftserver where f.ftrelid = c.oid))
		from depths join pg_class c on c.oid = depths.oid join pg_namespace n on n.oid = c.relnamespace where c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid)
		order by depths.depth, n.nspname, c.relname`},
	{"inherited columns", `select c.relname, format('ALTER TABLE ONLY %I.%I %s', n.nspname, c.relname, concat_ws(', ',
			case when d.adbin is not null and a.attgenerated = '' then format('ALTER COLUMN %I SET DEFAULT %s', a.attname, pg_get_expr(d.adbin, d.adrelid)) end,
			case when a.attnotnull then format('ALTER COLUMN %I SET NOT NULL', a.attname) end))
		from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
		where c.relkind in ('r', 'p', 'f') and c.relpersistence <> 't' and a.attnum > 0 and not a.attisdropped and not a.attislocal and not c.relispartition
		and (d.adbin is not null and a.attgenerated = '' or a.attnotnull) and USER(n) and OWN(pg_class, c.oid) order by n.nspname, c.relname, a.attnum`},
	{"identity columns", `select c.relname, format('ALTER TABLE %I.%I ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s)', n.nspname, c.relname, a.attname,
			case a.attidentity when 'a' then 'ALWAYS' else 'BY DEFAULT' end,
			(select format('%I.%I', sn.nspname, s.relname) from pg_depend x join pg_class s on s.oid = x.objid join pg_namespace sn on sn.oid = s.relnamespace
				where x.classid = 'pg_class'::regclass and x.refclassid = 'pg_class'::regclass and x.refobjid = c.oid and x.refobjsubid = a.attnum and x.deptype = 'i' and s.relkind = 'S'))
		from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
		where a.attidentity <> '' and not a.attisdropped and c.relpersistence <> 't' and not c.relispartition and USER(n) and OWN(pg_class, c.oid) order by n.nspname, c.relname, a.attnum`},
	{"partitions", `with recursive below(oid, parent, depth) as (
			select i.inhrelid, i.inhparent, 1 from pg_inherits i join pg_class p on p.oid = i.inhparent where p.relkind = 'p' and not p.relispartition
			union all select i.inhrelid, i.inhparent, below.depth + 1 from pg_inherits i join below on below.oid = i.inhparent)
		select c.relname, format('ALTER TABLE ONLY %I.%I ATTACH PARTITION %I.%I %s', pn.nspname, p.relname, n.nspname, c.relname, pg_get_expr(c.relpartbound, c.oid))
		from below join pg_class c on c.oid = below.oid join pg_class p on p.oid = below.parent join pg_namespace n on n.oid = c.relnamespace join pg_namespace pn on pn.oid = p.relnamespace
		where c.relispartition and USER(n) and OWN(pg_class, c.oid) order by below.depth, n.nspname, c.relname`},
	{"views", `select c.relname, format('CREATE %sVIEW %I.%I%s AS %s', case when c.relkind = 'm' then 'MATERIALIZED ' end, n.nspname, c.relname,
			case when c.reloptions is not null then ' WITH (' || array_to_string(c.reloptions, ', ') || ')' end, rtrim(pg_get_viewdef(c.oid), ';'))
		from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm') and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid) order by c.oid`},
	{"keys", `select k.conname, format('ALTER TABLE ONLY %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid))
		from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace where k.contype in ('p', 'u', 'x') and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid)
		order by n.nspname, c.relname, k.conname`},
	{"checks", `select k.conname, format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid))
		from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace where k.contype = 'c' and k.conislocal and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid)
		order by n.nspname, c.relname, k.conname`},
	{"indexes", `select c.relname, pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class r on r.oid = i.indrelid join pg_namespace n on n.oid = r.relnamespace
		where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')) and r.relpersistence <> 't' and r.relkind in ('r', 'p', 'm') and USER(n) and OWN(pg_class, r.oid)
		order by n.nspname, r.relname, c.relname`},
	{"foreign keys", `select k.conname, format('ALTER TABLE %s%I.%I ADD CONSTRAINT %I %s', case when c.relkind <> 'p' then 'ONLY ' end, n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid))
		from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace where k.contype = 'f' and k.conparentid = 0 and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid)
		order by n.nspname, c.relname, k.conname`},
	{"triggers", `select t.tgname, pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
		where not t.tgisinternal and coalesce(to_jsonb(t) ->> 'tgparentid', '0') = '0' and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid) order by n.nspname, c.relname, t.tgname`},
	{"rules", `select r.rulename, pg_get_ruledef(r.oid) from pg_rewrite r join pg_class c on c.oid = r.ev_class join pg_namespace n on n.oid = c.relnamespace
		where r.rulename <> '_RETURN' and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid) order by n.nspname, c.relname, r.rulename`},
	{"row security", `select c.relname, format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relrowsecurity and c.relpersistence <> 't' and USER(n) and OWN(pg_class, c.oid) order by n.nspname, c.relname`},
	{"policies", `select p.polname, format('CREATE POLICY %I ON %I.%I%s FOR %s%s%s', p.polname, n.nspname, c.relname, case when not p.polpermissive then ' AS RESTRICTIVE' end,
			case p.polcmd when 'r' then 'SELECT' when 'a' then 'INSERT' when 'w' then 'UPDATE' when 'd' then 'DELETE' else 'ALL' end,
			' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
		from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace where USER(n) and OWN(pg_class, c.oid) order by n.nspname, c.relname, p.polname`},
}
