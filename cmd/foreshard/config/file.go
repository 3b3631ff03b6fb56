package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// File is a configuration file that was read and checked.
type File struct {
	path    string
	entries []entry
}

// entry is one value of the file.
type entry struct {
	verb   string // "" for all verbs
	key    string // the flag's name
	values []string
	list   bool
	line   int
}

// Read reads a file and checks it against the flags of all verbs below root, whose values it does not change: root is to be a tree of its own.
// All that is wrong is found in one go, each with file, line and the fix.
func Read(name string, root *cobra.Command) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	f := &File{path: name}
	parsed, err := parse(text)
	if err != nil {
		return nil, f.syntax(err)
	}
	r := &fileReader{File: f}
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			if len(r.seen) > 0 {
				r.fail(doc.Body, "a second document starts here; put all into one")
				break
			}
			r.seen = map[string]int{}
			r.section(doc.Body, root, "")
		}
	}
	for i := range f.entries {
		r.check(&f.entries[i], root)
	}
	return f, r.joined()
}

// parse reads YAML. Duplicate keys are found later, with their lines.
func parse(text []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's scanner can index past its input on broken text
			f, err = nil, errors.New("the text is not YAML")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// syntax words an error of the YAML library without the text around it, which may hold a secret.
func (f *File) syntax(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil && ye.GetToken().Position != nil {
		return f.wrong(ye.GetToken().Position.Line, "the text is not YAML: "+ye.GetMessage())
	}
	return f.wrong(1, "the text is not YAML")
}

func (f *File) at(line int) string { return f.path + ":" + strconv.Itoa(line) }

func (f *File) wrong(line int, text string) error { return errors.New(f.at(line) + ": " + text) }

// of is the file's value of a verb's flag, the verb's own before that for all; nil if there is none.
func (f *File) of(cmd *cobra.Command, flag string) *entry {
	if f == nil {
		return nil
	}
	for _, verb := range []string{strings.Join(path(cmd), " "), ""} {
		for i := range f.entries {
			if e := &f.entries[i]; e.verb == verb && e.key == flag {
				return e
			}
		}
	}
	return nil
}

// Settings is how many values the file holds.
func (f *File) Settings() int { return len(f.entries) }

// fileReader walks the tree of a file.
type fileReader struct {
	*File
	errs []problem
	seen map[string]int // line by verb and key
}

type problem struct {
	line int
	text string
}

func (r *fileReader) joined() error {
	slices.SortStableFunc(r.errs, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for _, p := range r.errs {
		errs = append(errs, r.wrong(p.line, p.text))
	}
	return errors.Join(errs...)
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

func (r *fileReader) fail(n ast.Node, text string) { r.errs = append(r.errs, problem{lineOf(n), text}) }

// section reads a mapping: the values of a verb, and below the mappings of its verbs.
func (r *fileReader) section(n ast.Node, cmd *cobra.Command, verb string) {
	m, ok := n.(ast.MapNode)
	if !ok {
		r.fail(n, "write keys and values: the names of flags, and of verbs with their flags below them")
		return
	}
	for it := m.MapRange(); it.Next(); {
		key, ok := scalar(it.Key())
		if !ok {
			r.fail(it.Key(), "a key must be a plain name")
			continue
		}
		value := it.Value()
		if before, twice := r.seen[verb+"\x00"+key]; twice && !isMap(value) {
			r.fail(it.Key(), fmt.Sprintf("%q is given again; it was in line %d", key, before))
			continue
		}
		r.seen[verb+"\x00"+key] = lineOf(it.Key())
		if isMap(value) {
			sub := child(cmd, key)
			if sub == nil && cmd.Flags().Lookup(key) != nil {
				r.fail(it.Key(), key+": it takes a value or a list, not keys and values")
				continue
			}
			if sub == nil {
				r.fail(it.Key(), fmt.Sprintf("%q is no verb%s", key, suggest(key, childNames(cmd))))
				continue
			}
			r.section(value, sub, strings.Join(path(sub), " "))
			continue
		}
		e := entry{verb: verb, key: key, line: lineOf(it.Key())}
		if e.values, e.list, ok = r.values(value); ok {
			r.entries = append(r.entries, e)
		}
	}
}

func isMap(n ast.Node) bool {
	_, ok := n.(ast.MapNode)
	return ok
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name && !Exempt(sub) {
			return sub
		}
	}
	return nil
}

func childNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !Exempt(sub) {
			names = append(names, sub.Name())
		}
	}
	return names
}

// values are the texts of a scalar or of a list of scalars.
func (r *fileReader) values(n ast.Node) (values []string, list, ok bool) {
	if seq, isList := n.(*ast.SequenceNode); isList {
		values = []string{}
		for _, item := range seq.Values {
			text, ok := scalar(item)
			if !ok {
				r.fail(item, "an item of a list must be a text or a number")
				return nil, true, false
			}
			values = append(values, text)
		}
		return values, true, true
	}
	text, ok := scalar(n)
	if !ok {
		r.fail(n, "the value is missing, or no text, number, true, false or list of them")
		return nil, false, false
	}
	return []string{text}, false, true
}

// scalar is a node's text as it is written.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// check finds out whether every verb that an entry is for would take it. What several refuse is said once.
func (r *fileReader) check(e *entry, root *cobra.Command) {
	var names []string
	var why error
	taken := false
	walk(root, func(cmd *cobra.Command) {
		if e.verb != "" && e.verb != strings.Join(path(cmd), " ") {
			return
		}
		for _, flag := range flagsOf(cmd) {
			names = append(names, flag.Name)
			if flag.Name == e.key && why == nil {
				taken, why = true, e.try(cmd.Flags(), flag)
			}
		}
	})
	switch {
	case why != nil:
		r.errs = append(r.errs, problem{e.line, e.key + ": " + why.Error()})
	case taken:
	case e.verb == "":
		r.errs = append(r.errs, problem{e.line, fmt.Sprintf("%q is no flag of any verb%s", e.key, suggest(e.key, append(names, childNames(root)...)))})
	default:
		r.errs = append(r.errs, problem{e.line, fmt.Sprintf("%q is no flag of %s%s", e.key, e.verb, suggest(e.key, names))})
	}
}

// try sets a flag of the tree that is there for this.
func (e *entry) try(flags *pflag.FlagSet, flag *pflag.Flag) error {
	if _, list := flag.Value.(pflag.SliceValue); e.list && !list {
		return errors.New("it takes one value, not a list")
	}
	return set(flags, flag, e.values)
}

// suggest is ", did you mean …?" with the nearest of some names, as the library finds it for verbs.
func suggest(word string, names []string) string {
	c := &cobra.Command{Use: "x", SuggestionsMinimumDistance: 2}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	near := c.SuggestionsFor(word)
	if len(near) == 0 {
		return "; foreshard config show lists what there is"
	}
	return fmt.Sprintf(", did you mean %q?", near[0])
}
