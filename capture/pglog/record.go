package pglog

// record is one record of a log, as any of the formats gives it. Its slices point into the chunk it was read from and die with it.
type record struct {
	time        int64 // Unix nanoseconds
	hasTime     bool
	zoneUnknown bool // the zone of time was assumed
	tries       int  // readings of the prefix that were tried
	user        []byte
	database    []byte
	app         []byte
	client      []byte // host, or host and port
	session     []byte // session id
	pid         []byte
	tag         []byte // command tag, ps display
	vxid        []byte
	hasVxid     bool // the source has a vxid column or escape
	severity    label
	state       []byte // SQLSTATE, nil if not in the log
	message     []byte
	detail      []byte
	context     []byte
	query       []byte  // text of the statement that was running
	hasCtx      bool    // CONTEXT, QUERY or STATEMENT is present: a message raised by a statement
	worker      bool    // of a parallel worker: its leader says the same again
	cut         bool    // the record was longer than Config.MaxRecord, or the source says it cut it
	start       int     // offset of its first line in what was parsed
	bytes       int     // of the chunk that it takes up
	number      uint64  // of the record in its process, by csvlog, jsonlog or an envelope; 0 none
	from        *origin // what its envelope says; nil if it had none
}

// label is the word before the text of a stderr line.
type label uint8

const (
	labelNone label = iota
	sevDebug
	sevLog
	sevInfo
	sevNotice
	sevWarning
	sevError
	sevFatal
	sevPanic
	keyDetail // from here on: lines that belong to a record above
	keyHint
	keyQuery
	keyContext
	keyLocation
	keyBacktrace
	keyStatement
)

func (l label) primary() bool { return l >= sevDebug && l <= sevPanic }

// failed says that the statement did not succeed.
func (l label) failed() bool { return l >= sevError && l <= sevPanic }

// labels are the words of elog.c, then their German and French translations (PostgreSQL's de.po and fr.po).
var labels = [...]struct {
	word string
	is   label
}{
	{"LOG", sevLog}, {"DETAIL", keyDetail}, {"STATEMENT", keyStatement}, {"ERROR", sevError}, {"CONTEXT", keyContext},
	{"LOCATION", keyLocation}, {"WARNING", sevWarning}, {"HINT", keyHint}, {"FATAL", sevFatal}, {"PANIC", sevPanic},
	{"NOTICE", sevNotice}, {"INFO", sevInfo}, {"DEBUG", sevDebug}, {"QUERY", keyQuery}, {"BACKTRACE", keyBacktrace},
	{"DEBUG1", sevDebug}, {"DEBUG2", sevDebug}, {"DEBUG3", sevDebug}, {"DEBUG4", sevDebug}, {"DEBUG5", sevDebug},
	{"FEHLER", sevError}, {"WARNUNG", sevWarning}, {"HINWEIS", sevNotice}, {"ANWEISUNG", keyStatement}, {"ZUSAMMENHANG", keyContext},
	{"TIPP", keyHint}, {"ANFRAGE", keyQuery}, {"ORT", keyLocation},
	{"ERREUR", sevError}, {"ATTENTION", sevWarning}, {"DÉTAIL", keyDetail}, {"INSTRUCTION", keyStatement}, {"CONTEXTE", keyContext},
	{"ASTUCE", keyHint}, {"REQUÊTE", keyQuery}, {"EMPLACEMENT", keyLocation},
}

// labelOf is the label with exactly this word.
func labelOf(word []byte) label {
	for i := range labels {
		if len(labels[i].word) == len(word) && labels[i].word == string(word) {
			return labels[i].is
		}
	}
	return labelNone
}

// labelAt reads a label and its colon at the start of b: "LOG:  ", in French "INSTRUCTION :  ". n counts all of that.
func labelAt(b []byte) (l label, n int) {
	if len(b) >= 6 && b[0] == 'L' && b[1] == 'O' && b[2] == 'G' && b[3] == ':' && b[4] == ' ' && b[5] == ' ' {
		return sevLog, 6
	}
	if len(b) == 0 || b[0] < 'A' || b[0] > 'Z' {
		return labelNone, 0
	}
	i := 0
	for i < len(b) && i < 16 && b[i] != ':' && b[i] != ' ' {
		i++
	}
	if l = labelOf(b[:min(i, len(b))]); l == labelNone {
		return labelNone, 0
	}
	if i < len(b) && b[i] == ' ' {
		i++
	}
	if i+2 < len(b) && b[i] == ':' && b[i+1] == ' ' && b[i+2] == ' ' {
		return l, i + 3
	}
	// An empty text may have lost its blanks to an editor or a shipper.
	if i < len(b) && b[i] == ':' && len(trimBlank(b[i+1:])) == 0 {
		return l, len(b)
	}
	return labelNone, 0
}

func trimBlank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] >= '\t' && b[len(b)-1] <= '\r') {
		b = b[:len(b)-1]
	}
	return b
}
