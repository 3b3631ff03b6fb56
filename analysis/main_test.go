package analysis

import (
	"flag"
	"os"
	"testing"
)

// TestMain lowers the number of cases of a property, for each one writes a warehouse to disk; -rapid.checks sets another one.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "10"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
