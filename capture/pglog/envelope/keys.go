package envelope

import (
	"bytes"
	"strings"
)

// The names of members, by kind: the json-file driver of Docker; LogEntry of Google Cloud Logging; the fields of Azure's resource logs; the
// columns of csvlog as CloudNativePG and Supabase spell them.

func dockerSlot(parent, key string) slot {
	if parent != "" {
		return slotNone
	}
	switch key {
	case "log":
		return slotText
	case "stream":
		return slotHost
	case "time":
		return slotStamp
	}
	return slotNone
}

func cloudSlot(parent, key string) slot {
	switch {
	case parent == "" && key == "textPayload":
		return slotText
	case parent == "" && key == "timestamp":
		return slotStamp
	case parent == "" && key == "insertId":
		return slotID
	case parent == "labels" && (key == "database_id" || key == "instance_id"):
		return slotHost
	}
	return slotNone
}

func messageSlot(parent, key string) slot {
	if parent != "" {
		return slotNone
	}
	switch key {
	case "_msg":
		return slotText
	case "_time":
		return slotStamp
	}
	return slotNone
}

// azureSlot reads the keys of a resource log, nested or exported as "record_message_s": the letter at the end is the type of the column.
func azureSlot(key string) slot {
	key = strings.ToLower(key)
	if n := len(key); n > 2 && key[n-2] == '_' && strings.IndexByte("sdtbg", key[n-1]) >= 0 {
		key = key[:n-2]
	}
	key = strings.TrimPrefix(strings.TrimPrefix(key, "record_"), "properties_")
	switch key {
	case "message":
		return slotMessage
	case "detail":
		return slotDetail
	case "errorlevel":
		return slotSeverity
	case "sqlerrcode":
		return slotState
	case "processid":
		return slotPid
	case "prefix":
		return slotPrefix
	case "timestamp":
		return slotTime
	case "time", "timegenerated":
		return slotStamp
	case "context":
		return slotContext
	case "statement", "query":
		return slotQuery
	case "logicalservername", "resourceid", "resource":
		return slotHost
	case "backend_type":
		return slotBackend
	}
	return slotNone
}

func cnpgSlot(parent, key string) slot {
	switch parent {
	case "":
		switch key {
		case "logger":
			return slotLogger
		case "ts":
			return slotStamp
		case "logging_pod":
			return slotHost
		}
	case "record":
		return columnSlot(key)
	}
	return slotNone
}

func supabaseSlot(parent, key string) slot {
	switch {
	case key == "event_message":
		return slotMessage
	case parent == "" && key == "timestamp":
		return slotStamp
	case parent == "" && key == "id":
		return slotID
	case parent == "metadata" && key == "host":
		return slotHost
	case parent == "parsed" && key == "timestamp":
		return slotTime
	case parent == "parsed":
		return columnSlot(key)
	}
	return slotNone
}

// columnSlot is a column of csvlog.
func columnSlot(key string) slot {
	switch key {
	case "log_time":
		return slotTime
	case "user_name":
		return slotUser
	case "database_name":
		return slotDatabase
	case "process_id":
		return slotPid
	case "connection_from":
		return slotClient
	case "session_id":
		return slotSession
	case "session_line_num":
		return slotNumber
	case "command_tag":
		return slotTag
	case "virtual_transaction_id":
		return slotVxid
	case "error_severity":
		return slotSeverity
	case "sql_state_code":
		return slotState
	case "message":
		return slotMessage
	case "detail":
		return slotDetail
	case "internal_query":
		return slotInternalQuery
	case "context":
		return slotContext
	case "query":
		return slotQuery
	case "application_name":
		return slotApp
	case "backend_type":
		return slotBackend
	case "leader_pid":
		return slotLeader
	}
	return slotNone
}

// lookedAt is how many lines or objects of a head are looked at to recognise it.
const lookedAt = 1000

// Detect recognises the kind of a log by its first bytes, None if it has no envelope that is known.
func Detect(head []byte) Kind {
	if first := bytes.TrimLeft(head, "\x00\xef\xbb\xbf \t\r\n"); len(first) > 0 {
		if in := bytes.TrimLeft(first, "[ \t\r\n"); len(in) > 0 && in[0] == '{' {
			return detectJSON(first)
		}
	}
	lines := 0
	var hits [len(kinds)]int
	for b := head; len(b) > 0 && lines < lookedAt; {
		if k := framed(b); k > 0 {
			return Syslog
		}
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if b = rest; !whole && lines > 0 {
			break
		}
		if len(line) < 2 || line[0] == '\t' || line[0] == ' ' || line[0] == 0 {
			continue
		}
		lines++
		for i, k := range kinds {
			if !k.JSON() && shows(k, line) {
				hits[i]++
				break
			}
		}
	}
	for i, n := range hits {
		if 2*n > lines {
			return kinds[i]
		}
	}
	return None
}

// framed says that content starts with an octet-counted message.
func framed(b []byte) int {
	s := Scanner{Kind: Syslog}
	if e, ok, counted := s.frame(b, 0); counted && ok && e.Class == Wrapped {
		return e.End
	}
	return 0
}

// shows says that a line is of a kind, in a way that no line of a server has.
func shows(k Kind, line []byte) bool {
	e := Entry{Class: Bare}
	var s Scanner
	switch k {
	case Syslog:
		s.syslog(line, &e)
		return e.Class == Wrapped
	case CRI:
		s.cri(line, &e)
		return e.Class == Wrapped
	case CloudWatch:
		_, n := isoTime(line)
		return n > 0 && n+20 < len(line) && line[n] == ' ' && line[n+5] == '-' && line[n+8] == '-' && line[n+11] == ' ' && line[n+14] == ':' && line[n+17] == ':'
	}
	return false
}

// detectJSON looks for the members that only one kind has.
func detectJSON(b []byte) Kind {
	kind := None
	has := map[string]bool{}
	w := walker{b: b, leaf: func(parent, key string, v value) {
		switch {
		case parent == "" && key != "":
			has[key] = true
		case parent == "record" || parent == "properties" || parent == "parsed":
			has[parent+"."+key] = true
		}
	}}
	s := Scanner{Kind: Azure}
	for objects := 0; w.pos < len(b) && objects < lookedAt && kind == None; objects++ {
		w.pos += s.framing(b[w.pos:])
		clear(has)
		if w.pos >= len(b) {
			break
		}
		w.value("", "", 0) // an object that is cut off shows what it has
		if w.bad {
			w.bad = false
			i := bytes.IndexByte(b[w.pos:], '\n')
			if i < 0 {
				break
			}
			w.pos += i + 1
		}
		kind = kindOf(has)
		if kind == None && has["error_severity"] {
			return None // jsonlog
		}
	}
	return kind
}

func kindOf(has map[string]bool) Kind {
	switch {
	case has["record.error_severity"] && has["logger"]:
		return CloudNativePG
	case has["textPayload"]:
		return CloudSQL
	case has["event_message"]:
		return Supabase
	case has["properties.message"] || has["properties.errorLevel"] || has["errorLevel_s"]:
		return Azure
	case has["log"] && (has["stream"] || has["time"]):
		return Docker
	case has["_msg"]:
		return PlanetScale
	}
	for key := range has {
		if k := strings.ToLower(key); strings.HasPrefix(k, "record_") && azureSlot(k) == slotMessage {
			return Azure
		}
	}
	return None
}
