package main

import "github.com/spf13/cobra"

// verbs lists the commands, one constructor per file.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newAnalyzeCmd(),
		newCandidateCmd(),
		newCaptureCmd(),
		newConfigCmd(),
		newDoctorCmd(),
		newExplainCmd(),
		newPlanCmd(),
		newProveCmd(),
		newRunCmd(),
		newVersionCmd(),
		newWarehouseCmd(),
	}
}
