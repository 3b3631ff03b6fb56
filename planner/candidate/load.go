package candidate

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/layout"
)

// Load reads a candidate from YAML and binds it to a catalog. name is the file's, for messages. All errors are found in one go and joined,
// each with file, line, column and the fix.
func Load(name string, text []byte, cat *catalog.Catalog) (*Candidate, error) {
	r := &reader{
		file: name, cat: cat, placed: map[string]*token.Token{},
		c: &Candidate{Tables: map[string]*Table{}, Functions: map[string]Function{}},
	}
	file, err := parse(text)
	if err != nil {
		return nil, r.syntax(err)
	}
	var docs []*ast.DocumentNode
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 {
		return nil, errors.New("read candidate " + strconv.Quote(name) + ": the file is empty; name at least one colo under colos:")
	}
	if len(docs) > 1 {
		r.fail(docs[1].Body.GetToken(), "a second document starts here; put one candidate into one file")
	}
	r.candidate(docs[0].Body)
	r.inherit()
	if len(r.errs) > 0 {
		return nil, r.joined()
	}
	r.c.Hash = r.c.hash()
	return r.c, nil
}

// parse reads YAML. Duplicate keys are found here and not by the library, so that they are reported together with everything else.
func parse(text []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's scanner can index past its input on broken text
			f, err = nil, errors.New("the text is not YAML")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// reader walks the YAML tree and collects errors.
type reader struct {
	file   string
	cat    *catalog.Catalog
	c      *Candidate
	shards int                     // of colos that do not say their own; 0 not given
	placed map[string]*token.Token // by catalog key: where the table was named
	errs   []problem
}

// problem is an error or a warning at a place of the file.
type problem struct {
	line, column int
	text         string
}

func (r *reader) at(t *token.Token, text string) problem {
	p := problem{text: text, line: 1, column: 1}
	if t != nil && t.Position != nil {
		p.line, p.column = t.Position.Line, t.Position.Column
	}
	return p
}

func (r *reader) fail(t *token.Token, text string) { r.errs = append(r.errs, r.at(t, text)) }
func (r *reader) warn(t *token.Token, text string) {
	p := r.at(t, text)
	r.c.Warnings = append(r.c.Warnings, r.written(p))
}

func (r *reader) written(p problem) string {
	return r.file + ":" + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column) + ": " + p.text
}

func (r *reader) joined() error {
	slices.SortStableFunc(r.errs, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var errs []error
	for _, p := range r.errs {
		errs = append(errs, errors.New(r.written(p)))
	}
	return errors.Join(errs...)
}

// syntax words an error of the YAML library.
func (r *reader) syntax(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) {
		return errors.New(r.written(r.at(ye.GetToken(), "the text is not YAML: "+ye.GetMessage())))
	}
	return errors.New(r.written(problem{line: 1, column: 1, text: err.Error()}))
}

// entry is one key of a mapping and its value.
type entry struct {
	key   string
	at    *token.Token
	value ast.Node
}

// entries returns the entries of a mapping in order, without duplicates; anything else is an error, except an absent value.
func (r *reader) entries(n ast.Node, what string) []entry {
	m, ok := n.(ast.MapNode)
	if !ok {
		if !absent(n) {
			r.fail(n.GetToken(), what+" must be a mapping of names to values")
		}
		return nil
	}
	var out []entry
	seen := map[string]*token.Token{}
	for it := m.MapRange(); it.Next(); {
		key, ok := scalar(it.Key())
		at := it.Key().GetToken()
		if !ok {
			r.fail(at, "a key of "+what+" must be a plain name")
			continue
		}
		if first := seen[key]; first != nil {
			r.fail(at, quote(key)+" is given twice in "+what+", first on line "+strconv.Itoa(first.Position.Line)+"; remove one")
			continue
		}
		seen[key] = at
		out = append(out, entry{key: key, at: at, value: it.Value()})
	}
	return out
}

// items returns the elements of a list.
func (r *reader) items(n ast.Node, what string) []ast.Node {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		if !absent(n) {
			r.fail(n.GetToken(), what+" must be a list, as in [a, b]")
		}
		return nil
	}
	return s.Values
}

func absent(n ast.Node) bool {
	if n == nil {
		return true
	}
	_, null := n.(*ast.NullNode)
	return null
}

// scalar returns the text of a plain value, as written: a table may well be called on, null or 5.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		if t := n.GetToken(); t != nil {
			return t.Value, true
		}
	case *ast.MappingKeyNode:
		return scalar(n.Value)
	}
	return "", false
}

// text returns a scalar value; anything else is an error.
func (r *reader) text(n ast.Node, at *token.Token, what string) (string, bool) {
	if absent(n) {
		r.fail(at, what+" has no value")
		return "", false
	}
	s, ok := scalar(n)
	if !ok {
		r.fail(n.GetToken(), what+" must be a plain value")
	}
	return s, ok
}

// unknown reports a key that a mapping does not have.
func (r *reader) unknown(e entry, what string, known ...string) {
	r.fail(e.at, "unknown key "+quote(e.key)+" in "+what+meant(e.key, known)+"; known keys are "+strings.Join(known, ", "))
}

func (r *reader) candidate(n ast.Node) {
	es := r.entries(n, "the candidate")
	for _, e := range es { // shards and name first: the colos need them
		switch e.key {
		case "name":
			r.c.Name, _ = r.text(e.value, e.at, "name")
		case "shards":
			r.shards = r.shardCount(e.value, e.at)
		}
	}
	if r.c.Name == "" {
		base := filepath.Base(r.file)
		r.c.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	dialect := false
	for _, e := range es {
		switch e.key {
		case "name", "shards":
		case "colos":
			for _, colo := range r.entries(e.value, "colos") {
				r.colo(colo)
			}
		case "reference":
			r.listed(e, Reference)
		case "unsharded":
			r.listed(e, Unsharded)
		case "dialect":
			dialect = true
			r.dialect(e)
		case "functions":
			for _, f := range r.entries(e.value, "functions") {
				r.function(f)
			}
		default:
			r.unknown(e, "the candidate", "name", "shards", "colos", "reference", "unsharded", "dialect", "functions")
		}
	}
	if !dialect {
		r.c.Dialect = defaultDialect()
	}
	slices.SortFunc(r.c.Colos, func(a, b *Colo) int { return cmp.Compare(a.Name, b.Name) })
	if len(r.c.Tables) == 0 && len(r.errs) == 0 {
		r.fail(n.GetToken(), "the candidate places no table; name tables under colos:, reference: or unsharded:")
	}
}

// shardCount reads a number of logical shards, 1..65536; 0 after an error.
func (r *reader) shardCount(n ast.Node, at *token.Token) int {
	s, ok := r.text(n, at, "shards")
	if !ok {
		return 0
	}
	v, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err != nil || v < 1 || v > layout.MaxShards {
		r.fail(n.GetToken(), "shards is "+quote(s)+"; it must be a whole number from 1 to "+strconv.Itoa(layout.MaxShards))
		return 0
	}
	return v
}
