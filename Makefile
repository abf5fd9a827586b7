# Every command a person needs; `make demo` and `make test` each start from nothing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
LAB_STAMP := .venv/.lab-ready
BENCH_STAMP := .venv/.bench-ready
WEB_STAMP := web/node_modules/.package-lock.json
# Slow tests wait for processes half of their time: twice as many workers keep all processors busy.
WORKERS := $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

# Many tests begin a Python of their own: what is compiled once is kept, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

.PHONY: help setup demo network survey soak literature test slow test-slow compose-check exhaustive web check format docs wheel release bench bench-quick clean

help:            ## list the commands
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  +##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

setup: $(STAMP)  ## create .venv with everything installed

# uv is used when it is there (three times faster), plain venv and pip otherwise.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mixtally needs Python 3.11 or newer: set PYTHON=..."; exit 1; }
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) .venv && uv pip install --quiet --python $(BIN)/python -e '.[$(1)]'; \
	else \
	  $(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(1)]'; \
	fi
endef

$(STAMP): pyproject.toml
	$(call install,dev)
	@touch $@ $(LAB_STAMP)

# The command line alone: what `make demo` needs, a tenth of the rest.
$(LAB_STAMP): pyproject.toml
	$(call install,lab)
	@touch $@

$(BENCH_STAMP): $(STAMP)
	@if command -v uv >/dev/null 2>&1; then \
	  uv pip install --quiet --python $(BIN)/python -e '.[bench]'; \
	else \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'; \
	fi
	@touch $@

demo: $(LAB_STAMP)  ## count 336,776 flights privately and draw the result
	@$(BIN)/mixtally demo --out out/demo

network: $(STAMP)  ## mixes, collector, 2,000 devices as processes here; KILL=1 kills roles meanwhile
	@$(BIN)/python scripts/network.py $(if $(KILL),--kill)

survey: $(STAMP) $(WEB_STAMP)  ## the page with 100 people in Chromium and 1,000 in Node; three mixes and a collector here
	@$(BIN)/python scripts/survey.py

soak: $(STAMP)   ## 365 rounds with accidents, on processes and a fast clock; ROUNDS= SEED=
	@PYTHONPATH=tests:. $(BIN)/python -m survive.year --json out/soak/report.json \
	  $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED))

literature: $(STAMP)  ## compute every number of the founding documents again; a page in out/literature
	@$(BIN)/python -m literature

test: $(STAMP)   ## run the quick tests: four minutes on two idle cores
	@$(BIN)/pytest -n auto --dist worksteal -m "not slow and not seconds and not exhaustive"

slow: $(STAMP)   ## run the tests that need seconds or minutes
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "(slow or seconds) and not exhaustive"

test-slow: $(STAMP)  ## run the quick and the slow tests in one go, as CI does
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not exhaustive"

compose-check: $(STAMP)  ## run the steps of deploy/: image, units, proxies; says what is skipped
	@$(BIN)/pytest -n 0 -rs tests/deploy

exhaustive: $(STAMP)  ## run all cases of which `make slow` runs a sample: before a release
	@$(BIN)/pytest -n auto --dist worksteal -m exhaustive

# Node's packages, as the lock file names them.
$(WEB_STAMP): web/package-lock.json
	@command -v npm >/dev/null 2>&1 || { echo "the device in JavaScript needs Node 20 and npm"; exit 1; }
	@npm --prefix web ci --no-fund --no-audit --silent
	@touch $@

web: $(STAMP) $(WEB_STAMP)  ## check and test the device in JavaScript, beside the one in Python
	@npm --prefix web run --silent check
	@npm --prefix web test --silent
	@$(BIN)/pytest -q tests/web -m "not slow and not seconds and not exhaustive"

check: $(STAMP)  ## format, lint, types, import contracts, words
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python scripts/check_words.py

format: $(STAMP) ## rewrite the code in the house style
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(STAMP)   ## build the documentation site in out/site; needs no network
	@NO_MKDOCS_2_WARNING=true $(BIN)/python -m mkdocs build --quiet --strict
	@echo "open out/site/index.html"

wheel: $(STAMP)  ## build the wheel in dist
	@$(BIN)/python -m hatchling build -t wheel

release: $(STAMP)  ## wheel, sdist, SBOM, provenance, SHA256SUMS in dist; built twice and compared
	@$(BIN)/python scripts/release.py $(if $(DIRTY),--allow-dirty)

bench: $(BENCH_STAMP)  ## ratios to peers and to the machine's limit; in out/bench as JSON and SVG
	@$(BIN)/python -m bench --json out/bench/bench.json --plot out/bench/bench.svg

bench-quick: $(BENCH_STAMP)  ## try that the benchmarks run; their numbers mean nothing
	@$(BIN)/python -m bench --quick --json out/bench/quick.json --plot out/bench/quick.svg

clean:           ## remove everything the commands made
	@rm -rf .venv out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache dist
