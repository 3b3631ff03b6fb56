// Package pipeline turns events into commits of the warehouse: it interns templates, resolves each once, and aggregates executions into rows
// that are bounded in number. It imports analysis/warehouse, capture and the planner's leaves; what a template does comes through a Resolver.
//
// Events are taken in the order in which the source gives them, by one goroutine; only templates not seen before are resolved by several. So
// the rows do not depend on the number of workers.
package pipeline
