# The make targets of slurm-operator. Each works as the first command on a fresh machine; `make help` lists them.
SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Tools keep their own caches inside the checkout, where `make clean` finds them.
export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compile
INSTALLED := node_modules/.installed

.DEFAULT_GOAL := help
.PHONY: help demo demo-down images release test check generate bench soak clean format

help: ## list the make targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

$(INSTALLED): package.json package-lock.json $(wildcard */package.json packages/*/package.json) .npmrc
	@command -v npm >/dev/null || { echo "npm is missing: install Node 20 or later with npm, then run this again"; exit 1; }
	@echo "▸ installing the toolchain that package-lock.json pins"
	@( while sleep 20 >/dev/null 2>&1; do echo "  … installing, $$SECONDS s so far"; done ) & life=$$!; \
		registry=$$(npm config get registry); \
		node -e 'fetch(process.argv[1], { signal: AbortSignal.timeout(15e3) }).catch(() => console.log(process.argv[2]))' "$$registry" \
			"  $$registry does not answer: without a network npm can install nothing; npm keeps trying" & look=$$!; \
		trap "kill $$life $$look 2>/dev/null" EXIT; \
		npm install --no-save --no-progress --loglevel=error --fetch-retries=3 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 || { \
			echo "the toolchain could not be installed: npm needs its registry, $$registry; check the network, then run this again"; \
			exit 1; }
	@touch $@

demo: $(INSTALLED) ## run a whole Slurm cluster on this machine, or on the one that KUBECONFIG names (REGISTRY=…, VALUES=file.yaml)
	@node tools/targets/demo.ts

demo-down: $(INSTALLED) ## stop the demo and remove every trace of it
	@node tools/targets/demo-down.ts

images: $(INSTALLED) ## build every image as an archive, without Docker
	@node tools/targets/images.ts

release: $(INSTALLED) ## build a release: make release VERSION=1.2.3 REGISTRY=registry.example.com/hpc (PUSH=yes publishes it)
	@node tools/targets/release.ts

test: $(INSTALLED) ## run every test (ONLY=part/of/path narrows, TIER=unit|integration|sandbox|cluster|vm picks; KUBECONFIG=… TIER=cluster: on that cluster)
	@node tools/targets/test.ts

check: $(INSTALLED) ## types, lint, format, generated code, unit tests
	@node tools/targets/check.ts

generate: $(INSTALLED) ## write all generated code
	@node tools/targets/generate.ts

format: $(INSTALLED) ## format the sources
	@XDG_CACHE_HOME=$(CURDIR)/node_modules/.cache biome check --write .

bench: $(INSTALLED) ## run a benchmark: make bench BENCH=<name>
	@node tools/targets/bench.ts

soak: $(INSTALLED) ## random operations under load: make soak OPS=200 SEED=1 (FAULT=all, SLURM=24.11), or a crash at every write: make soak CRASH=all
	@node e2e/src/soak.ts

# Not $(MAKE): its lines run even under `make -n`.
clean: ## remove everything the other targets created on this machine
	@if [ -e "$${XDG_CACHE_HOME:-$$HOME/.cache}/slurm-operator" ] || [ -e "$${XDG_STATE_HOME:-$$HOME/.local/state}/slurm-operator" ]; then \
		make --no-print-directory --silent $(INSTALLED) && node tools/targets/clean.ts; fi
	@rm -rf node_modules */node_modules packages/*/node_modules packages/*/dist
