# Everything a newcomer needs: `make demo` and `make test` do all the set-up themselves.
# A second run is quick: what is installed is remembered by stamp files inside the environment.

VENV ?= .venv
BIN := $(VENV)/bin
# Tests run in that many processes: three more than there are processors, for some tests wait for a controller or a job.
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 1) + 3 )))
# Tests of time run beside at most one other, and only where that has a processor of its own.
LANES ?= $(shell [ $$(nproc 2>/dev/null || echo 1) -ge 2 ] && echo 2 || echo 1)
PYTEST_ARGS ?=
# make mutate MUTATE_ARGS="live/core/losses.py --seconds 300 --seed 7 --verbose"
MUTATE_ARGS ?=
# What `make soak` draws its examples from.
SEED ?= 1
export PYTHON
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
export HYPOTHESIS_PROFILE ?= ci
# A site's modules may have set these for another Python, and a user's pip may install elsewhere.
unexport PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX
# Without bytecode every process would compile all libraries again, and pytest rewrite all tests.
unexport PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED
# Files of tests are UTF-8, whatever the locale.
export PYTHONUTF8 := 1

# What each room of tests takes, and when `make test` began.
COSTS := build/costs.jsonl
BEGAN := build/began
# What the quick benchmarks print while tests run.
MEASURED := build/bench-quick.txt
PYTEST := $(BIN)/python -m pytest --quiet --slow

RUN_READY := $(VENV)/.run-ready
TEST_READY := $(VENV)/.test-ready
LOCK := $(BIN)/python -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test quick soak mutate began prepared lint style types contracts audit kernels tests tests-at-once tests-of-time \
	tests-beside-benchmarks costs docs wheelhouse bench bench-quick \
	system schemas lock clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(RUN_READY)  ## set up, compare all policies on a bundled scenario, write an HTML report
	@$(BIN)/penstock demo

test: began prepared audit tests-beside-benchmarks tests-of-time costs  ## set up everything and check everything (what .ci/run does)
	@echo "all checks passed in $$(( ($$(date +%s) - $$(cat $(BEGAN)) + 30) / 60 )) minutes"

quick: lint  ## an answer within a minute: lint, types, and tests of what changed (or the fastest thousand)
	@echo "tests of what changed …"
	@HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest --quiet -r fE --workers 2 -m "not timing" --within 35 \
		$$($(BIN)/python tests/quick.py) $(PYTEST_ARGS)

soak: $(TEST_READY)  ## what is too long for every change; before a release (SEED=7 draws other examples)
	@echo "soak: long runs …"
	@$(PYTEST) --soak --workers $(WORKERS) -m "soak and not timing" $(PYTEST_ARGS)
	@echo "soak: of time and memory, one at a time …"
	@$(PYTEST) --soak -m "soak and timing" $(PYTEST_ARGS)
	@echo "soak: many random examples, seed $(SEED) …"
	@HYPOTHESIS_PROFILE=soak $(PYTEST) --soak --workers $(WORKERS) -m "hypothesis and not timing" --hypothesis-seed=$(SEED) $(PYTEST_ARGS)

mutate: $(TEST_READY)  ## change rules a little, one place at a time; which changes does no test notice?
	@$(BIN)/python -m scripts.mutate $(MUTATE_ARGS)

began:
	@mkdir -p build && date +%s >$(BEGAN) && rm -f $(COSTS)

# Debian's packages come, and kernels are compiled once for all tests, while another processor looks at the types and
# builds the site.
prepared: $(TEST_READY)
	@$(MAKE) --no-print-directory system & debian=$$!; \
	$(MAKE) --no-print-directory kernels & compiling=$$!; \
	$(MAKE) --no-print-directory lint docs || { kill $$compiling $$debian 2>/dev/null; exit 1; }; \
	wait $$compiling || { kill $$debian 2>/dev/null; exit 1; }; wait $$debian

