package sqltext_test

import (
	"testing"
	"time"

	pg "github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// realistic are statements as applications send them, about 150 bytes each.
var realistic = []string{
	`SELECT "users".* FROM "users" WHERE "users"."id" = $1 AND "users"."deleted_at" IS NULL ORDER BY "users"."created_at" DESC LIMIT $2`,
	`SELECT id, user_id, total_cents, status FROM orders WHERE user_id = 48213 AND status IN ('paid', 'shipped') ORDER BY created_at DESC LIMIT 20`,
	`INSERT INTO events (user_id, kind, payload, created_at) VALUES (7, 'click', '{"x":1,"y":2}', now()), (8, 'view', '{"x":3}', now()) RETURNING id`,
	`UPDATE orders SET status = 'paid', total_cents = 1999, updated_at = '2026-01-02 03:04:05.678' WHERE orders.id = 42 AND orders.user_id = 17`,
	`DELETE FROM user_sessions WHERE user_id = 5 AND expires_at < now() - interval '30 days'`,
	`SELECT count(*) FROM notifications n JOIN users u ON u.user_id = n.user_id WHERE u.org_id = 'org1' AND n.read_at IS NULL`,
	`SELECT "public"."User"."id", "public"."User"."email" FROM "public"."User" WHERE ("public"."User"."id" = $1 AND 1=1) LIMIT $2 OFFSET $3`,
	`SELECT o.id, sum(i.price * i.quantity) AS total FROM orders o JOIN items i ON i.order_id = o.id WHERE o.user_id = $1 GROUP BY o.id HAVING sum(i.price) > 100`,
	`WITH recent AS (SELECT user_id, max(created_at) AS last FROM events WHERE kind = 'login' GROUP BY user_id) SELECT * FROM recent WHERE last > now() - interval '1 day'`,
	`select abalance from pgbench_accounts where aid = 73123`,
	`SELECT 1`,
	`SELECT t.id, t.title, CASE WHEN t.done THEN 'done' ELSE 'open' END AS state FROM tasks t WHERE t.project_id = 12 AND t.assignee_id IN (1, 2, 3) /* team='web' */`,
}

// BenchmarkWarm reads the realistic statements and looks up their templates; x-parse is how many times faster that is than parsing the same
// statements with pg_query in the same run.
func BenchmarkWarm(b *testing.B) {
	cache := sqltext.NewCache(1 << 20)
	var s sqltext.Scanner
	var sources [][]byte
	bytes := 0
	for _, sql := range realistic {
		sources = append(sources, []byte(sql))
		bytes += len(sql)
	}
	found := 0
	run := func() {
		for _, src := range sources {
			s.Reset(src)
			for s.Next() {
				if cache.Template(s.Statement()) != nil {
					found++
				}
			}
		}
	}
	run()
	b.ReportAllocs()
	b.SetBytes(int64(bytes))
	for b.Loop() {
		run()
	}
	if found == 0 {
		b.Fatal("no template was found")
	}
	warm := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	const rounds = 20
	begin := time.Now()
	for range rounds {
		for _, sql := range realistic {
			if _, err := pg.Parse(sql); err != nil {
				b.Fatal(err)
			}
		}
	}
	parse := float64(time.Since(begin).Nanoseconds()) / rounds
	b.ReportMetric(warm/float64(len(realistic)), "ns/stmt")
	b.ReportMetric(parse/warm, "x-parse")
}
