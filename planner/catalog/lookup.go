package catalog

// Root returns the topmost table that a relation is a partition or a child of, the relation itself if it is none; nil if the key is unknown.
// A table that inherits from several has the first one's root.
func (c *Catalog) Root(key string) *Relation {
	r := c.Relations[key]
	for r != nil && len(r.Parents) > 0 {
		up := c.Relations[r.Parents[0]]
		if up == nil {
			break
		}
		r = up
	}
	return r
}

// ConstraintByName returns the primary key, unique constraint, unique index or exclusion constraint of a name, nil if there is none.
func (r *Relation) ConstraintByName(name string) *Constraint {
	for _, list := range [][]*Constraint{r.Uniques, r.Exclusions} {
		for _, c := range list {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// FunctionsByName returns all overloads that a call can mean: those of the schema, or those along the path in its order. A nil path is the
// catalog's own. Builtins are the resolver's business.
func (c *Catalog) FunctionsByName(path []string, schema, name string) []*Function {
	if schema != "" {
		return c.Functions[Key(schema, name)]
	}
	if path == nil {
		path = c.SearchPath
	}
	var all []*Function
	for _, s := range path {
		all = append(all, c.Functions[Key(s, name)]...)
	}
	return all
}

// TypeByName finds a type of the schema by its schema, or along the path; nil if there is none.
func (c *Catalog) TypeByName(path []string, schema, name string) *Type {
	if schema != "" {
		return c.Types[Key(schema, name)]
	}
	if path == nil {
		path = c.SearchPath
	}
	for _, s := range path {
		if t := c.Types[Key(s, name)]; t != nil {
			return t
		}
	}
	return nil
}
