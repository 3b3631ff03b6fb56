package static

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestLibraryIsThePinnedOne: what is embedded has the checksum that vendor.sh names, with its licences beside it.
func TestLibraryIsThePinnedOne(t *testing.T) {
	script, err := os.ReadFile("../vendor.sh")
	if err != nil {
		t.Fatal(err)
	}
	library, err := fs.ReadFile(FS(), "vendor/echarts/echarts.min.js")
	if err != nil {
		t.Fatalf("%v: run sh web/vendor.sh", err)
	}
	sum := sha256.Sum256(library)
	if !strings.Contains(string(script), "want="+hex.EncodeToString(sum[:])) {
		t.Errorf("the embedded library has sha256 %x, which web/vendor.sh does not name", sum)
	}
	for _, name := range []string{"LICENSE", "NOTICE", "LICENSE-d3"} {
		if b, err := fs.ReadFile(FS(), "vendor/echarts/"+name); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// TestLockNamesNoHost: the lock file pins versions and checksums and leaves the registry to the user's npm.
func TestLockNamesNoHost(t *testing.T) {
	text, err := os.ReadFile("../../package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 2 {
		t.Fatal("the lock pins nothing")
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" {
			t.Errorf("%s: resolved to %s", name, p.Resolved)
		}
		if name != "" && (p.Integrity == "" || p.Version == "") {
			t.Errorf("%s is not pinned", name)
		}
	}
}

// TestAssetsStandAlone: styles and scripts ask no network, hold no eval and no markup that would end the element they are put into.
func TestAssetsStandAlone(t *testing.T) {
	files, err := fs.Glob(FS(), "*.*")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"http:", "https:", "</script", "</style", "eval(", "new Function", "innerHTML", "@import", "url("} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
	}
}
