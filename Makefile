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
tools: ## build missing tools (Kubernetes and others) into the cache (10 to 16 min from nothing)
	@cluster/build.sh

cluster-up: ## start a real Kubernetes with DNS, an edge and an ACME CA (8 s if `tools` are built)
	@cluster/up.sh

cluster-down: ## remove the cluster in any state
	@cluster/down.sh

image: node_modules/.package-lock.json ## build Doorplate's image (3 s), and import it into a running cluster
	@cluster/image.sh

.PHONY: release
release: node_modules/.package-lock.json ## build the charts and the image for two architectures, with SBOM, checksums and release notes, in dist/release
	@node test/mutants/full-run.ts
	@node cluster/release-notes.ts >/dev/null
	@cluster/release.sh
	@node cluster/plugin.ts
	@cp dist/plugin/*.tgz dist/plugin/*.tar.gz dist/plugin/*.yaml dist/release/
	@cat dist/plugin/SHA256SUMS >>dist/release/SHA256SUMS
	@node cluster/release-notes.ts >dist/release/notes.md

.PHONY: plugin
plugin: node_modules/.package-lock.json ## build kubectl doorplate for npm, krew and as archives, in dist/plugin (PLUGIN_URL=: the download address)
	@node cluster/plugin.ts

# --- the operator

modules := node_modules/.package-lock.json

.PHONY: demo dev test controllers nodes floor older mutants crds pictures docs check format bench faults models kills load openapi screenshots gitops
demo: $(modules) ## go from a fresh machine to a Live hostname: tools, cluster, image, charts, example; the cluster keeps running
	@cluster/up.sh
	@cluster/image.sh
	@node cluster/demo.ts

dev: $(modules) ## run the operator from source on the cluster of `make demo`; an edit takes effect in 3 s (ROLE=redirector, INSPECT=1 for a debugger)
	@INSPECT=$${INSPECT-} cluster/dev.sh $${ROLE:-operator}

test: $(modules) ## run all tests of CI; ends with `N passed, N failed` (SUITES="checks unit" for some suites)
	@cluster/build.sh
	@test/gitops/install.sh >/dev/null
	@node test/run.ts $(SUITES)

controllers: $(modules) ## run the core suite with Traefik as the edge, and with Contour and Envoy (CONTROLLER=contour for one)
	@node test/controllers/run.ts $(CONTROLLER)

nodes: $(modules) ## test two nodes with IPv4 and IPv6: drain each under a constant client; customers have only IPv6 (3 min)
	@NODES=2 node test/run.ts nodes

floor: $(modules) ## run the suites that need an API server on the oldest Kubernetes that the chart accepts (6 min; 5 more the first time)
	@cluster/build.sh
	@cache=$$(test/floor/build.sh); DOORPLATE_CACHE=$$cache node test/run.ts crds operator

older: $(modules) ## run the suites that issue certificates with the older cert-manager that Doorplate supports (1 min more the first time)
	@CERT_MANAGER=older node test/run.ts demo cluster hurried shipped faults

mutants: $(modules) ## break each guarantee once and expect its test to fail; records the verdicts (CHANGED=1: only the mutants of `make test`)
	@cluster/build.sh
	@test/gitops/install.sh >/dev/null
	@node test/mutants/run.ts --record $(if $(CHANGED),--changed)

models: $(modules) ## check 20,000 random histories of tenants and of hostnames against the models of the rules (RUNS=, HISTORIES=, SEED=)
	@RUNS=$${RUNS:-20000} HISTORIES=$${HISTORIES:-20000} npm run -s jest -- test/unit/domain/rivals test/unit/domain/histories

kills: $(modules) ## kill the operator at every write in each of three ways (`make test`: one way for each state)
	@cluster/build.sh
	@DEATHS=all npm run -s jest -- test/operator/kills

load: $(modules) ## send 100,000 requests at ten times the limit (`make test`: 20,000)
	@cluster/build.sh
	@REQUESTS=$${REQUESTS:-100000} npm run -s jest -- test/load

screenshots: $(modules) ## write images of every state of the page in two themes and three widths to dist/screenshots
	@cluster/build.sh
	@SCREENSHOTS=1 npm run -s jest -- test/page

openapi: $(modules) ## test each operation of the API with 100 examples of schemathesis (EXAMPLES=, `make test`: 6)
	@cluster/build.sh
	@EXAMPLES=$${EXAMPLES:-100} npm run -s jest -- test/api/schemathesis

gitops: $(modules) ## install, upgrade and uninstall Doorplate with the libraries of Flux and Argo CD (first build: 2 min)
	@cluster/build.sh
	@npm run -s jest -- test/installers

faults: $(modules) ## decode a million random and mutated DNS packets (PACKETS=, SEED=)
	@node --max-old-space-size=64 test/fuzz/run.ts

bench: $(modules) ## measure the promised figures and those of peers (ROW=P1,P3 for some rows, LONG=1 for the large sizes, ROW=help)
	@cluster/build.sh
	@node test/bench/run.ts $(ROW)

format: $(modules) ## format all TypeScript (120 columns)
	@oxfmt

check: $(modules) ## check types, lint, format, generated files, and that every mutant applies (a few seconds)
	@node test/run.ts checks

crds: $(modules) ## write crds/, the chart's copies and the generated pages and pictures of docs/, and the testdata of the health checks
	@node operator/generate/generate.ts
	@node test/gitops/testdata.ts
	@node test/guarantees.ts
	@node docs/pictures/draw.ts

pictures: $(modules) ## draw the pictures of the docs: diagrams, the dashboard, and states of the page in Chromium (the recording: docs/pictures/recording.ts)
	@cluster/build.sh
	@node docs/pictures/draw.ts
	@node docs/pictures/dashboard.ts
	@node docs/pictures/page.ts

docs: $(modules) ## the site of the docs, into dist/docs
	@vitepress build docs

# --- dependencies, exactly as package-lock.json has them; npm writes the target itself
node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js (apt-get install nodejs npm); the version is of no matter, the right one is a dependency" >&2; exit 1; }
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@
