# esshadow: `make` alone prints this list.
.DEFAULT_GOAL := help
SHELL := /bin/bash
GO ?= go
GOLANGCI_VERSION := v2.15.0
BIN := bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
export CGO_ENABLED ?= 0

.PHONY: help
help: ## print this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## the whole path on the embedded engine: capture, replay, report
	@$(BIN)/esshadow demo

.PHONY: build
build: ## build bin/esshadow
	@mkdir -p $(BIN)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN)/esshadow ./cmd/esshadow

.PHONY: cross
cross: ## build and vet for every supported system
	@for t in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do \
	  echo "== $$t"; \
	  GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build -o /dev/null ./cmd/esshadow && \
	  GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet ./... || exit 1; \
	done

.PHONY: test
test: ## all tests that need nothing but Go
	$(GO) test ./...

.PHONY: race
race: ## the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

.PHONY: lint
lint: $(BIN)/golangci-lint-$(GOLANGCI_VERSION) ## golangci-lint, pinned
	$(BIN)/golangci-lint-$(GOLANGCI_VERSION) run ./...
	$(BIN)/golangci-lint-$(GOLANGCI_VERSION) fmt --diff ./...

$(BIN)/golangci-lint-$(GOLANGCI_VERSION):
	@mkdir -p $(BIN)
	GOBIN=$(CURDIR)/$(BIN)/tmp $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(BIN)/tmp/golangci-lint $@ && rmdir $(BIN)/tmp

FUZZTIME ?= 20s
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s) each
	@grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r d; do \
	  $(GO) test -list '^Fuzz' $$d | grep '^Fuzz' | while read -r f; do \
	    echo "== $$d $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$d || exit 1; \
	  done || exit 1; \
	done

.PHONY: cover
cover: ## test coverage by package, and coverage.out
	$(GO) test -coverprofile=coverage.out ./... && $(GO) tool cover -func=coverage.out | tail -1

.PHONY: bench
bench: build ## benchmarks: packages in MB/s, the proxy paired with nginx and others, the replayer's timing
	@scripts/bench.sh

.PHONY: golden
golden: ## rewrite the golden files and docs/cli.md after a wanted change
	ESSHADOW_GOLDEN=1 $(GO) test ./...

.PHONY: test-engine
test-engine: build ## whole runs on real OpenSearch and Elasticsearch nodes (JDK and Maven)
	@scripts/test-engine.sh

.PHONY: test-faults
test-faults: ## faults of disk, nodes, clients, mirror and the process itself, and a soak at 5 000 searches a second (ESSHADOW_SOAK=10m; 30s)
	$(GO) test -tags faults -run '^TestFaults' -count=1 -p 1 -v -timeout 2h ./cmd/esshadow

.PHONY: test-long
test-long: ## the tests of timing and load that take minutes
	ESSHADOW_LONG=1 $(GO) test -count=1 -p 1 -timeout 20m ./...
