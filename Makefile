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
tools: ## build Kubernetes and its company into the cache, as far as they are missing (from nothing 12 to 18 min)
	@cluster/build.sh

cluster-up: ## a real Kubernetes with DNS, an edge and an ACME CA (8 s when `tools` are built)
	@cluster/up.sh

cluster-down: ## end it, whatever state it is in
	@cluster/down.sh

image: node_modules/.package-lock.json ## build Doorplate's image (3 s), and put it into the cluster when one is up
	@cluster/image.sh

# --- the operator: types, lint, crds, test, demo, mutants

# --- dependencies, exactly as package-lock.json has them; npm writes the target itself
node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js (apt-get install nodejs npm); the version is of no matter, the right one is a dependency" >&2; exit 1; }
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@
