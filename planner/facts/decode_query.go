// Code generated from the types of this package by go test ./planner/facts -update. DO NOT EDIT.

package facts

func (d *decoder) statement() *Statement {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Statement{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Query = d.query()
		case 2:
			x.Utility = d.utility()
		case 3:
			x.Problems = list(d, value((*decoder).problem))
		case 4:
			x.Sources = d.int()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) problem() *Problem {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Problem{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Code = d.text()
		case 2:
			x.Text = d.text()
		case 3:
			x.Pos = d.int()
		case 4:
			x.Invalid = d.flag()
		case 5:
			x.Name = d.text()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) query() *Query {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Query{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.CTEs = list(d, value((*decoder).cte))
		case 2:
			x.SetOp = d.setOp()
		case 3:
			x.Values = list(d, func(d *decoder) []*Expr { return list(d, (*decoder).expr) })
		case 4:
			x.Folded = d.flag()
		case 5:
			x.From = list(d, (*decoder).source)
		case 6:
			x.Where = d.expr()
		case 7:
			x.Group = list(d, func(d *decoder) []*Expr { return list(d, (*decoder).expr) })
		case 8:
			x.Grouped = d.flag()
		case 9:
			x.Having = d.expr()
		case 10:
			x.Distinct = Distinct(d.byte())
		case 11:
			x.On = list(d, (*decoder).expr)
		case 12:
			x.OrderBy = list(d, value((*decoder).sortKey))
		case 13:
			x.Limit = d.expr()
		case 14:
			x.Offset = d.expr()
		case 15:
			x.WithTies = d.flag()
		case 16:
			x.Outputs = list(d, value((*decoder).output))
		case 17:
			x.Locks = list(d, value((*decoder).lock))
		case 18:
			x.Write = d.write()
		case 19:
			x.Recursive = d.flag()
		case 20:
			x.Into = d.text()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) cte() *CTE {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &CTE{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.ID = d.int()
		case 2:
			x.Name = d.text()
		case 3:
			x.Query = d.query()
		case 4:
			x.Materialized = d.byte()
		case 5:
			x.SelfRef = d.flag()
		case 6:
			x.Uses = d.int()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) setOp() *SetOp {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &SetOp{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Op = d.text()
		case 2:
			x.All = d.flag()
		case 3:
			x.Left = d.query()
		case 4:
			x.Right = d.query()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) source() *Source {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Source{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.ID = d.int()
		case 2:
			x.Kind = SourceKind(d.byte())
		case 3:
			x.Table = d.text()
		case 4:
			x.Query = d.query()
		case 5:
			x.View = d.text()
		case 6:
			x.CTE = d.int()
		case 7:
			x.Funcs = list(d, (*decoder).expr)
		case 8:
			x.Join = d.join()
		case 9:
			x.Lateral = d.flag()
		case 10:
			x.Alias = d.text()
		case 11:
			x.Sample = d.flag()
		case 12:
			x.Only = d.flag()
		case 13:
			x.Pos = d.int()
		case 14:
			x.System = d.flag()
		case 15:
			x.Temp = d.flag()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) join() *Join {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Join{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Kind = JoinKind(d.byte())
		case 2:
			x.Left = d.source()
		case 3:
			x.Right = d.source()
		case 4:
			x.On = d.expr()
		case 5:
			x.Merged = list(d, value((*decoder).merged))
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) merged() *Merged {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Merged{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Name = d.text()
		case 2:
			x.Left = d.expr()
		case 3:
			x.Right = d.expr()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) output() *Output {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Output{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Name = d.text()
		case 2:
			x.Expr = d.expr()
		case 3:
			x.Hidden = d.flag()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) sortKey() *SortKey {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &SortKey{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Expr = d.expr()
		case 2:
			x.Desc = d.flag()
		case 3:
			x.NullsFirst = d.flag()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) lock() *Lock {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Lock{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Strength = d.text()
		case 2:
			x.Of = list(d, (*decoder).int)
		case 3:
			x.SkipLocked = d.flag()
		case 4:
			x.NoWait = d.flag()
		case 5:
			x.Pos = d.int()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) write() *Write {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Write{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Op = d.text()
		case 2:
			x.Target = d.source()
		case 3:
			x.Columns = list(d, (*decoder).text)
		case 4:
			x.Source = d.query()
		case 5:
			x.Set = list(d, value((*decoder).assign))
		case 6:
			x.Conflict = d.conflict()
		case 7:
			x.Actions = list(d, value((*decoder).mergeAction))
		case 8:
			x.On = d.expr()
		case 9:
			x.Using = d.source()
		case 10:
			x.Overriding = d.text()
		case 11:
			x.View = d.text()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) assign() *Assign {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Assign{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Column = d.text()
		case 2:
			x.Value = d.expr()
		case 3:
			x.Pos = d.int()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) conflict() *Conflict {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Conflict{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Nothing = d.flag()
		case 2:
			x.Columns = list(d, (*decoder).text)
		case 3:
			x.Exprs = d.int()
		case 4:
			x.Constraint = d.text()
		case 5:
			x.Set = list(d, value((*decoder).assign))
		case 6:
			x.Where = d.expr()
		case 7:
			x.Excluded = d.int()
		case 8:
			x.Pos = d.int()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) mergeAction() *MergeAction {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &MergeAction{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Matched = d.byte()
		case 2:
			x.Do = d.text()
		case 3:
			x.When = d.expr()
		case 4:
			x.Set = list(d, value((*decoder).assign))
		case 5:
			x.Columns = list(d, (*decoder).text)
		case 6:
			x.Values = list(d, (*decoder).expr)
		case 7:
			x.Pos = d.int()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}
