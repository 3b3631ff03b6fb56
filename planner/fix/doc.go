// Package fix finds the smallest single change of a statement or of a candidate that makes a verdict ready, or cheaper. It guesses changes
// and keeps those that the judge confirms: each is made on the parse tree of the statement or on a copy of the candidate, and judged again.
// What comes out is a planner.Fix with the class that the judge gave.
//
// The changed text is the user's own with the change put in: a place is searched where the text, parsed, gives the tree that was judged, so
// that formatting and comments stay. Where there is no such place, the tree is written out anew.
//
// It is pure. It may import planner and its packages except router.
package fix
