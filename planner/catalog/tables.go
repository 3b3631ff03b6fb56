package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// createTable reads CREATE TABLE, also PARTITION OF, INHERITS, LIKE and OF type.
func (l *loader) createTable(n *sqlast.CreateStmt, kind RelationKind) {
	rv := n.GetRelation()
	r := &Relation{Schema: l.schemaOf(rv), Name: rv.GetRelname(), Kind: kind, Temp: rv.GetRelpersistence() == "t", Line: l.line}
	if old := l.c.Relations[r.Key()]; old != nil {
		if !n.GetIfNotExists() {
			l.fail("create table: %q exists already, from line %d; keep one of them", r.Key(), old.Line)
		}
		return
	}
	if spec := n.GetPartspec(); spec != nil {
		r.Kind = PartitionedTable
		for _, p := range spec.GetPartParams() {
			if name := p.GetPartitionElem().GetName(); name != "" {
				r.PartitionKey = append(r.PartitionKey, name)
			}
		}
	}
	l.c.Relations[r.Key()] = r
	for _, p := range n.GetInhRelations() {
		parent := l.must("create table", p.GetRangeVar())
		if parent == nil {
			return
		}
		l.adopt(parent, r, n.GetPartbound() != nil)
	}
	if t := n.GetOfTypename(); t != nil {
		if ty := l.c.Types[l.typeOf(t)]; ty != nil {
			r.Columns = append(r.Columns, ty.Fields...)
		}
	}
	for _, e := range n.GetTableElts() {
		switch n := e.GetNode().(type) {
		case *sqlast.Node_ColumnDef:
			l.addColumn(r, n.ColumnDef)
		case *sqlast.Node_TableLikeClause:
			l.like(r, n.TableLikeClause)
		case *sqlast.Node_Constraint:
			l.constraint(r, n.Constraint, "")
		default:
			l.fail("create table: %q has an element of kind %q, which is not understood", r.Key(), kindOf(e))
		}
	}
	for _, c := range n.GetConstraints() {
		l.constraint(r, c.GetConstraint(), "")
	}
}

// adopt makes child a partition or an inheritance child of parent: it gets the parent's columns and their properties; a partition gets the
// keys as well.
func (l *loader) adopt(parent, child *Relation, partition bool) {
	if l.below(parent, child) {
		l.fail("%q cannot be below %q: it would be below itself", child.Key(), parent.Key())
		return
	}
	child.Parents = append(child.Parents, parent.Key())
	child.Partition = partition
	parent.Children = append(parent.Children, child.Key())
	for _, col := range parent.Columns {
		col.Identity = col.Identity && partition // inheritance does not pass identity on
		if i := child.Column(col.Name); i >= 0 {
			child.Columns[i].NotNull = child.Columns[i].NotNull || col.NotNull
			child.Columns[i].Identity = child.Columns[i].Identity || col.Identity
			continue
		}
		child.Columns = append(child.Columns, col)
	}
	if !partition {
		return
	}
	for _, u := range parent.Uniques {
		l.inheritUnique(child, u)
	}
	for _, fk := range parent.ForeignKeys {
		if !slices.ContainsFunc(child.ForeignKeys, func(c *ForeignKey) bool {
			return c.RefTable == fk.RefTable && slices.Equal(c.Columns, fk.Columns)
		}) {
			copied := *fk
			child.ForeignKeys = append(child.ForeignKeys, &copied)
		}
	}
}

// inheritUnique gives a partition the counterpart of its parent's unique index, unless it has one.
func (l *loader) inheritUnique(child *Relation, u *Constraint) {
	for _, have := range child.Uniques {
		if slices.Equal(have.Columns, u.Columns) && have.Exprs == u.Exprs && have.Partial == u.Partial && (have.Primary || !u.Primary) {
			return
		}
	}
	copied := *u
	copied.Name = l.indexName(child, u.Columns, u.label())
	l.addUnique(child, &copied)
}

