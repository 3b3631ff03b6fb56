package pgdoctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Weight says what a finding does to what can be seen.
type Weight string

// The weights, heaviest first.
const (
	Blocks Weight = "blocks" // nothing of the kind can be seen
	Hides  Weight = "hides"  // part of it cannot
	Note   Weight = "note"   // worth knowing
)

// Finding is one thing that hides traffic, or that one should know.
type Finding struct {
	Code    string   `json:"code"`
	Weight  Weight   `json:"weight"`
	Message string   `json:"message"`
	Fix     []string `json:"fix"`  // SQL, without the reload
	Cost    string   `json:"cost"` // of the fix
	Restart bool     `json:"restart"`
}

// Source is one way to see traffic.
type Source struct {
	Name     string    `json:"name"`            // log, pg_stat_statements, wal
	Seen     string    `json:"seen"`            // all, part, none
	Shows    string    `json:"shows"`           // in a sentence
	Files    string    `json:"files,omitempty"` // of the log: log_directory and log_filename, in strftime form; "" if they cannot be told
	Findings []Finding `json:"findings"`
}

// Report is the doctor's answer.
type Report struct {
	SchemaVersion int      `json:"schema_version"` // 1
	Server        *Facts   `json:"server"`
	Visible       bool     `json:"visible"` // the log shows at least part of the traffic
	Sources       []Source `json:"sources"`
}

// The values of Source.Seen.
const (
	seenAll  = "all"
	seenPart = "part"
	seenNone = "none"
)

// AdvisedPrefix is the log_line_prefix that tells time, process, user, database, application, session and transaction.
const AdvisedPrefix = "%m [%p] %q%u@%d/%a %c %x "

// Diagnose says what the facts mean. It asks nobody.
func Diagnose(f *Facts) *Report {
	r := &Report{SchemaVersion: 1, Server: f, Sources: []Source{log(f), statistics(f), wal(f)}}
	r.Visible = r.Sources[0].Seen != seenNone
	return r
}

// log is the server log, the one source with statements in order, with values and by session.
func log(f *Facts) Source {
	s := Source{Name: "log"}
	s.Findings = slices.Concat(logTexts(f), logFiles(f), logContent(f), logOverrides(f))
	s.settle()
	s.Files = f.files()
	switch s.Seen {
	case seenAll:
		s.Shows = "every statement, by session" + durations(f) + ", in " + formats(f)
	case seenPart:
		s.Shows = "part of the statements, see below" + durations(f) + ", in " + formats(f)
	default:
		s.Shows = "no statements"
	}
	return s
}

// settle derives Seen from the findings and sorts those, heaviest first.
func (s *Source) settle() {
	order := map[Weight]int{Blocks: 0, Hides: 1, Note: 2}
	slices.SortStableFunc(s.Findings, func(a, b Finding) int { return cmp.Compare(order[a.Weight], order[b.Weight]) })
	s.Seen = seenAll
	for i := range s.Findings {
		if s.Findings[i].Fix == nil {
			s.Findings[i].Fix = []string{}
		}
		switch {
		case s.Findings[i].Weight == Blocks:
			s.Seen = seenNone
		case s.Findings[i].Weight == Hides && s.Seen == seenAll:
			s.Seen = seenPart
		}
	}
	if s.Findings == nil {
		s.Findings = []Finding{}
	}
}

// whole says that every statement's text is logged, timed that its duration is.
func (f *Facts) whole() bool {
	return f.number("log_min_duration_statement") == 0 || f.is("log_statement", "all") || f.sampledWhole()
}

// sampledWhole: a sample of everything is everything (transactions: 12, statements: 13).
func (f *Facts) sampledWhole() bool {
	return f.is("log_transaction_sample_rate", "1") || f.number("log_min_duration_sample") == 0 && f.is("log_statement_sample_rate", "1")
}

func (f *Facts) timed() bool {
	return f.number("log_min_duration_statement") == 0 || f.is("log_duration", "on") || f.sampledWhole()
}

