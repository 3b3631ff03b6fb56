// Code generated from the types of this package by go test ./planner/facts -update. DO NOT EDIT.

package facts

func (d *decoder) expr() *Expr {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Expr{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Op = Op(d.byte())
		case 2:
			x.Args = list(d, (*decoder).expr)
		case 3:
			x.Type = d.text()
		case 4:
			x.Source = d.int()
		case 5:
			x.Col = d.int()
		case 6:
			x.Slot = d.int()
		case 7:
			x.Name = d.text()
		case 8:
			x.Text = d.text()
		case 9:
			x.Negated = d.flag()
		case 10:
			x.All = d.flag()
		case 11:
			x.Implicit = d.flag()
		case 12:
			x.Volatility = Volatility(d.byte())
		case 13:
			x.Sub = SubKind(d.byte())
		case 14:
			x.Query = d.query()
		case 15:
			x.Partition = list(d, (*decoder).expr)
		case 16:
			x.Order = list(d, value((*decoder).sortKey))
		case 17:
			x.Distinct = d.flag()
		case 18:
			x.Filter = d.expr()
		case 19:
			x.Pos = d.int()
		case 20:
			x.System = d.flag()
		case 21:
			x.Levels = d.int()
		case 22:
			x.UDF = d.flag()
		case 23:
			x.SetReturning = d.flag()
		case 24:
			x.Literal = d.flag()
		case 25:
			x.List = d.flag()
		case 26:
			x.Ordered = d.flag()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) utility() *Utility {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Utility{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Kind = d.text()
		case 2:
			x.Tables = list(d, (*decoder).text)
		case 3:
			x.Missing = list(d, (*decoder).text)
		case 4:
			x.Temp = d.flag()
		case 5:
			x.Name = d.text()
		case 6:
			x.Write = d.flag()
		case 7:
			x.Columns = list(d, (*decoder).text)
		case 8:
			x.Actions = list(d, value((*decoder).action))
		case 9:
			x.Flags = list(d, (*decoder).text)
		case 10:
			x.Args = list(d, (*decoder).expr)
		case 11:
			x.Pos = d.int()
		case 12:
			x.Verb = d.text()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}

func (d *decoder) action() *Action {
	n, ok := d.open()
	if !ok {
		return nil
	}
	x := &Action{}
	for ; n > 0; n-- {
		switch d.key() {
		case 1:
			x.Kind = d.text()
		case 2:
			x.Column = d.text()
		case 3:
			x.Columns = list(d, (*decoder).text)
		case 4:
			x.Exprs = d.int()
		case 5:
			x.RefTable = d.text()
		case 6:
			x.RefColumns = list(d, (*decoder).text)
		case 7:
			x.OnDelete = d.text()
		case 8:
			x.OnUpdate = d.text()
		case 9:
			x.SetColumns = list(d, (*decoder).text)
		case 10:
			x.Equal = list(d, (*decoder).text)
		case 11:
			x.Type = d.text()
		case 12:
			x.Pos = d.int()
		case 13:
			x.Table = d.text()
		case 14:
			x.Partial = d.flag()
		default:
			d.fail("an unknown field")
		}
	}
	d.depth--
	return x
}
