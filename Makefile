# GNU make. `make` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- the local cluster: cluster/README.md

.PHONY: tools cluster-up cluster-down image
tools: ## build Kubernetes and its company into the cache, as far as they are missing (from nothing 10 to 16 min)
	@cluster/build.sh

cluster-up: ## a real Kubernetes with DNS, an edge and an ACME CA (8 s when `tools` are built)
	@cluster/up.sh

cluster-down: ## end it, whatever state it is in
	@cluster/down.sh

image: node_modules/.package-lock.json ## build Doorplate's image (3 s), and put it into the cluster when one is up
	@cluster/image.sh

.PHONY: release
release: node_modules/.package-lock.json ## the charts and the image for two processors, with SBOM, checksums and the changelog's notes, into dist/release
	@node test/mutants/full-run.ts
	@node cluster/release-notes.ts >/dev/null
	@cluster/release.sh
	@node cluster/plugin.ts
	@cp dist/plugin/*.tgz dist/plugin/*.tar.gz dist/plugin/*.yaml dist/release/
	@cat dist/plugin/SHA256SUMS >>dist/release/SHA256SUMS
	@node cluster/release-notes.ts >dist/release/notes.md

.PHONY: plugin
plugin: node_modules/.package-lock.json ## kubectl doorplate for npm, krew and as archives, into dist/plugin (PLUGIN_URL= where they will be downloaded from)
	@node cluster/plugin.ts

# --- the operator

modules := node_modules/.package-lock.json

.PHONY: demo dev test controllers nodes floor mutants crds docs check format bench faults models kills load openapi screenshots gitops
demo: $(modules) ## from a fresh machine to a Live hostname: tools, cluster, image, charts, example; leaves it running
	@cluster/up.sh
	@cluster/image.sh
	@node cluster/demo.ts

dev: $(modules) ## the operator from source on the cluster that `make demo` leaves; an edit takes effect in 3 s (ROLE=redirector, INSPECT=1 for a debugger)
	@INSPECT=$${INSPECT-} cluster/dev.sh $${ROLE:-operator}

test: $(modules) ## all that CI runs; ends with `N passed, N failed` (SUITES="checks unit" for some)
	@cluster/build.sh
	@test/gitops/install.sh >/dev/null
	@node test/run.ts $(SUITES)

controllers: $(modules) ## the core suite at an edge by Traefik, and by Contour with Envoy (CONTROLLER=contour for one)
	@node test/controllers/run.ts $(CONTROLLER)

nodes: $(modules) ## two nodes with IPv4 and IPv6: each is drained under a constant client, and customers have IPv6 alone (3 min)
	@NODES=2 node test/run.ts nodes

floor: $(modules) ## the suites that need an API server, by the oldest Kubernetes that the chart accepts (6 min; the first time 5 more)
	@cluster/build.sh
	@cache=$$(test/floor/build.sh); DOORPLATE_CACHE=$$cache node test/run.ts crds operator

mutants: $(modules) ## break each guarantee once; its test must fail; records the verdicts (CHANGED=1: only those that `make test` would run)
	@cluster/build.sh
	@test/gitops/install.sh >/dev/null
	@node test/mutants/run.ts --record $(if $(CHANGED),--changed)

models: $(modules) ## 20,000 random histories of tenants and hostnames each against the models of the rules (RUNS=, HISTORIES=, SEED=)
	@RUNS=$${RUNS:-20000} HISTORIES=$${HISTORIES:-20000} npm run -s jest -- test/unit/domain/rivals test/unit/domain/histories

kills: $(modules) ## the operator dies at every write in each of three ways (`make test`: one way for each state)
	@cluster/build.sh
	@DEATHS=all npm run -s jest -- test/operator/kills

load: $(modules) ## 100,000 requests at ten times the limit (`make test`: 20,000)
	@cluster/build.sh
	@REQUESTS=$${REQUESTS:-100000} npm run -s jest -- test/load

screenshots: $(modules) ## images of every state of the page in two themes and three widths, into dist/screenshots
	@cluster/build.sh
	@SCREENSHOTS=1 npm run -s jest -- test/page

openapi: $(modules) ## 100 examples for each operation of the API by schemathesis (EXAMPLES=, `make test`: 6)
	@cluster/build.sh
	@EXAMPLES=$${EXAMPLES:-100} npm run -s jest -- test/api/schemathesis

gitops: $(modules) ## Doorplate installed, upgraded and uninstalled by the libraries of Flux and Argo CD (first build: 2 min)
	@cluster/build.sh
	@npm run -s jest -- test/installers

faults: $(modules) ## a million random and mutated DNS packets through the decoder (PACKETS=, SEED=)
	@node --max-old-space-size=64 test/fuzz/run.ts

bench: $(modules) ## what is promised in figures, beside peers (ROW=P1,P3 for some rows, LONG=1 for the large sizes, ROW=help)
	@cluster/build.sh
	@node test/bench/run.ts $(ROW)

format: $(modules) ## format all TypeScript (120 columns)
	@oxfmt

check: $(modules) ## types, lint, format, generated files, does every mutant still apply: a few seconds
	@node test/run.ts checks

crds: $(modules) ## write crds/, the chart's copies and the generated pages and pictures of docs/, and the testdata of the health checks
	@node operator/generate/generate.ts
	@node test/gitops/testdata.ts
	@node test/guarantees.ts
	@node docs/pictures/draw.ts

docs: $(modules) ## the site of the docs, into dist/docs
	@vitepress build docs

# --- dependencies, exactly as package-lock.json has them; npm writes the target itself
node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js (apt-get install nodejs npm); the version is of no matter, the right one is a dependency" >&2; exit 1; }
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@