func durations(f *Facts) string {
	if f.timed() {
		return ", with durations"
	}
	return ", without durations"
}

func formats(f *Facts) string {
	if d := f.destinations(); len(d) > 0 {
		return strings.Join(d, " and ")
	}
	return "no file"
}

const logCost = "a log record of about 200 bytes and the text for each statement, three of them (parse, bind, execute) in the extended protocol; watch the log volume's disk and write rate"

// logTexts is which statements leave a text in the log.
func logTexts(f *Facts) []Finding {
	fix := []string{"ALTER SYSTEM SET log_min_duration_statement = 0;"}
	for _, name := range []string{"log_min_duration_statement", "log_statement", "log_duration", "log_min_messages"} {
		if slices.Contains(f.Own, name) {
			return []Finding{{Code: "own_setting", Weight: Blocks, Message: fmt.Sprintf("what is logged for others cannot be told: role %q in database %q has %s = %s of its own; connect as another role, or remove that setting",
				f.Role.Name, f.Database, name, f.Settings[name])}}
		}
	}
	if above(f.Settings["log_min_messages"]) {
		return []Finding{{Code: "log_min_messages", Weight: Blocks, Message: fmt.Sprintf("log_min_messages = %s keeps the records of statements, which are of level LOG, out of the log", f.Settings["log_min_messages"]),
			Fix: []string{"ALTER SYSTEM SET log_min_messages = 'warning';"}, Cost: "warnings and errors are logged as well"}}
	}
	if f.whole() {
		if f.timed() {
			return nil
		}
		return []Finding{{Code: "no_durations", Weight: Note, Message: "log_statement = all logs texts without durations: shares of time cannot be told",
			Fix: append(fix, "ALTER SYSTEM SET log_statement = 'none';"), Cost: "no more than now: one record with text and duration takes the place of the text alone"}}
	}
	var part []string
	if n := f.number("log_min_duration_statement"); n > 0 {
		part = append(part, fmt.Sprintf("statements that take %d ms or more (log_min_duration_statement)", n))
	}
	if v := f.Settings["log_statement"]; v == "ddl" || v == "mod" {
		part = append(part, map[string]string{"ddl": "DDL", "mod": "DDL and writes"}[v]+" (log_statement)")
	}
	if rate := f.Settings["log_transaction_sample_rate"]; rate != "" && rate != "0" {
		part = append(part, fmt.Sprintf("a share of %s of the transactions (log_transaction_sample_rate)", rate))
	}
	if n := f.number("log_min_duration_sample"); n >= 0 {
		part = append(part, fmt.Sprintf("a share of %s of the statements that take %d ms or more (log_min_duration_sample)", f.Settings["log_statement_sample_rate"], n))
	}
	if n := f.number("auto_explain.log_min_duration"); n >= 0 && !f.is("auto_explain.log_min_duration", "") {
		part = append(part, fmt.Sprintf("plans of statements that take %d ms or more (auto_explain)", n))
	}
	if len(part) == 0 {
		return []Finding{{Code: "no_statements", Weight: Blocks, Message: "no statement is logged: log_min_duration_statement is -1, log_statement is none", Fix: fix, Cost: logCost}}
	}
	return []Finding{{Code: "part_of_statements", Weight: Hides, Message: "logged are only: " + strings.Join(part, "; "), Fix: fix, Cost: logCost}}
}

// above says that a log_min_messages hides level LOG: for the log the order is ... WARNING, ERROR, LOG, FATAL, PANIC.
func above(level string) bool { return level == "fatal" || level == "panic" }

