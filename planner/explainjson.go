package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Line is one line of explain's input: {"id","sql","params"?:[["type","value"|null]],"setup"?}.
type Line struct {
	ID     string               `json:"id"`
	SQL    string               `json:"sql"`
	Params [][2]json.RawMessage `json:"params"`
	Setup  string               `json:"setup"`
}

// ParseLine reads one line of input. Unknown fields are an error, so that a misspelt one does not go unseen.
func ParseLine(data []byte) (id string, q Question, err error) {
	var l Line
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return "", q, fmt.Errorf(`read statement: %w; a line is {"id","sql","params"?,"setup"?}`, err)
	}
	if dec.More() {
		return "", q, errors.New("read statement: more than one value on the line")
	}
	if strings.TrimSpace(l.SQL) == "" {
		return "", q, errors.New(`read statement: "sql" is missing or empty`)
	}
	q = Question{SQL: l.SQL, Setup: l.Setup}
	for i, p := range l.Params {
		param, err := parseParam(p)
		if err != nil {
			return "", q, fmt.Errorf("read parameter $%d: %w", i+1, err)
		}
		q.Params = append(q.Params, param)
	}
	return l.ID, q, nil
}

// parseParam reads ["bigint","5"], ["text","'it”s'"], ["text",null], ["bigint",5]: quoted as in SQL, or plain.
func parseParam(p [2]json.RawMessage) (Param, error) {
	var out Param
	if err := json.Unmarshal(p[0], &out.Type); err != nil {
		return out, errors.New(`the first element is the type, a string`)
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(p[1]))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return out, errors.New(`the second element is the value: a string, a number or null`)
	}
	switch v := v.(type) {
	case nil:
		out.Null = true
	case string:
		switch {
		case strings.EqualFold(v, "null"):
			out.Null = true
		case len(v) >= 2 && v[0] == '\'' && v[len(v)-1] == '\'':
			out.Text = strings.ReplaceAll(v[1:len(v)-1], "''", "'")
		default:
			out.Text = v
		}
	case json.Number:
		out.Text = v.String()
	case bool:
		out.Text = fmt.Sprint(v)
	default:
		return out, errors.New(`the second element is the value: a string, a number or null`)
	}
	return out, nil
}

// JSON writes the answer as explain's contract says, on one line. shards.list is null where the shard is known only at execution.
func (a Answer) JSON(id string) ([]byte, error) {
	v := a.Verdict
	if v.Bindings == nil {
		v.Bindings = []Binding{}
	}
	for i := range v.Bindings {
		if v.Bindings[i].Values == nil {
			v.Bindings[i].Values = []string{}
		}
	}
	out := struct {
		ID string `json:"id"`
		Verdict
		Symbolic Class `json:"symbolic_class"`
		Fixes    []Fix `json:"fixes"`
	}{id, v, a.Symbolic, a.Fixes}
	if out.Fixes == nil {
		out.Fixes = []Fix{}
	}
	if out.Colos == nil {
		out.Colos = []string{}
	}
	if out.Tables == nil {
		out.Tables = []string{}
	}
	if out.Features == nil {
		out.Features = []string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("write verdict: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
