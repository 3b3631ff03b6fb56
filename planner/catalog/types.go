package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// builtinTypes are the types of pg_catalog that a column can have: src/include/catalog/pg_type.dat of PostgreSQL 17.
var builtinTypes = func() map[string]bool {
	m := map[string]bool{}
	for _, t := range strings.Fields(`bool bytea char name int8 int2 int2vector int4 regproc text oid tid xid cid oidvector pg_type json xml
		pg_node_tree pg_ndistinct pg_dependencies pg_mcv_list xid8 point lseg path box polygon line float4 float8 unknown circle money macaddr inet
		cidr macaddr8 aclitem bpchar varchar date time timestamp timestamptz interval timetz bit varbit numeric refcursor regprocedure regoper
		regoperator regclass regcollation regtype regrole regnamespace uuid pg_lsn tsvector gtsvector tsquery regconfig regdictionary jsonb jsonpath
		txid_snapshot pg_snapshot int4range numrange tsrange tstzrange daterange int8range int4multirange nummultirange tsmultirange
		tstzmultirange datemultirange int8multirange record cstring any anyarray void trigger event_trigger language_handler internal anyelement
		anynonarray anyenum fdw_handler index_am_handler tsm_handler table_am_handler anyrange anycompatible anycompatiblearray
		anycompatiblenonarray anycompatiblerange anymultirange anycompatiblemultirange`) {
		m[t] = true
	}
	return m
}()

// typeAliases are names that PostgreSQL's grammar maps to a builtin only as keywords; pg_dump never writes them, people do.
func typeAlias(name string) string {
	switch name {
	case "serial", "serial4":
		return "int4"
	case "bigserial", "serial8":
		return "int8"
	case "smallserial", "serial2":
		return "int2"
	}
	return name
}

func isSerial(t *sqlast.TypeName) bool {
	names := strs(t.GetNames())
	return len(names) == 1 && typeAlias(names[0]) != names[0]
}

// typeOf turns a type name into its canonical name: "int8", "_int8" for arrays of any dimension, "schema.mood" for the schema's own, the bare
// name for one that only an extension can have made.
func (l *loader) typeOf(t *sqlast.TypeName) string {
	if t == nil {
		return ""
	}
	names := strs(t.GetNames())
	name := l.baseType(names)
	if t.GetPctType() {
		return l.columnType(names)
	}
	if len(t.GetArrayBounds()) > 0 {
		return "_" + name
	}
	return name
}

func (l *loader) baseType(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return l.bareType(typeAlias(names[0]))
	}
	schema, name := names[len(names)-2], names[len(names)-1]
	if schema == "pg_catalog" {
		return name
	}
	if key := Key(schema, name); l.isType(key) {
		return key
	}
	if name[0] == '_' && l.isType(Key(schema, name[1:])) {
		return "_" + Key(schema, name[1:])
	}
	if builtinTypes[name] {
		return Key(schema, name)
	}
	return name
}

func (l *loader) bareType(name string) string {
	if builtinTypes[name] || strings.HasPrefix(name, "_") && builtinTypes[name[1:]] {
		return name
	}
	for _, schema := range append(slices.Clone(l.path), "public") {
		if key := Key(schema, name); l.isType(key) {
			return key
		}
	}
	return name
}

// isType reports whether a key names a type of the schema; every table has a row type.
func (l *loader) isType(key string) bool { return l.c.Types[key] != nil || l.c.Relations[key] != nil }

// columnType resolves table.column%TYPE.
func (l *loader) columnType(names []string) string {
	if len(names) < 2 {
		return ""
	}
	rv := &sqlast.RangeVar{Relname: names[len(names)-2]}
	if len(names) > 2 {
		rv.Schemaname = names[len(names)-3]
	}
	if r := l.find(rv); r != nil {
		if i := r.Column(names[len(names)-1]); i >= 0 {
			return r.Columns[i].Type
		}
	}
	return ""
}

// typeMod writes the modifiers of a type as "(10,2)".
func typeMod(t *sqlast.TypeName) string {
	var mods []string
	for _, m := range t.GetTypmods() {
		c := m.GetAConst()
		switch v := c.GetVal().(type) {
		case *sqlast.A_Const_Ival:
			mods = append(mods, strconv.Itoa(int(v.Ival.GetIval())))
		case *sqlast.A_Const_Sval:
			mods = append(mods, v.Sval.GetSval())
		default:
			if col := m.GetColumnRef(); col != nil {
				mods = append(mods, last(strs(col.GetFields())))
			}
		}
	}
	if len(mods) == 0 {
		return ""
	}
	return "(" + strings.Join(mods, ",") + ")"
}

func (l *loader) createType(names []*sqlast.Node, kind byte) *Type {
	schema, name := l.named(names)
	t := &Type{Schema: schema, Name: name, Kind: kind}
	l.c.Types[Key(schema, name)] = t
	return t
}

func (l *loader) createComposite(n *sqlast.CompositeTypeStmt) {
	rv := n.GetTypevar()
	t := &Type{Schema: l.schemaOf(rv), Name: rv.GetRelname(), Kind: 'c'}
	for _, e := range n.GetColdeflist() {
		t.Fields = append(t.Fields, l.column(e.GetColumnDef()))
	}
	l.c.Types[Key(t.Schema, t.Name)] = t
}

func (l *loader) createDomain(n *sqlast.CreateDomainStmt) {
	base := l.typeOf(n.GetTypeName())
	t := l.createType(n.GetDomainname(), 'd')
	t.Base = base
	d := l.domains[base] // of a domain over a domain
	if names := n.GetCollClause().GetCollname(); len(names) > 0 {
		d.collation, d.nonDeterministic = l.collation(names)
	}
	for _, c := range n.GetConstraints() {
		switch con := c.GetConstraint(); con.GetContype() {
		case sqlast.ConstrType_CONSTR_NOTNULL:
			t.NotNull = true
		case sqlast.ConstrType_CONSTR_DEFAULT:
			d.def, d.defVolatile = l.defaultOf(con.GetRawExpr(), int(con.GetLocation()))
		}
	}
	l.domains[Key(t.Schema, t.Name)] = d
}

func (l *loader) alterDomain(n *sqlast.AlterDomainStmt) {
	schema, name := l.named(n.GetTypeName())
	key := Key(schema, name)
	t := l.c.Types[key]
	if t == nil {
		l.fail("alter domain: there is no domain %q in the schema so far", key)
		return
	}
	switch n.GetSubtype() {
	case "T": // SET or DROP DEFAULT
		d := l.domains[key]
		d.def, d.defVolatile = l.defaultOf(n.GetDef(), -1)
		l.domains[key] = d
	case "O":
		t.NotNull = true
	case "N":
		t.NotNull = false
	default:
		l.skip("alter domain constraint")
	}
}

// collation returns the key or bare name of a collation, and whether it was made with deterministic = false.
func (l *loader) collation(names []*sqlast.Node) (string, bool) {
	s := strs(names)
	switch len(s) {
	case 0:
		return "", false
	case 1:
		for _, schema := range append(slices.Clone(l.path), "public") {
			if key := Key(schema, s[0]); l.nondet[key] {
				return key, true
			}
		}
		return s[0], false
	}
	key := Key(s[len(s)-2], s[len(s)-1])
	if s[len(s)-2] == "pg_catalog" {
		return s[len(s)-1], false
	}
	return key, l.nondet[key]
}
