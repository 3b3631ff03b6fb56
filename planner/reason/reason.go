// Package reason is the registry of reason codes: each code once, with a short text, a long text and a hint. It imports nothing.
package reason

// Reason is one fact found about a statement. Message and Hint name table and column and hold no value of the client.
type Reason struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Position int    `json:"position"` // byte offset in the statement's text (of facts: in the template's), -1 unknown
}