// addColumn adds a column definition to a table, with the constraints written at it. An inherited column of the name is merged.
func (l *loader) addColumn(r *Relation, def *sqlast.ColumnDef) {
	col := l.column(def)
	if isSerial(def.GetTypeName()) {
		seq := l.ownedSequence(r, col.Name)
		col.NotNull, col.Default, col.DefaultVolatile = true, "nextval('"+strings.ReplaceAll(seq, "'", "''")+"'::regclass)", true
	}
	switch i := r.Column(col.Name); {
	case i < 0:
		r.Columns = append(r.Columns, col)
	case len(r.Parents) == 0 && col.Type != "":
		l.fail("column %q of %q is defined twice; keep one of them", col.Name, r.Key())
		return
	default:
		old := r.Columns[i]
		col.NotNull = col.NotNull || old.NotNull
		if col.Type == "" { // PARTITION OF parent (column WITH OPTIONS ...)
			col.Type, col.TypeMod, col.Collation, col.NonDeterministic = old.Type, old.TypeMod, old.Collation, old.NonDeterministic
		}
		if col.Default == "" {
			col.Default, col.DefaultVolatile = old.Default, old.DefaultVolatile
		}
		col.Generated = col.Generated || old.Generated
		r.Columns[i] = col
	}
	for _, c := range def.GetConstraints() {
		l.constraint(r, c.GetConstraint(), col.Name)
	}
}

// column reads the type and collation of a column definition, and those of its constraints that make it what it is.
func (l *loader) column(def *sqlast.ColumnDef) Column {
	col := Column{Name: def.GetColname(), Type: l.typeOf(def.GetTypeName()), TypeMod: typeMod(def.GetTypeName()), NotNull: def.GetIsNotNull()}
	if names := def.GetCollClause().GetCollname(); len(names) > 0 {
		col.Collation, col.NonDeterministic = l.collation(names)
	}
	if e := def.GetRawDefault(); e != nil {
		col.Default, col.DefaultVolatile = l.defaultOf(e, int(def.GetLocation()))
	}
	return col
}

// ownedSequence adds the sequence that PostgreSQL makes for a serial or identity column.
func (l *loader) ownedSequence(r *Relation, column string) string {
	key := Key(r.Schema, l.free(r.Schema, r.Name, column, "seq"))
	l.c.Sequences[key] = true
	return key
}

// The bits of LIKE's INCLUDING list: src/include/nodes/parsenodes.h, TableLikeOption.
const (
	likeDefaults  = 1 << 3
	likeGenerated = 1 << 4
	likeIdentity  = 1 << 5
	likeIndexes   = 1 << 6
)

// like copies the columns of another table.
func (l *loader) like(r *Relation, n *sqlast.TableLikeClause) {
	src := l.must("like", n.GetRelation())
	if src == nil {
		return
	}
	opts := n.GetOptions()
	for _, col := range src.Columns {
		if opts&likeDefaults == 0 && !col.Generated {
			col.Default, col.DefaultVolatile = "", false
		}
		if opts&likeGenerated == 0 && col.Generated {
			col.Default, col.DefaultVolatile, col.Generated = "", false, false
		}
		if col.Identity {
			if opts&likeIdentity == 0 {
				col.Identity = false
			} else {
				l.ownedSequence(r, col.Name)
			}
		}
		r.Columns = append(r.Columns, col)
	}
	if opts&likeIndexes == 0 {
		return
	}
	for _, u := range src.Uniques {
		copied := *u
		copied.Name = l.indexName(r, u.Columns, u.label())
		l.addUnique(r, &copied)
	}
	for _, x := range src.Exclusions {
		copied := *x
		copied.Name = l.indexName(r, x.Columns, "excl")
		l.index[Key(r.Schema, copied.Name)] = r.Key()
		r.Exclusions = append(r.Exclusions, &copied)
	}
}