// destinations are the formats that can be read, as far as they are really written.
func (f *Facts) destinations() []string {
	var out []string
	collector := f.is("logging_collector", "on")
	for _, d := range strings.Split(f.Settings["log_destination"], ",") {
		switch d = strings.TrimSpace(d); {
		case d == "stderr", (d == "csvlog" || d == "jsonlog") && collector:
			out = append(out, d)
		case (d == "csvlog" || d == "jsonlog") && !slices.Contains(out, "stderr"):
			out = append(out, "stderr") // where PostgreSQL sends them without a collector
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// files is where the logging collector writes.
func (f *Facts) files() string {
	dir, name := f.Settings["log_directory"], f.Settings["log_filename"]
	if !f.is("logging_collector", "on") || dir == "" || name == "" {
		return ""
	}
	if !strings.HasPrefix(dir, "/") {
		if f.Settings["data_directory"] == "" {
			return ""
		}
		dir = f.Settings["data_directory"] + "/" + dir
	}
	var out []string
	for _, d := range f.destinations() { // as the collector names them: src/backend/postmaster/syslogger.c, logfile_getname
		file := name
		if ext := map[string]string{"csvlog": ".csv", "jsonlog": ".json"}[d]; ext != "" {
			file = strings.TrimSuffix(name, ".log") + ext
		}
		out = append(out, dir+"/"+file)
	}
	return strings.Join(out, " and ")
}

// logFiles is where the log goes.
func logFiles(f *Facts) []Finding {
	var out []Finding
	have := f.destinations()
	if len(have) == 0 {
		out = append(out, Finding{Code: "log_destination", Weight: Blocks, Message: fmt.Sprintf("log_destination = %q: what is not stderr, csvlog or jsonlog is not read", f.Settings["log_destination"]),
			Fix: []string{"ALTER SYSTEM SET log_destination = '" + f.Settings["log_destination"] + ",csvlog';"}, Cost: "the log is written twice, and log files need room and rotation"})
	}
	if !f.is("logging_collector", "on") {
		out = append(out, Finding{Code: "logging_collector", Weight: Note, Message: "logging_collector is off: the log is what the service manager or container keeps of standard error; name that file",
			Fix: []string{"ALTER SYSTEM SET logging_collector = on;"}, Cost: "a restart, one more process; log_filename and rotation then say where the files are", Restart: true})
	} else if f.number("log_rotation_age") == 0 && f.number("log_rotation_size") == 0 {
		out = append(out, Finding{Code: "log_rotation", Weight: Note, Message: "the log is never rotated: with every statement logged it fills its volume",
			Fix: []string{"ALTER SYSTEM SET log_rotation_size = '256MB';"}, Cost: "more files; the log is followed over the rotation if --log names them by a pattern"})
	}
	if slices.Equal(have, []string{"stderr"}) {
		out = append(out, logPrefix(f)...)
	}
	return out
}

// logPrefix is what log_line_prefix tells; csvlog and jsonlog always tell everything.
func logPrefix(f *Facts) []Finding {
	prefix := f.Settings["log_line_prefix"]
	fix := []string{"ALTER SYSTEM SET log_line_prefix = '" + AdvisedPrefix + "';"}
	const cost = "none to speak of: some bytes a record; tools that read the log must know the new prefix"
	has := func(any string) bool {
		for _, e := range escapes(prefix) {
			if strings.ContainsRune(any, e) {
				return true
			}
		}
		return false
	}
	var out []Finding
	if !has("pc") {
		out = append(out, Finding{Code: "prefix_session", Weight: Hides, Message: "log_line_prefix has neither %p nor %c: statements cannot be told apart by session, so transactions are not seen", Fix: fix, Cost: cost})
	}
	if !has("mtn") {
		out = append(out, Finding{Code: "prefix_time", Weight: Hides, Message: "log_line_prefix has no time (%m)", Fix: fix, Cost: cost})
	}
	if !has("ud") || !has("a") {
		out = append(out, Finding{Code: "prefix_origin", Weight: Note, Message: "log_line_prefix lacks user, database or application (%u, %d, %a): traffic cannot be given to a team without tags in its text", Fix: fix, Cost: cost})
	}
	return out
}

// escapes are the escape letters of a prefix, padding left out.
func escapes(prefix string) []rune {
	var out []rune
	in := false
	for _, c := range prefix {
		switch {
		case !in:
			in = c == '%'
		case c == '-' || c >= '0' && c <= '9':
		default:
			if c != '%' {
				out = append(out, c)
			}
			in = false
		}
	}
	return out
}

// logContent is what a record holds.
func logContent(f *Facts) []Finding {
	var out []Finding
	if f.is("log_error_verbosity", "terse") {
		out = append(out, Finding{Code: "terse", Weight: Hides, Message: "log_error_verbosity = terse leaves out bind values: keys of the extended protocol are not seen, nor skew, nor which transactions stay on one key",
			Fix: []string{"ALTER SYSTEM SET log_error_verbosity = 'default';"}, Cost: "the values of binds and the details of errors are in the log: treat it as data"})
	} else if n, ok := f.Settings["log_parameter_max_length"]; ok && n != "-1" {
		message := "log_parameter_max_length = " + n + " cuts bind values, and a cut value cannot be told from data: long keys are wrong"
		if n == "0" {
			message = "log_parameter_max_length = 0 leaves out bind values: keys of the extended protocol are not seen, nor skew, nor which transactions stay on one key"
		}
		out = append(out, Finding{Code: "log_parameter_max_length", Weight: Hides, Message: message,
			Fix: []string{"ALTER SYSTEM SET log_parameter_max_length = -1;"}, Cost: "the values of binds are in the log: treat it as data; large values make large records"})
	}
	if lc := f.Settings["lc_messages"]; lc != "" && !english(lc) {
		out = append(out, Finding{Code: "lc_messages", Weight: Hides, Message: "lc_messages = " + lc + ": records are translated, and not every translation is understood",
			Fix: []string{"ALTER SYSTEM SET lc_messages = 'C';"}, Cost: "clients get messages in English too; a session can set its own"})
	}
	if v := f.Settings["log_min_error_statement"]; v == "fatal" || v == "panic" || v == "log" {
		out = append(out, Finding{Code: "log_min_error_statement", Weight: Hides, Message: "log_min_error_statement = " + v + ": statements that fail before they are logged leave no text",
			Fix: []string{"ALTER SYSTEM SET log_min_error_statement = 'error';"}, Cost: "the text of failed statements is in the log"})
	}
	return out
}

func english(lc string) bool {
	return lc == "C" || lc == "POSIX" || strings.HasPrefix(lc, "en") || strings.HasPrefix(lc, "English") || strings.HasPrefix(lc, "C.")
}

// logOverrides are roles and databases whose traffic is logged in another way.
func logOverrides(f *Facts) []Finding {
	var out []Finding
	for _, o := range f.Overrides {
		if o.Name == "pg_stat_statements.track" {
			continue
		}
		whose, where := "every role", "every database"
		if o.Role != "" {
			whose = fmt.Sprintf("role %q", o.Role)
		}
		if o.Database != "" {
			where = fmt.Sprintf("database %q", o.Database)
		}
		out = append(out, Finding{Code: "override", Weight: Hides, Message: fmt.Sprintf("%s in %s has %s = %s of its own: its traffic is logged by that, whatever the server's setting is", whose, where, o.Name, o.Value),
			Fix: []string{resetOf(o)}, Cost: "that traffic is logged as everybody's is"})
	}
	return out
}

func resetOf(o Override) string {
	switch {
	case o.Role == "":
		return fmt.Sprintf("ALTER DATABASE %s RESET %s;", ident(o.Database), o.Name)
	case o.Database == "":
		return fmt.Sprintf("ALTER ROLE %s RESET %s;", ident(o.Role), o.Name)
	}
	return fmt.Sprintf("ALTER ROLE %s IN DATABASE %s RESET %s;", ident(o.Role), ident(o.Database), o.Name)
}

// ident quotes a name, always: a plain one may be a keyword.
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (f *Facts) is(name, value string) bool { return f.Settings[name] == value }

// number is a setting as an integer; -1, which turns such settings off, if it is missing or none.
func (f *Facts) number(name string) int64 {
	n, err := strconv.ParseInt(f.Settings[name], 10, 64)
	if err != nil {
		return -1
	}
	return n
}
