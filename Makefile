# foreshard: two commands on a fresh Debian or Ubuntu with Go, gcc, make, Node.js, a JDK and Maven: `make demo` and `make test`.

GO          ?= go
FUZZTIME    ?= 10s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The packages with concurrency; the race detector compiles the C libraries once more, so it runs over these only.
RACE := $(patsubst %,./%/...,$(wildcard capture analysis/pipeline analysis/partition planner/router cmd/foreshard/service))

# Build information comes from git where git can tell.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo true || echo false)

export CGO_ENABLED = 1
export GOFLAGS     = -buildvcs=$(VCS)

.DEFAULT_GOAL := help
.PHONY: help build demo live deps test lint race bench fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/foreshard (the first time, a C parser and a database engine are compiled in: some minutes)
	@sh web/vendor.sh
	$(GO) build -o bin/foreshard ./cmd/foreshard

demo: build ## judge the shipped traffic of a real server under two candidates; writes demo-out/report.html
	@rm -rf demo-out && mkdir -p demo-out
	@bin/foreshard analyze --schema fixtures/app/schema.sql \
		--candidate fixtures/app/candidates/by-org.yaml --candidate fixtures/app/candidates/by-user.yaml \
		--log-line-prefix '%m [%p] [user=%u,db=%d,app=%a] ' --warehouse demo-out/warehouse \
		--output html=demo-out/report.html --output json=demo-out/report.json fixtures/traffic/atelier.log.zst
	@echo
	@echo "report: file://$(CURDIR)/demo-out/report.html"

live: build ## PostgreSQL, its log through capture, Kafka and two planners to a report, all started here; is every count exact?
	@$(GO) run ./fixtures/walkthrough

# Debian's packages that tests use where they are missing: a browser. Without root they must be there already.
deps:
	@sh web/vendor.sh
	@$(GO) run ./fixtures/pgserver/cmd/pginstall
	@if [ "$$FORESHARD_KAFKA" != off ]; then $(GO) run ./fixtures/kafka/cmd/kafkainstall; fi
	@if ! command -v chromium >/dev/null 2>&1; then \
		if [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
		else echo "chromium is missing: install it (apt-get install chromium), or run make test as root" >&2; exit 1; fi; \
	fi

test: deps lint ## everything: real PostgreSQL servers, a browser, vet, staticcheck, all tests, the race detector
	$(GO) test -timeout 20m ./...
	$(MAKE) --no-print-directory race

race: ## the packages with concurrency under the race detector
	$(GO) test -race -short -timeout 15m $(RACE)

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go' -not -path './.cache/*' -not -path './node_modules/*')); \
		if [ -n "$$unformatted" ]; then echo "gofmt would change:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

bench: build ## ratios on this machine: against pgBadger and pg_query, through Kafka, beside pgbench, memory, reports; some 10 minutes
	$(GO) run ./fixtures/bench
	$(GO) test -run '^$$' -bench . -benchtime 1s $$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n 1 dirname | sort -u)

fuzz: ## every fuzz target for FUZZTIME (default 10s)
	@set -e; for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -d ' ' -f 2); do \
			echo "== $$dir $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$dir; \
		done; \
	done

clean: ## remove what was built; installed servers and caches of Go and npm stay
	rm -rf bin demo-out .cache/bench