// constraint reads a constraint of a table, or of its column if column is not "".
func (l *loader) constraint(r *Relation, n *sqlast.Constraint, column string) {
	switch n.GetContype() {
	case sqlast.ConstrType_CONSTR_NOTNULL:
		if column == "" { // PostgreSQL 18 writes it at the table as well
			column = first(strs(n.GetKeys()))
		}
		l.eachColumn(r, column, func(c *Column) { c.NotNull = true })
	case sqlast.ConstrType_CONSTR_NULL:
		l.eachColumn(r, column, func(c *Column) { c.NotNull = false })
	case sqlast.ConstrType_CONSTR_DEFAULT:
		def, volatile := l.defaultOf(n.GetRawExpr(), int(n.GetLocation()))
		l.eachColumn(r, column, func(c *Column) { c.Default, c.DefaultVolatile = def, volatile })
	case sqlast.ConstrType_CONSTR_IDENTITY:
		l.ownedSequence(r, column)
		l.eachColumn(r, column, func(c *Column) { c.Identity, c.NotNull = true, true })
	case sqlast.ConstrType_CONSTR_GENERATED:
		def, volatile := l.defaultOf(n.GetRawExpr(), int(n.GetLocation()))
		l.eachColumn(r, column, func(c *Column) { c.Generated, c.Default, c.DefaultVolatile = true, def, volatile })
	case sqlast.ConstrType_CONSTR_PRIMARY, sqlast.ConstrType_CONSTR_UNIQUE:
		l.uniqueConstraint(r, n, column)
	case sqlast.ConstrType_CONSTR_EXCLUSION:
		l.exclusion(r, n)
	case sqlast.ConstrType_CONSTR_FOREIGN:
		l.foreignKey(r, n, column)
	}
}

func (l *loader) eachColumn(r *Relation, name string, change func(*Column)) {
	if i := r.Column(name); i >= 0 {
		change(&r.Columns[i])
		return
	}
	l.fail("there is no column %q in %q", name, r.Key())
}

func (l *loader) uniqueConstraint(r *Relation, n *sqlast.Constraint, column string) {
	c := &Constraint{Name: n.GetConname(), Columns: strs(n.GetKeys()), Primary: n.GetContype() == sqlast.ConstrType_CONSTR_PRIMARY, Line: l.line}
	if column != "" {
		c.Columns = []string{column}
	}
	if index := n.GetIndexname(); index != "" { // ADD CONSTRAINT ... USING INDEX: the index becomes the constraint
		i := slices.IndexFunc(r.Uniques, func(u *Constraint) bool { return u.Name == index })
		if i < 0 {
			l.fail("add constraint: %q has no unique index %q", r.Key(), index)
			return
		}
		c.Columns = r.Uniques[i].Columns
		if c.Name == "" {
			c.Name = index
		}
		l.removeUnique(r, index)
	}
	for _, name := range c.Columns {
		if r.Column(name) < 0 {
			l.fail("there is no column %q in %q", name, r.Key())
			return
		}
	}
	if c.Name == "" {
		c.Name = l.indexName(r, c.Columns, c.label())
	}
	l.addUnique(r, c)
}

// addUnique adds a unique constraint or index to a table, and to the partitions that it has by now.
func (l *loader) addUnique(r *Relation, c *Constraint) {
	if c.Primary {
		if r.Primary != nil {
			l.fail("%q has two primary keys, %q and %q", r.Key(), r.Primary.Name, c.Name)
			return
		}
		r.Primary = c
		for _, name := range c.Columns {
			if i := r.Column(name); i >= 0 {
				r.Columns[i].NotNull = true
			}
		}
	}
	r.Uniques = append(r.Uniques, c)
	l.index[Key(r.Schema, c.Name)] = r.Key()
}

// removeUnique drops a unique constraint or index by name; false if the table has none of that name.
func (l *loader) removeUnique(r *Relation, name string) bool {
	i := slices.IndexFunc(r.Uniques, func(u *Constraint) bool { return u.Name == name })
	if i < 0 {
		return false
	}
	if r.Uniques[i].Primary {
		r.Primary = nil
	}
	r.Uniques = slices.Delete(r.Uniques, i, i+1)
	delete(l.index, Key(r.Schema, name))
	return true
}

