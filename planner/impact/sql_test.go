package impact

import "testing"

func TestName(t *testing.T) {
	for key, want := range map[string][2]string{
		"public.a": {"a", "a"}, "app.a": {"app.a", "app.a"}, "public.Odd": {`"Odd"`, `'"Odd"'`}, "Weird Schema.T.1": {`"Weird Schema"."T.1"`, `'"Weird Schema"."T.1"'`},
		"public.order": {`"order"`, `'"order"'`}, "bare": {"bare", "bare"}, `public.it's"`: {`"it's"""`, `'"it''s"""'`}, "public.1a": {`"1a"`, `'"1a"'`}, "public.a$1": {"a$1", "a$1"},
	} {
		if name(key) != want[0] || yaml(key) != want[1] {
			t.Errorf("%s is %s in SQL and %s in YAML, want %v", key, name(key), yaml(key), want)
		}
	}
}
