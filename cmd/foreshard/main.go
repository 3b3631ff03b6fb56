// Command foreshard tells what would happen to a PostgreSQL database's real traffic if it were sharded by a candidate schema.
//
// One small file per verb; this one wires them and is the only place that exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes, the same for every verb.
const (
	exitDone      = 0
	exitNo        = 1 // the answer is "no": a verdict refuted, traffic that cannot be seen, a schema that breaks under --strict
	exitCannot    = 2 // could not run
	exitThin      = 3 // not enough evidence
	interruptCode = 130
)

// exitError carries an exit code up to main. A verb that has already printed its message leaves err nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks for an end; the next one is not caught, and ends the process wherever it hangs
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code. Results go to out, everything else to errOut.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintf(errOut, "foreshard: %s\n", printable(exit.err))
		}
		return exit.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "foreshard: interrupted")
		return interruptCode
	default:
		fmt.Fprintf(errOut, "foreshard: %s\n", printable(err))
		return exitCannot
	}
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "foreshard",
		Short: "What would happen to your PostgreSQL traffic if the database were sharded",
		Long: `foreshard judges real PostgreSQL traffic against candidate sharding schemas before a row moves:
which statements stay on one shard, which scatter, which cannot be kept, and why.

Results go to standard output, everything else to standard error.
Exit codes: 0 done, 1 the answer is "no", 2 could not run, 3 not enough evidence.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: configure,
	}
	root.PersistentFlags().String("config", "", "file of values for flags (YAML); FORESHARD_CONFIG names it too. See foreshard config show --help")
	root.AddCommand(verbs()...)
	return root
}
