package resolve

import "github.com/foreshard/foreshard/planner/facts"

// extFunction is a function of a common extension.
type extFunction struct {
	vol facts.Volatility
	typ string
	set bool
}

// extensionFunctions are the functions of extensions that PostgreSQL ships and applications use, where the schema dump only says
// CREATE EXTENSION: uuid-ossp, pgcrypto, pg_trgm, unaccent, fuzzystrmatch, hstore, tablefunc left out for what it reads.
var extensionFunctions = map[string]extFunction{
	"uuid_generate_v1":   {vol: facts.Volatile, typ: "uuid"},
	"uuid_generate_v1mc": {vol: facts.Volatile, typ: "uuid"},
	"uuid_generate_v4":   {vol: facts.Volatile, typ: "uuid"},
	"uuid_generate_v3":   {typ: "uuid"},
	"uuid_generate_v5":   {typ: "uuid"},
	"uuid_nil":           {typ: "uuid"},
	"uuid_ns_dns":        {typ: "uuid"},
	"uuid_ns_url":        {typ: "uuid"},
	"uuid_ns_oid":        {typ: "uuid"},
	"uuid_ns_x500":       {typ: "uuid"},

	"gen_random_bytes":      {vol: facts.Volatile, typ: "bytea"},
	"gen_salt":              {vol: facts.Volatile, typ: "text"},
	"crypt":                 {typ: "text"},
	"digest":                {typ: "bytea"},
	"hmac":                  {typ: "bytea"},
	"encrypt":               {typ: "bytea"},
	"decrypt":               {typ: "bytea"},
	"encrypt_iv":            {typ: "bytea"},
	"decrypt_iv":            {typ: "bytea"},
	"pgp_sym_encrypt":       {vol: facts.Volatile, typ: "bytea"},
	"pgp_sym_encrypt_bytea": {vol: facts.Volatile, typ: "bytea"},
	"pgp_sym_decrypt":       {typ: "text"},
	"pgp_sym_decrypt_bytea": {typ: "bytea"},
	"pgp_pub_encrypt":       {vol: facts.Volatile, typ: "bytea"},
	"pgp_pub_decrypt":       {typ: "text"},
	"armor":                 {typ: "text"},
	"dearmor":               {typ: "bytea"},

	"similarity":               {typ: "float4"},
	"word_similarity":          {typ: "float4"},
	"strict_word_similarity":   {typ: "float4"},
	"show_trgm":                {typ: "_text"},
	"set_limit":                {vol: facts.Volatile, typ: "float4"},
	"show_limit":               {vol: facts.Stable, typ: "float4"},
	"unaccent":                 {vol: facts.Stable, typ: "text"},
	"levenshtein":              {typ: "int4"},
	"levenshtein_less_equal":   {typ: "int4"},
	"soundex":                  {typ: "text"},
	"metaphone":                {typ: "text"},
	"dmetaphone":               {typ: "text"},
	"difference":               {typ: "int4"},
	"akeys":                    {typ: "_text"},
	"avals":                    {typ: "_text"},
	"hstore_to_json":           {typ: "json"},
	"hstore_to_jsonb":          {typ: "jsonb"},
	"dblink":                   {vol: facts.VolUnknown, typ: "record", set: true},
	"dblink_exec":              {vol: facts.VolUnknown, typ: "text"},
	"dblink_connect":           {vol: facts.VolUnknown, typ: "text"},
	"pg_stat_statements_reset": {vol: facts.Volatile},
}

// extensionOperators are the operators of pg_trgm, hstore, ltree, pgvector and PostGIS with the type they give; all are immutable.
var extensionOperators = map[string]string{
	"%": "bool", "<%": "bool", "%>": "bool", "<<%": "bool", "%>>": "bool", "<<->": "float4", "<->>": "float4", "<->>>": "float4", "<<<->": "float4",
	"<#>": "float8", "<=>": "float8", "<+>": "float8", "<~>": "float8", "<%>": "float8", "~>": "bool", "?~": "bool", "?@": "bool", "<->": "float8",
}
