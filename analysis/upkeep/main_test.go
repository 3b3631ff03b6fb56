package upkeep_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

const boundedChecks = "8"

// TestMain bounds the property test: one check of it has a hundred commits. More: go test ./analysis/upkeep -args -rapid.checks 1000.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", boundedChecks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	flag.Parse()
	os.Exit(m.Run())
}
