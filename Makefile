# setup, run, test and check are all that is needed; Python 3.11+ is the only thing a machine must have.

PYTHON ?= python3
UV := .uv/bin/uv
READY := .venv/.ready
BIN := .venv/bin
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web --no-update-notifier
MODULES := web/node_modules/.package-lock.json
DASHBOARD := src/spanwise/web_dist/index.html
# Groups keep tests in one worker that share a process; the order is that of tests/conftest.py.
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup run demo test test-all test-profile coverage bench bench-peers check format docs screenshots lock clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

setup: $(READY) $(DASHBOARD)  ## install everything, locked, into .venv; build the dashboard

run: $(READY) $(DASHBOARD)  ## start the service on http://localhost:8787
	$(BIN)/spanwise serve

demo: $(READY) $(DASHBOARD)  ## the service with a month of a simulated fleet, and live traffic
	$(BIN)/spanwise demo

test: $(READY) $(DASHBOARD)  ## run all tests, each behaviour once
	$(NPM) test
	$(PYTEST)

test-all: $(READY) $(DASHBOARD)  ## also the long tail: every width, theme and kill point, soaks
	$(NPM) test
	$(PYTEST) -m ""

test-profile: $(READY) $(DASHBOARD)  ## what each test file costs: seconds, batches, engine statements
	$(PYTEST) -p support.profiling

coverage: $(READY) $(DASHBOARD)  ## run all tests and show the branch coverage of src
	$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html

bench: $(READY)  ## measure the real service; BENCH_QUICK=1 takes about a minute
	$(BIN)/python -m bench

bench-peers: $(READY)  ## compare with Phoenix and MLflow, installed into .peers
	BENCH_PARTS=peers $(BIN)/python -m bench

check: $(READY) $(MODULES)  ## lint, types, import rules, commit subjects
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/commits
	$(NPM) run -s check

format: $(READY) $(MODULES)  ## apply the formatter and the safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NPM) run -s format

docs: $(READY)  ## write the tables in the docs and the OpenAPI document
	$(BIN)/python docs/generate.py

screenshots: $(READY) $(DASHBOARD)  ## take the README's pictures from the demo; needs a Chromium
	$(BIN)/python docs/screenshots.py

lock: $(UV)  ## regenerate requirements/*.txt from pyproject.toml
	$(UV) pip compile -q --universal --no-annotate --generate-hashes --upgrade requirements/uv.in -o requirements/uv.txt
	$(UV) pip compile -q --universal --generate-hashes --upgrade pyproject.toml -o requirements/runtime.txt
	$(UV) pip compile -q --universal --generate-hashes pyproject.toml --group dev -c requirements/runtime.txt --override requirements/overrides.in -o requirements/dev.txt

clean:  ## remove everything that setup made (data stays)
	rm -rf .venv .uv .peers dist web/node_modules src/spanwise/web_dist

# uv comes from the package index, pinned by hash, so that nothing has to be installed beforehand.
$(UV): requirements/uv.txt
	rm -rf .uv
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Spanwise needs Python 3.11 or newer; name one with make PYTHON=...")'
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(READY): $(UV) requirements/dev.txt pyproject.toml
	$(UV) venv -q --allow-existing --python $(PYTHON) .venv
	$(UV) pip sync -q --compile-bytecode --python $(BIN)/python --require-hashes requirements/dev.txt
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	@touch $@

# Node and npm are packages of .venv, so that nothing has to be installed for them either.
$(MODULES): web/package-lock.json | $(READY)
	$(NPM) ci --silent
	@touch $@

$(DASHBOARD): $(MODULES) $(shell find web docs/snippets -type f -not -path '*/node_modules/*' -not -name '*.gen.ts')
	$(NPM) run -s build
