package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/foreshard/foreshard/cmd/foreshard/config"
	"github.com/foreshard/foreshard/cmd/foreshard/metric"
)

const deploy = "../../deploy"

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// understood fails if the program would not understand a command line with an environment. The file that --config names is looked for by its
// name in dir.
func understood(t *testing.T, where string, args, environ []string, dir string) {
	t.Helper()
	cmd, rest, err := newRootCmd().Find(args)
	if err != nil || !cmd.Runnable() || cmd == cmd.Root() {
		t.Errorf("%s: foreshard %s: no such verb (%v)", where, strings.Join(args, " "), err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: foreshard %s: %v", where, strings.Join(args, " "), err)
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: foreshard %s: %v", where, strings.Join(args, " "), err)
	}
	var file *config.File
	if name := cmd.Flag("config").Value.String(); name != "" && dir != "" {
		if file, err = config.Read(filepath.Join(dir, filepath.Base(name)), newRootCmd()); err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
	}
	if !config.Exempt(cmd) {
		if _, err := config.Apply(cmd, file, environ); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	for _, name := range config.Unused(newRootCmd(), environ) {
		t.Errorf("%s: %s names no flag", where, name)
	}
}

// A unit starts a verb with flags that there are, and the service manager understands it.
func TestUnits(t *testing.T) {
	units, err := filepath.Glob(deploy + "/systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatalf("%d units, want 3: %v", len(units), err)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not there: the units are not verified by it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range units {
		text := readFile(t, unit)
		var environ []string
		for _, m := range regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(text, -1) {
			environ = append(environ, m[1])
		}
		start := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/foreshard (.*)$`).FindStringSubmatch(text)
		if start == nil {
			t.Errorf("%s starts no foreshard", unit)
			continue
		}
		understood(t, unit, strings.Fields(start[1]), environ, filepath.Dir(unit))
		if analyze == "" {
			continue
		}
		// The program and its user are not on this machine.
		here := filepath.Join(t.TempDir(), filepath.Base(unit))
		text = regexp.MustCompile(`(?m)^(User|Group)=.*$`).ReplaceAllString(strings.ReplaceAll(text, "/usr/local/bin/foreshard", self), "")
		if err := os.WriteFile(here, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(analyze, "verify", "--man=no", here).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze verify %s: %v\n%s", unit, err, out)
		}
	}
}

// composeFile is what of a compose file is looked at.
type composeFile struct {
	Services map[string]struct {
		Image       string
		Command     []string
		Environment map[string]string
		Volumes     []string
		DependsOn   map[string]any `yaml:"depends_on"`
		Build       struct{ Context, Dockerfile string }
	}
	Volumes map[string]any
}

func TestCompose(t *testing.T) {
	dir := deploy + "/docker"
	var c composeFile
	if err := yaml.Unmarshal([]byte(readFile(t, dir+"/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	ours := 0
	for name, s := range c.Services {
		if s.Image == "foreshard" {
			var environ []string
			for k, v := range s.Environment {
				environ = append(environ, k+"="+v)
			}
			understood(t, "service "+name, s.Command, environ, "")
			ours++
		}
		for other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("service %s depends on %s, which there is not", name, other)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if _, named := c.Volumes[from]; !named {
				if _, err := os.Stat(filepath.Join(dir, from)); err != nil || !strings.HasPrefix(from, ".") {
					t.Errorf("service %s: volume %s is neither declared nor a file: %v", name, from, err)
				}
			}
		}
		if s.Build.Context != "" {
			if _, err := os.Stat(filepath.Join(dir, s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("service %s: %v", name, err)
			}
		}
	}
	if ours != 3 {
		t.Errorf("%d services of foreshard, want capture, plan and report", ours)
	}
}

// The image is built with a Go that go.mod takes, runs on the Debian it was built on, and exposes the default ports.
func TestDockerfile(t *testing.T) {
	text := readFile(t, deploy+"/docker/Dockerfile")
	from := regexp.MustCompile(`(?m)^FROM golang:(\d+\.\d+)-(\w+) AS build[\s\S]*^FROM debian:(\w+)-slim$`).FindStringSubmatch(text)
	if from == nil {
		t.Fatal("the stages are not a golang and a debian image, both with a release's name")
	}
	if want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "../../go.mod")); want == nil || from[1] != want[1] {
		t.Errorf("it builds with Go %s, go.mod asks for %v", from[1], want)
	}
	if from[2] != from[3] {
		t.Errorf("built on %s, run on %s: the C libraries differ", from[2], from[3])
	}
	var ports []string
	for _, verb := range []string{"run", "capture", "plan"} {
		cmd, _, err := newRootCmd().Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		host, port, err := net.SplitHostPort(cmd.Flag("listen").DefValue)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("%s listens at %s by default: %v", verb, cmd.Flag("listen").DefValue, err)
		}
		ports = append(ports, port)
	}
	slices.Sort(ports)
	if want := "EXPOSE " + strings.Join(ports, " ") + "\n"; !strings.Contains(text, want) || len(slices.Compact(ports)) != 3 {
		t.Errorf("it does not say %q", want)
	}
}

// An alert on a metric that there is not would never fire.
func TestAlerts(t *testing.T) {
	known := map[string][]string{}
	for _, m := range metric.Table() {
		known["foreshard_"+m.Name] = m.Labels
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, deploy+"/prometheus/foreshard.rules.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	alerts := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			alerts++
			var labels []string
			for _, name := range regexp.MustCompile(`foreshard_\w+`).FindAllString(r.Expr, -1) {
				if _, ok := known[name]; !ok {
					t.Errorf("%s: no metric %s", r.Alert, name)
				}
				labels = append(labels, known[name]...)
			}
			for key, text := range r.Annotations {
				for _, m := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(text, -1) {
					if m[1] != "instance" && m[1] != "job" && !slices.Contains(labels, m[1]) {
						t.Errorf("%s: %s speaks of label %s, which its metrics do not have", r.Alert, key, m[1])
					}
				}
			}
			if r.Annotations["summary"] == "" || r.Annotations["action"] == "" {
				t.Errorf("%s does not say what happened and what to do", r.Alert)
			}
		}
	}
	if alerts < 10 {
		t.Fatalf("%d alerts were looked at", alerts)
	}
	if promtool, err := exec.LookPath("promtool"); err != nil {
		t.Log("promtool is not there: what the alerts fire on is not tested")
	} else {
		cmd := exec.Command(promtool, "test", "rules", "foreshard.rules_test.yaml")
		cmd.Dir = deploy + "/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	var scrape struct {
		RuleFiles []string `yaml:"rule_files"`
		Jobs      []any    `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, deploy+"/prometheus/prometheus.yaml")), &scrape); err != nil || len(scrape.Jobs) == 0 {
		t.Fatalf("the scrape configuration: %v", err)
	}
	for _, f := range scrape.RuleFiles {
		readFile(t, filepath.Join(deploy, "prometheus", f))
	}
}

// The command lines that the documents show are ones that the program understands. A shell takes them apart, as a reader's would.
func TestREADMECommands(t *testing.T) {
	lines := 0
	code := false
	text := ""
	for _, name := range []string{"README.md", "docs/live.md", "docs/operations.md", "docs/contracts.md"} {
		text += readFile(t, "../../"+name)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if !code || !strings.HasPrefix(line, "foreshard ") {
			continue
		}
		lines++
		out, err := exec.Command("sh", "-fc", `foreshard() { printf '%s\0' "$@"; }; DATABASE=dsn; `+line).Output()
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var args []string
		for _, arg := range bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
			args = append(args, string(arg))
		}
		understood(t, fmt.Sprintf("README, %q", line), args, nil, "")
	}
	if lines < 8 {
		t.Fatalf("%d command lines were looked at", lines)
	}
}
