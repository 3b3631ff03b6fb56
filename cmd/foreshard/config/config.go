// Package config turns the places where a flag's value may come from into the value: the command line, before the environment, before a file,
// before the default. It works on any tree of cobra commands, so that a verb has its flags in the file and in the environment by having them. It
// imports nothing of foreshard.
//
// In the environment the flag --max-spool of the verb capture is FORESHARD_CAPTURE_MAX_SPOOL, or FORESHARD_MAX_SPOOL for every verb that has it. In
// the file, YAML, it is a key under the verb's name, or at the top for every verb that has it:
//
//	brokers: [kafka-1:9092, kafka-2:9092]
//	capture:
//	  state: /var/lib/foreshard/capture
//	  follow: true
package config

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// EnvFile is the variable that names the file when --config does not; prefix begins all others.
const (
	prefix  = "FORESHARD_"
	EnvFile = prefix + "CONFIG"
)

// Setting is one flag of a verb, with the value that holds and where it comes from.
type Setting struct {
	Name   string
	Value  any    // string, bool, a number, or a list of strings; secrets are masked
	Origin string // "flag", the variable, file:line, or "default"
}

// Apply gives the flags of a command that were not given on the command line the values of the environment and the file, and lists all of them.
// file may be nil. What is wrong with one does not hide what is wrong with another.
func Apply(cmd *cobra.Command, file *File, environ []string) ([]Setting, error) {
	env := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, prefix) {
			env[name] = value
		}
	}
	var all []Setting
	var errs []error
	for _, flag := range flagsOf(cmd) {
		origin, err := apply(cmd, flag, file, env)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, Setting{flag.Name, shown(flag), origin})
	}
	return all, errors.Join(errs...)
}

// apply sets one flag and returns where its value is from.
func apply(cmd *cobra.Command, flag *pflag.Flag, file *File, env map[string]string) (origin string, err error) {
	if flag.Changed {
		return "flag", nil
	}
	for _, name := range variables(cmd, flag) {
		if text, ok := env[name]; ok {
			values := []string{text}
			if _, list := flag.Value.(pflag.SliceValue); list {
				if values, err = listOf(text); err != nil {
					return "", fmt.Errorf("environment variable %s: %w", name, err)
				}
			}
			if err := set(cmd.Flags(), flag, values); err != nil {
				return "", fmt.Errorf("environment variable %s: %w", name, err)
			}
			return name, nil
		}
	}
	if e := file.of(cmd, flag.Name); e != nil {
		if err := set(cmd.Flags(), flag, e.values); err != nil {
			return "", file.wrong(e.line, fmt.Sprintf("%s: %v", e.key, err))
		}
		return file.at(e.line), nil
	}
	return "default", nil
}

// set gives a flag a value. The error tells what is wanted and not what was there: it may be a secret in the wrong place.
func set(flags *pflag.FlagSet, flag *pflag.Flag, values []string) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		if err := list.Replace(values); err != nil {
			return errors.New("the list is not understood")
		}
		flag.Changed = true
		return nil
	}
	if len(values) != 1 {
		return errors.New("it takes one value, not a list")
	}
	if err := flags.Set(flag.Name, values[0]); err != nil {
		return errors.New("it takes " + wanted(flag))
	}
	return nil
}

// wanted says what a flag's value looks like.
func wanted(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int64", "uint", "uint64":
		return "a whole number, such as " + example(flag, "4")
	case "float64":
		return "a number, such as " + example(flag, "0.5")
	case "duration":
		return "a time with its unit, such as " + example(flag, "30s")
	case "stringArray", "stringSlice":
		return "a list of texts"
	}
	return "a text"
}

func example(flag *pflag.Flag, other string) string {
	if flag.DefValue == "" || flag.DefValue == "0" || flag.DefValue == "0s" {
		return other
	}
	return flag.DefValue
}

// listOf reads a list as it is written in the environment: separated by commas; what holds one is quoted as in CSV. "" is the empty list.
func listOf(text string) ([]string, error) {
	if text == "" {
		return []string{}, nil
	}
	r := csv.NewReader(strings.NewReader(text))
	list, err := r.Read()
	if err != nil {
		return nil, errors.New("it takes a list with commas between, and double quotes around what holds one")
	}
	return list, nil
}

// variables are the names of a flag in the environment, the verb's own first.
func variables(cmd *cobra.Command, flag *pflag.Flag) []string {
	upper := func(s string) string { return strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(s)) }
	return []string{prefix + upper(strings.Join(path(cmd), " ")) + "_" + upper(flag.Name), prefix + upper(flag.Name)}
}

// Unused lists the variables that look like ours and name no flag of any verb. It is no error to have them: a container platform makes variables
// of the names of services.
func Unused(root *cobra.Command, environ []string) []string {
	known := map[string]bool{EnvFile: true}
	walk(root, func(cmd *cobra.Command) {
		for _, flag := range flagsOf(cmd) {
			for _, name := range variables(cmd, flag) {
				known[name] = true
			}
		}
	})
	var unused []string
	for _, line := range environ {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, prefix) && !known[name] {
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	return unused
}

// path is a verb's name, of words below the root.
func path(cmd *cobra.Command) []string {
	if !cmd.HasParent() {
		return nil
	}
	return append(path(cmd.Parent()), cmd.Name())
}

// Exempt are verbs that no configuration is for: those that the library adds, and those about configuration itself.
func Exempt(cmd *cobra.Command) bool {
	p := path(cmd)
	return len(p) == 0 || slices.Contains([]string{"help", "completion", "config", "version", "__complete", "__completeNoDesc"}, p[0])
}

// walk visits the verbs that can be configured.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	if cmd.Runnable() && !Exempt(cmd) && !cmd.HasSubCommands() {
		visit(cmd)
	}
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

// Verbs lists the verbs that can be configured, by name, as `candidate check`.
func Verbs(root *cobra.Command) (names []string) {
	walk(root, func(cmd *cobra.Command) { names = append(names, strings.Join(path(cmd), " ")) })
	return names
}

// flagsOf are a verb's own flags, sorted.
func flagsOf(cmd *cobra.Command) (flags []*pflag.Flag) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "config" && cmd.InheritedFlags().Lookup(f.Name) == nil {
			flags = append(flags, f)
		}
	})
	return flags
}

// shown is a flag's value as people and machines may see it.
func shown(flag *pflag.Flag) any {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		out := []string{}
		for _, v := range list.GetSlice() {
			out = append(out, Mask(v))
		}
		return out
	}
	text := flag.Value.String()
	switch flag.Value.Type() {
	case "bool":
		return text == "true"
	case "int", "int64":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return Mask(text)
}
