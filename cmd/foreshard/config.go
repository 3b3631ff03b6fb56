package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/cmd/foreshard/config"
)

// configure gives a verb's flags the values of the environment and the file, before it runs.
func configure(cmd *cobra.Command, _ []string) error {
	if config.Exempt(cmd) {
		return nil
	}
	file, err := configFile(cmd)
	if err != nil {
		return err
	}
	_, err = config.Apply(cmd, file, os.Environ())
	return err
}

// configFile reads the file that --config or the environment names, nil if none does.
func configFile(cmd *cobra.Command) (*config.File, error) {
	flag := cmd.Flag("config")
	name := flag.Value.String()
	if !flag.Changed {
		name = os.Getenv(config.EnvFile)
	}
	if name == "" {
		return nil, nil
	}
	return config.Read(name, newRootCmd())
}

func newConfigCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show and check what the flags, the environment and the configuration file say", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newConfigShowCmd(), newConfigCheckCmd())
	return cmd
}

func newConfigShowCmd() *cobra.Command {
	var format string
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [VERB] [-- FLAG...]",
		Short: "Print the values that hold, and where each comes from",
		Long: `show prints the values of a verb's flags, or of all verbs', as the verb would see them: the command line comes before the environment, that before the
configuration file, that before the default. Flags after -- are taken as the verb's. Passwords in connection strings are masked.

The flag --max-spool of capture is FORESHARD_CAPTURE_MAX_SPOOL in the environment, or FORESHARD_MAX_SPOOL for every verb that has it. In the file, YAML,
it is max-spool below capture, or at the top for every verb that has it. The file is that of --config or FORESHARD_CONFIG; by default there is none.`,
		Example: `  foreshard config show --config foreshard.yaml
  foreshard config show capture --origin --config foreshard.yaml
  foreshard config show capture --format json -- --follow --max-spool 100`,
		RunE: func(cmd *cobra.Command, args []string) error {
			words := args
			var flags []string
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				words, flags = args[:at], args[at:]
			}
			return showConfig(cmd, strings.Join(words, " "), flags, format, origin)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or yaml; yaml is a configuration file")
	cmd.Flags().BoolVar(&origin, "origin", false, "also say where each value comes from: flag, the variable, file:line, default (json always does)")
	return cmd
}

// showConfig prints the settings of a verb, "" for all.
func showConfig(cmd *cobra.Command, verb string, flags []string, format string, origin bool) error {
	names := config.Verbs(newRootCmd())
	if verb != "" {
		names = []string{verb}
	} else if len(flags) > 0 {
		return errors.New("flags after -- are those of one verb: name it before them")
	}
	file, err := configFile(cmd)
	if err != nil {
		return err
	}
	var verbs []config.Verb
	for _, name := range names {
		target, rest, err := newRootCmd().Find(strings.Fields(name))
		if err != nil || len(rest) > 0 || target.HasSubCommands() || config.Exempt(target) {
			return fmt.Errorf("%q is no verb that can be configured: name one of %s", name, strings.Join(config.Verbs(newRootCmd()), ", "))
		}
		if err := target.ParseFlags(flags); err != nil {
			return err
		}
		settings, err := config.Apply(target, file, os.Environ())
		if err != nil {
			return err
		}
		verbs = append(verbs, config.Verb{Name: name, Settings: settings})
	}
	for _, name := range config.Unused(newRootCmd(), os.Environ()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "foreshard: %s is set and names no flag of any verb\n", name)
	}
	return config.Write(cmd.OutOrStdout(), format, verbs, origin)
}

func newConfigCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check a configuration file against the flags of all verbs",
		Long: `check reads a configuration file and checks every key and the type of every value against the flags there are. Mistakes are printed with file, line and
the fix, and end with exit code 2. What only the verb can know, such as whether a file exists, it checks itself.`,
		Example: `  foreshard config check foreshard.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkConfig(cmd.OutOrStdout(), args[0])
		},
	}
}

func checkConfig(out io.Writer, name string) error {
	file, err := config.Read(name, newRootCmd())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d settings, all of them known\n", name, file.Settings())
	return nil
}
