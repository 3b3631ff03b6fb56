package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"github.com/foreshard/foreshard/cmd/foreshard/config"
)

// tree is a program of two verbs that share a flag of each type.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "foreshard"}
	for _, name := range []string{"read", "write"} {
		cmd := &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}}
		cmd.Flags().String("text", "none", "")
		cmd.Flags().Int("number", 1, "")
		cmd.Flags().Bool("yes", false, "")
		cmd.Flags().Duration("time", time.Second, "")
		cmd.Flags().StringArray("list", nil, "")
		root.AddCommand(cmd)
	}
	return root
}

// Of the places that give a value, the first in the order holds, whichever of them there are.
func TestPrecedence(t *testing.T) {
	values := map[string][]string{"text": {"a", "b", "c", "d", "e"}, "number": {"2", "3", "4", "5", "6"}, "time": {"2s", "3s", "4s", "5s", "6s"}, "list": {"a", "b", "c", "d", "e"}}
	rapid.Check(t, func(rt *rapid.T) {
		flag := rapid.SampledFrom([]string{"text", "number", "time", "list"}).Draw(rt, "flag")
		v := values[flag]
		given := rapid.SliceOfN(rapid.Bool(), 5, 5).Draw(rt, "given") // flag, verb's variable, variable, verb's key, key
		verb, _, err := tree().Find([]string{"write"})
		if err != nil {
			rt.Fatal(err)
		}
		want, origin := verb.Flag(flag).Value.String(), "default"
		var args, env []string
		var top, section string
		upper := strings.ToUpper(flag)
		file := filepath.Join(t.TempDir(), "f.yaml")
		for i := 4; i >= 0; i-- {
			if !given[i] {
				continue
			}
			want = v[i]
			switch i {
			case 0:
				args, origin = []string{"--" + flag, v[i]}, "flag"
			case 1:
				env, origin = append(env, "FORESHARD_WRITE_"+upper+"="+v[i]), "FORESHARD_WRITE_"+upper
			case 2:
				env, origin = append(env, "FORESHARD_"+upper+"="+v[i]), "FORESHARD_"+upper
			case 3:
				section, origin = "write:\n  "+flag+": "+v[i]+"\n", file+":2"
			case 4:
				top, origin = flag+": "+v[i]+"\n", file+":"
			}
		}
		if err := os.WriteFile(file, []byte(section+top), 0o600); err != nil {
			rt.Fatal(err)
		}
		f, err := config.Read(file, tree())
		if err != nil {
			rt.Fatal(err)
		}
		if err := verb.ParseFlags(args); err != nil {
			rt.Fatal(err)
		}
		settings, err := config.Apply(verb, f, env)
		if err != nil {
			rt.Fatal(err)
		}
		got := strings.Trim(verb.Flag(flag).Value.String(), "[]")
		if got != strings.Trim(want, "[]") {
			rt.Fatalf("%s is %s, want %s", flag, got, want)
		}
		for _, s := range settings {
			if s.Name == flag && !strings.HasPrefix(s.Origin, origin) {
				rt.Fatalf("%s is said to come from %s, want %s", flag, s.Origin, origin)
			}
		}
	})
}

func TestMask(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain", "plain"},
		{"html=report.html", "html=report.html"},
		{"host=db password=x1y2 dbname=shop", "host=db password=*** dbname=shop"},
		{`host=db password = 'x1 \'y2' dbname=shop`, "host=db password = *** dbname=shop"},
		{"host=db sslpassword=x1y2", "host=db sslpassword=***"},
		{"host=db PASSWORD=x1y2", "host=db PASSWORD=***"},
		{"postgres://app:x1y2@db/shop?sslmode=require", "postgres://app:***@db/shop?sslmode=require"},
		{"postgres://app:x1@y2@db/shop", "postgres://app:***@db/shop"},
		{"postgres://app:x1%40y2@db:5432,db2/shop", "postgres://app:***@db:5432,db2/shop"},
		{"postgres://db/shop?user=app&password=x1y2&a=b", "postgres://db/shop?user=app&password=***&a=b"},
		{"postgres://app@db/shop", "postgres://app@db/shop"},
	} {
		got := config.Mask(c.text)
		if got != c.want || strings.Contains(got, "y2") {
			t.Errorf("%q is shown as %q, want %q", c.text, got, c.want)
		}
	}
}

// No text makes the reader panic, and whatever it says names the file.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"text: a\nwrite:\n  list: [a, 'b']\n", "a: [", "- a", "write: {text: {a: b}}", "text: &a b\nlist: *a", "? [a]\n: b", "---\na: b\n---\nc: d", "list:\n- |\n  a\n- >\n  b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Read(name, tree()); err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.Contains(line, name+":") {
					t.Errorf("%q: an error without its place: %q", text, line)
				}
			}
		}
	})
}