lint: style types contracts  ## ruff, mypy --strict and the import contracts

style: $(TEST_READY)
	@echo "style …"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "run: $(BIN)/ruff format ."; exit 1; }

types: $(TEST_READY)
	@echo "types …"
	@$(BIN)/mypy --no-error-summary

contracts: $(TEST_READY)
	@echo "import contracts …"
	@$(BIN)/lint-imports

audit: $(TEST_READY)  ## known weaknesses of what we depend on, where pip-audit can be had
	@echo "audit …"
	@$(BIN)/python -m scripts.audit

kernels: $(TEST_READY)
	@echo "kernels …"
	@$(BIN)/python tests/kernels/warm_up.py

tests: tests-at-once tests-of-time  ## the tests alone (PYTEST_ARGS="-k engine" chooses some)

# With a space, pytest would take a file that is there for a test to collect.
tests-at-once: $(TEST_READY)
	@echo "tests …"
	@$(PYTEST) --workers $(WORKERS) -m "not timing" --costs=$(COSTS) $(PYTEST_ARGS)

# Those that take all of a processor, or that need nearly all of one, have one of the two lanes: the marker `crowd`.
tests-of-time: $(TEST_READY)
	@echo "tests of time and memory, in $(LANES) lanes …"
	@$(PYTEST) --workers $(LANES) -m timing --costs=$(COSTS) $(PYTEST_ARGS); status=$$?; [ $$status -eq 0 ] || [ $$status -eq 5 ]

# Quick benchmarks only find what breaks, so they need no machine of their own. The site has been built before.
tests-beside-benchmarks: $(TEST_READY)
	@$(MAKE) --no-print-directory bench-quick >$(MEASURED) 2>&1 & measuring=$$!; \
	SITE_BUILT=$(CURDIR)/build/site $(MAKE) --no-print-directory tests-at-once || { kill $$measuring 2>/dev/null; exit 1; }; \
	wait $$measuring; status=$$?; cat $(MEASURED); exit $$status

costs:
	@$(BIN)/python tests/budget.py $(COSTS)

docs: $(TEST_READY)  ## build the site into build/site
	@echo "docs …"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

wheelhouse: $(TEST_READY)  ## every wheel for machines without a network, into build/wheelhouse
	@echo "wheelhouse …"
	@PYTHON=$(BIN)/python scripts/wheelhouse.sh build/wheelhouse

bench: $(TEST_READY) system  ## measure speed against a C loop and SimGrid
	@echo "benchmarks …"
	@$(BIN)/python -m benchmarks

bench-quick: $(TEST_READY)
	@echo "benchmarks, quick …"
	@$(BIN)/python -m benchmarks --quick

system:
	@echo "system packages …"
	@scripts/system-packages.sh

schemas: $(BIN)/python  ## write docs/reference/schemas anew, from the code and from what commands print
	@$(BIN)/python -m scripts.schemas

lock: $(BIN)/python  ## choose new versions of everything for requirements/*.txt
	@echo "lock …"
	@$(BIN)/python -m uv --version >/dev/null 2>&1 || $(BIN)/python -m pip -qq install uv
	@$(LOCK) --output-file requirements/uv.txt requirements/uv.in
	@$(LOCK) --extra all --group build --group test --group docs --output-file requirements/test.txt pyproject.toml
	@$(LOCK) --constraint requirements/test.txt --extra all --group build --output-file requirements/run.txt pyproject.toml

clean:  ## remove the environment and all that was built
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@echo "environment …"
	@scripts/make-venv.sh $(VENV)

$(RUN_READY): requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "packages to run penstock …"
	@scripts/python-packages.sh $(VENV) $<
	@touch $@

# The test set contains the run-time set, in the same versions.
$(TEST_READY): requirements/test.txt pyproject.toml | $(BIN)/python
	@echo "packages to test penstock …"
	@scripts/python-packages.sh $(VENV) $<
	@touch $(RUN_READY) $@
