package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/planner/sqltext"
)

func TestTags(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"none", "select 1", "[]"},
		{"sqlcommenter", "select 1 /*action='%2Fparam*d',controller='index',framework='spring',traceparent='00-5bd6-01'*/", "[{action /param*d} {controller index} {framework spring}]"},
		{"after the semicolon", "select 1; /*controller='files',team='core'*/", "[{controller files} {team core}]"},
		{"the specification's malformed example", "select 1 /*action='%2Fparam*d',controller='index,'framework='spring',team='a'*/", "[{action /param*d} {team a}]"},
		{"escaped quote", `select 1 /*team='o\'brien'*/`, "[{team o'brien}]"},
		{"encoded quote and comma", "select 1 /*route='%2Fa%27%2C%20b'*/", "[{route /a', b}]"},
		{"plus is a blank, from Go", "select 1 /*route='a+b'*/", "[{route a b}]"},
		{"doubled percent, from Python", "select 1 /*route='%%2Fusers'*/", "[{route /users}]"},
		{"bad encoding stays", "select 1 /*route='%zz'*/", "[{route %zz}]"},
		{"marginalia", "select 1 /*application:Shop,controller:users,action:show,line:/app/x.rb:12:in `y'*/", "[{action show} {application Shop} {controller users} {line /app/x.rb:12:in `y'}]"},
		{"last wins", "/*team:a*/ select /*team='b'*/ 1 -- team:c", "[{team c}]"},
		{"line comment", "select 1 -- team='a',route='/x'", "[{route /x} {team a}]"},
		{"unknown keys", "select 1 /*user_email='a%40b.c',tracestate='x',team='t'*/", "[{team t}]"},
		{"a hint and prose", "/*+ SeqScan(t) */ select /* why: because */ 1", "[]"},
		{"not in a string", "select '/*team=''x''*/'", "[]"},
		{"control characters", "select 1 /*team='a%00%1b[31mb%0a'*/", "[{team a[31mb}]"},
		{"not UTF-8", "select 1 /*team='a%ffb'*/", "[{team a\uFFFDb}]"},
		{"bidi override", "select 1 /*team='a%E2%80%AEb'*/", "[{team ab}]"},
		{"empty", "select 1 /*team=''*/", "[]"},
		{"blanks", "select 1 /* team = 'a' , route = '/x' */", "[{route /x} {team a}]"},
		{"open quote", "select 1 /*team='a*/", "[]"},
		{"case and dashes of keys", "select 1 /*Team='a',db-driver='pg'*/", "[{db_driver pg} {team a}]"},
	} {
		var s sqltext.Scanner
		s.Reset([]byte(c.sql))
		if !s.Next() {
			t.Fatalf("%s: no statement", c.name)
		}
		comments := s.Statement().Comments
		if got := fmt.Sprint(sqltext.Tags([]byte(c.sql), comments)); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.sql, got, c.want)
		}
		cache := sqltext.NewTagCache(4)
		for range 2 {
			if got := fmt.Sprint(cache.Tags([]byte(c.sql), comments)); got != c.want {
				t.Errorf("%s: the cache has %s", c.name, got)
			}
		}
	}
}

func TestTagValuesAreCut(t *testing.T) {
	sql := "select 1 /*team='" + strings.Repeat("ä", 300) + "'*/"
	tags := sqltext.Tags([]byte(sql), []sqltext.Span{{Start: 9, End: len(sql)}})
	if len(tags) != 1 || tags[0].Value != strings.Repeat("ä", 100) {
		t.Errorf("got %v", tags)
	}
}

func TestTeamAndEndpoint(t *testing.T) {
	for _, c := range []struct{ comment, team, endpoint string }{
		{"/*controller='files',action='show',team='core'*/", "core", "files#show"},
		{"/*application:Shop,controller:users*/", "Shop", "users"},
		{"/*route='/a',controller='x',service='s'*/", "s", "/a"},
		{"/*job:Mail*/", "", "Mail"},
		{"/*x:y*/", "", ""},
	} {
		tags := sqltext.Tags([]byte(c.comment), []sqltext.Span{{Start: 0, End: len(c.comment)}})
		if team, endpoint := sqltext.Team(tags), sqltext.Endpoint(tags); team != c.team || endpoint != c.endpoint {
			t.Errorf("%s: team %q endpoint %q", c.comment, team, endpoint)
		}
	}
}
