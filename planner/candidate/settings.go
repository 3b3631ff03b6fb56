package candidate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/policy"
)

func defaultDialect() Dialect {
	d, _ := policy.Builtin(policy.DefaultDialect)
	return d
}

// dialect reads the name of a built-in dialect, or {name, base, features, multi_shard_writes}.
func (r *reader) dialect(e entry) {
	if _, ok := e.value.(ast.MapNode); !ok {
		r.c.Dialect = r.builtin(e)
		return
	}
	d := policy.New("custom", []string{policy.Passthrough})
	for _, f := range r.entries(e.value, "dialect") {
		switch f.key {
		case "name":
			d.Name, _ = r.text(f.value, f.at, "the dialect's name")
		case "base":
			for feature := range r.builtin(f).Features {
				d.Features[feature] = true
			}
		case "features":
			for _, item := range r.items(f.value, "features") {
				s, ok := r.text(item, item.GetToken(), "a feature")
				if !ok {
					continue
				}
				if !slices.Contains(policy.Features(), s) {
					r.fail(item.GetToken(), "unknown feature "+quote(s)+meant(s, policy.Features())+"; known features are "+strings.Join(policy.Features(), ", "))
				}
				d.Features[s] = true
			}
		case "multi_shard_writes":
			b, ok := f.value.(*ast.BoolNode)
			if !ok {
				r.fail(f.at, "multi_shard_writes must be true or false")
				continue
			}
			for _, feature := range policy.MultiShardWrites() {
				if b.Value {
					d.Features[feature] = true
				}
			}
		default:
			r.unknown(f, "dialect", "name", "base", "features", "multi_shard_writes")
		}
	}
	r.c.Dialect = d
}

func (r *reader) builtin(e entry) Dialect {
	s, ok := r.text(e.value, e.at, e.key)
	if !ok {
		return Dialect{}
	}
	d, ok := policy.Builtin(s)
	if !ok {
		r.fail(e.value.GetToken(), "unknown dialect "+quote(s)+meant(s, policy.Builtins())+"; built in are "+strings.Join(policy.Builtins(), ", ")+", or list features: [...]")
	}
	return d
}

// function reads the annotation of a function: {volatility, tables, extension}. extension: true says that the schema need not have it.
func (r *reader) function(e entry) {
	parts, ok := r.names(e.key, e.at, "function")
	if !ok {
		return
	}
	var f Function
	extension := false
	for _, g := range r.entries(e.value, "function "+quote(e.key)) {
		switch g.key {
		case "extension":
			if b, ok := g.value.(*ast.BoolNode); ok {
				extension = b.Value
			} else {
				r.fail(g.at, "extension must be true or false")
			}
		case "volatility":
			s, ok := r.text(g.value, g.at, "volatility")
			if !ok {
				continue
			}
			switch strings.ToLower(s) {
			case "immutable", "stable", "volatile":
				f.Volatility = lower(s)[0]
			default:
				words := []string{"immutable", "stable", "volatile"}
				r.fail(g.value.GetToken(), "unknown volatility "+quote(s)+meant(s, words)+"; it is immutable, stable or volatile")
			}
		case "tables":
			f.Known, f.Tables = true, []string{}
			for _, item := range r.items(g.value, "tables") {
				if s, ok := r.text(item, item.GetToken(), "a table"); ok {
					if rel := r.relation(s, item.GetToken()); rel != nil {
						f.Tables = append(f.Tables, rel.Key())
					}
				}
			}
			slices.Sort(f.Tables)
			f.Tables = slices.Compact(f.Tables)
		default:
			r.unknown(g, "function "+quote(e.key), "volatility", "tables", "extension")
		}
	}
	key := r.functionKey(parts, e, extension)
	if key == "" {
		return
	}
	if f.Volatility == 0 && !f.Known {
		r.warn(e.at, "function "+quote(e.key)+" is annotated with nothing; give its volatility or tables")
	}
	if _, twice := r.c.Functions[key]; twice {
		r.fail(e.at, "function "+quote(key)+" is annotated twice; remove one")
		return
	}
	r.c.Functions[key] = f
}

// functionKey finds the catalog key of a function. One of an extension or of the server itself is not in the schema, and keeps its bare name.
func (r *reader) functionKey(parts []string, e entry, extension bool) string {
	name := parts[len(parts)-1]
	if len(parts) == 2 {
		if key := catalog.Key(parts[0], name); len(r.cat.Functions[key]) > 0 {
			return key
		}
	} else {
		for _, schema := range r.cat.SearchPath {
			if key := catalog.Key(schema, name); len(r.cat.Functions[key]) > 0 {
				return key
			}
		}
	}
	if extension {
		return name
	}
	known, same := r.functionNames(parts)
	near := meant(strings.Join(parts, "."), known)
	if same {
		near = ", did you mean " + quote(known[0]) + "?"
	}
	r.fail(e.at, "the schema has no function "+quote(e.key)+near+"; load a schema that has it, or add extension: true if an extension or the server made it")
	return ""
}

// functionNames are the schema's functions as the candidate could write them; one of the same name in another schema stands alone.
func (r *reader) functionNames(parts []string) (known []string, same bool) {
	for _, key := range sortedKeys(r.cat.Functions) {
		f := r.cat.Functions[key][0]
		full := writtenName(f.Schema) + "." + writtenName(f.Name)
		switch {
		case f.Name == parts[len(parts)-1]:
			return []string{full}, true
		case len(parts) == 1 && slices.Contains(r.cat.SearchPath, f.Schema):
			known = append(known, writtenName(f.Name))
		default:
			known = append(known, full)
		}
	}
	return known, false
}

// hash is over everything a verdict can depend on; the candidate's name is not among it.
func (c *Candidate) hash() string {
	sum := sha256.Sum256([]byte(c.Dump()))
	return hex.EncodeToString(sum[:16])
}

// Dump writes the candidate in one normal form, whatever the order and spelling of its YAML.
func (c *Candidate) Dump() string {
	var b strings.Builder
	for _, colo := range c.Colos {
		fmt.Fprintf(&b, "colo %s key %s %s shards %d\n", colo.Name, colo.KeyName, colo.KeyType, colo.Shards)
	}
	for _, key := range sortedKeys(c.Tables) {
		t := c.Tables[key]
		fmt.Fprintf(&b, "table %s %s", key, t.Placement)
		if t.Colo != nil {
			fmt.Fprintf(&b, " %s by %s at %d", t.Colo.Name, t.Column, t.Col)
		}
		b.WriteByte('\n')
	}
	for _, key := range sortedKeys(c.Functions) {
		f := c.Functions[key]
		fmt.Fprintf(&b, "function %s", key)
		if f.Volatility != 0 {
			fmt.Fprintf(&b, " %c", f.Volatility)
		}
		if f.Known {
			fmt.Fprintf(&b, " tables [%s]", strings.Join(f.Tables, ", "))
		}
		b.WriteByte('\n')
	}
	var features []string
	for _, f := range sortedKeys(c.Dialect.Features) {
		if c.Dialect.Features[f] {
			features = append(features, f)
		}
	}
	fmt.Fprintf(&b, "dialect %s [%s]\n", c.Dialect.Name, strings.Join(features, ", "))
	return b.String()
}

// String names the placement as reports do.
func (p Placement) String() string {
	switch p {
	case Sharded:
		return "sharded"
	case Reference:
		return "reference"
	case Unsharded:
		return "unsharded"
	}
	return "undecided"
}