func (l *loader) exclusion(r *Relation, n *sqlast.Constraint) {
	c := &Constraint{Name: n.GetConname(), Partial: n.GetWhereClause() != nil, Line: l.line}
	for _, e := range n.GetExclusions() {
		items := e.GetList().GetItems()
		if len(items) != 2 {
			continue
		}
		elem := items[0].GetIndexElem()
		if elem.GetName() == "" {
			c.Exprs++
			continue
		}
		c.Columns = append(c.Columns, elem.GetName())
		if last(strs(items[1].GetList().GetItems())) == "=" {
			c.Equal = append(c.Equal, elem.GetName())
		}
	}
	if c.Name == "" {
		c.Name = l.indexName(r, c.Columns, "excl")
	}
	l.index[Key(r.Schema, c.Name)] = r.Key()
	r.Exclusions = append(r.Exclusions, c)
}

func (l *loader) foreignKey(r *Relation, n *sqlast.Constraint, column string) {
	fk := &ForeignKey{
		Name: n.GetConname(), Columns: strs(n.GetFkAttrs()), RefColumns: strs(n.GetPkAttrs()), SetColumns: strs(n.GetFkDelSetCols()),
		OnDelete: action(n.GetFkDelAction()), OnUpdate: action(n.GetFkUpdAction()), Line: l.line,
	}
	if column != "" {
		fk.Columns = []string{column}
	}
	fk.RefTable = l.newKey(n.GetPktable())
	if ref := l.find(n.GetPktable()); ref != nil {
		fk.RefTable = ref.Key()
		if len(fk.RefColumns) == 0 && ref.Primary != nil {
			fk.RefColumns = slices.Clone(ref.Primary.Columns)
		}
	}
	if fk.Name == "" {
		fk.Name = l.freeConstraint(r, fk.Columns, "fkey")
	}
	r.ForeignKeys = append(r.ForeignKeys, fk)
}

func action(code string) string {
	switch code {
	case "r":
		return "restrict"
	case "c":
		return "cascade"
	case "n":
		return "set null"
	case "d":
		return "set default"
	}
	return "no action"
}

// createIndex keeps unique indexes; the others change no verdict.
func (l *loader) createIndex(n *sqlast.IndexStmt) {
	if !n.GetUnique() {
		l.skip("create index")
		return
	}
	r := l.must("create index", n.GetRelation())
	if r == nil {
		return
	}
	c := &Constraint{Name: n.GetIdxname(), Partial: n.GetWhereClause() != nil, Index: true, Line: l.line}
	for _, p := range n.GetIndexParams() {
		if name := p.GetIndexElem().GetName(); name != "" {
			c.Columns = append(c.Columns, name)
		} else {
			c.Exprs++
		}
	}
	if c.Name == "" {
		var names []string
		for _, p := range append(slices.Clone(n.GetIndexParams()), n.GetIndexIncludingParams()...) {
			names = append(names, cmp.Or(p.GetIndexElem().GetName(), "expr"))
		}
		c.Name = l.indexName(r, names, "idx")
	} else if l.index[Key(r.Schema, c.Name)] != "" {
		if !n.GetIfNotExists() {
			l.fail("create index: %q exists already; keep one of them", c.Name)
		}
		return
	}
	l.addUnique(r, c)
	if n.GetRelation().GetInh() {
		l.eachPartition(r, func(child *Relation) { l.inheritUnique(child, c) })
	}
}

// eachPartition visits all partitions below a table.
func (l *loader) eachPartition(r *Relation, visit func(*Relation)) {
	for _, key := range r.Children {
		if child := l.c.Relations[key]; child != nil && child.Partition {
			visit(child)
			l.eachPartition(child, visit)
		}
	}
}

// eachChild visits all tables below a table, partitions and inheritance children.
func (l *loader) eachChild(r *Relation, visit func(*Relation)) {
	for _, key := range r.Children {
		if child := l.c.Relations[key]; child != nil {
			visit(child)
			l.eachChild(child, visit)
		}
	}
}
