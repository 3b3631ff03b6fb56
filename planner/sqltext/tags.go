package sqltext

import (
	"bytes"
	"net/url"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxTagBytes is the longest tag value that is kept, in bytes; the rest is cut at a character.
const maxTagBytes = 200

// maxTagComment is the longest comment that is searched for tags, in bytes.
const maxTagComment = 4096

// tagKeys are the keys that are kept, by any spelling that sqlcommenter, marginalia and their kin use. Trace ids are dropped: they are different for
// every call.
var tagKeys = map[string]bool{
	"team": true, "owner": true, "service": true, "service_name": true, "application": true, "app": true, "application_name": true, "route": true,
	"endpoint": true, "controller": true, "controller_with_namespace": true, "namespaced_controller": true, "action": true, "job": true, "job_class": true,
	"framework": true, "db_driver": true, "file": true, "line": true, "source_location": true, "source": true, "code_file": true, "code_function": true,
	"query_name": true, "caller": true, "feature": true, "feature_category": true, "component": true, "environment": true, "env": true,
}

// Tag is one key and value that a comment gives.
type Tag struct{ Key, Value string }

// Tags reads the tags of a statement's comments: sqlcommenter's key='value' and marginalia's key:value. Keys are sorted, of one key the last value
// wins, other keys than the known ones are dropped. The values are text of the client: cut to 200 bytes, control characters taken out, valid UTF-8.
func Tags(src []byte, comments []Span) []Tag {
	tags := map[string]string{}
	for _, c := range comments {
		readTags(src[c.Start:c.End], tags)
	}
	if len(tags) == 0 {
		return nil
	}
	list := make([]Tag, 0, len(tags))
	for k, v := range tags {
		list = append(list, Tag{k, v})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Key < list[j].Key })
	return list
}

// Lookup gives the value of the first of keys that is among tags.
func Lookup(tags []Tag, keys ...string) string {
	for _, k := range keys {
		for _, t := range tags {
			if t.Key == k {
				return t.Value
			}
		}
	}
	return ""
}

// Endpoint gives what the tags say of the place in the application: its route or endpoint, else controller#action, else the job.
func Endpoint(tags []Tag) string {
	if v := Lookup(tags, "route", "endpoint"); v != "" {
		return v
	}
	controller, action := Lookup(tags, "controller_with_namespace", "namespaced_controller", "controller"), Lookup(tags, "action")
	switch {
	case controller != "" && action != "":
		return controller + "#" + action
	case controller+action != "":
		return controller + action
	}
	return Lookup(tags, "job", "job_class", "caller", "source_location", "query_name")
}

// Team gives the team, else the service, that the tags name.
func Team(tags []Tag) string {
	return Lookup(tags, "team", "owner", "service", "service_name", "application", "app", "application_name")
}

// readTags adds the tags of one comment.
func readTags(comment []byte, tags map[string]string) {
	if len(comment) > maxTagComment {
		return
	}
	body := comment
	if bytes.HasPrefix(body, []byte("/*")) {
		body = body[2 : len(body)-2]
	} else {
		body = bytes.TrimLeft(body, "-")
	}
	for len(body) > 0 {
		body = readTag(body, tags)
	}
}

// readTag reads one pair and gives what comes after its comma; a malformed pair is skipped up to the next comma.
func readTag(body []byte, tags map[string]string) []byte {
	body = bytes.TrimLeft(body, " \t\r\n,;")
	n := bytes.IndexAny(body, "=:,")
	if n < 0 {
		return nil
	}
	if body[n] == ',' {
		return body[n+1:]
	}
	key, rest := string(bytes.TrimSpace(body[:n])), bytes.TrimLeft(body[n+1:], " \t\r\n")
	if body[n] == '=' && len(rest) > 0 && rest[0] == '\'' {
		value, after, ok := quotedTag(rest[1:])
		if !ok {
			return afterComma(rest)
		}
		keepTag(key, value, true, tags)
		return after
	}
	end := bytes.IndexByte(rest, ',')
	if end < 0 {
		end = len(rest)
	}
	keepTag(key, rest[:end], false, tags)
	return rest[end:]
}

// quotedTag takes a value up to its closing quote, which a comma, white space or the end must follow; a quote inside is \'.
func quotedTag(b []byte) (value, after []byte, ok bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '\'':
			after := bytes.TrimLeft(b[i+1:], " \t\r\n;")
			return b[:i], after, len(after) == 0 || after[0] == ',' || len(after) < len(b)-i-1
		}
	}
	return nil, nil, false
}

func afterComma(b []byte) []byte {
	if n := bytes.IndexByte(b, ','); n >= 0 {
		return b[n+1:]
	}
	return nil
}

func keepTag(key string, raw []byte, encoded bool, tags map[string]string) {
	if k, err := url.QueryUnescape(key); err == nil {
		key = k
	}
	key = strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(key))
	if !tagKeys[key] {
		return
	}
	value := string(raw)
	if encoded {
		value = strings.ReplaceAll(value, "%%", "%") // a driver that formats with % doubles it
		value = strings.ReplaceAll(value, `\'`, "'")
		if v, err := url.QueryUnescape(value); err == nil {
			value = v
		}
	}
	if value = cleanTag(value); value != "" {
		tags[key] = value
	}
}

// cleanTag makes a client's text fit to show.
func cleanTag(v string) string {
	v = strings.ToValidUTF8(v, string(utf8.RuneError))
	v = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, v)
	v = strings.TrimSpace(v)
	if len(v) > maxTagBytes {
		v = strings.ToValidUTF8(v[:maxTagBytes], "")
	}
	return v
}

// TagCache keeps the tags of comments that were seen, so that a warm look-up neither parses nor allocates. It is safe for use by several
// goroutines, and bounded: when it is full it begins anew.
type TagCache struct {
	mu    sync.RWMutex
	limit int
	byKey map[string][]Tag
}

// NewTagCache makes a cache for at most limit comments.
func NewTagCache(limit int) *TagCache {
	return &TagCache{limit: limit, byKey: map[string][]Tag{}}
}

// Tags gives the tags of a statement's comments. The caller must not change them.
func (c *TagCache) Tags(src []byte, comments []Span) []Tag {
	switch len(comments) {
	case 0:
		return nil
	case 1:
	default:
		return Tags(src, comments)
	}
	key := src[comments[0].Start:comments[0].End]
	c.mu.RLock()
	tags, ok := c.byKey[string(key)]
	c.mu.RUnlock()
	if ok || len(key) > maxTagComment {
		return tags
	}
	tags = Tags(src, comments)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byKey) >= c.limit {
		clear(c.byKey)
	}
	c.byKey[string(key)] = tags
	return tags
}
