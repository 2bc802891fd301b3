# Every task of the project. A fresh machine needs Python 3.11 or newer, make, and nothing else.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
K ?=
COVERAGE ?=
TESTS := tests/unit tests/scenarios tests/operators tests/examples tests/typing tests/node tests/security tests/explore
# Tests take twice as long where it is measured what they reach: only those of the runtime are.
COVERING := tests/unit/core tests/unit/client tests/unit/runtime tests/unit/api tests/unit/testing tests/unit/cli \
	tests/unit/test_docs.py tests/scenarios tests/examples
# What `make explore` may take for all operators together: what does not fit is sampled, and counted.
EXPLORE_SECONDS := 180
# What pytest ends with when no test was selected.
NOTHING_RAN := 5
# Tests with processes wait more than they work: beside the others they take no time of their own.
WAITING := tests/node tests/security tests/operators/klight tests/operators/portal
MODELLED := $(filter-out $(WAITING),$(wildcard tests/operators/*))
OTHERS := $(filter-out $(COVERING) tests/node tests/security tests/operators,$(TESTS)) $(addprefix --ignore=,$(COVERING))

.DEFAULT_GOAL := help
.PHONY: help demo test rest waiting modelled coverage test-real prepare foreign conformance interop lint format manifests \
	generate tables bench soak explore properties crashtest fuzz mutants package python clean

help: ## Show the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { \
		echo "cannot set up: no Python 3.11 or newer with the venv module was found"; \
		echo "because: Quintant needs it to make its virtual environment in $(VENV)"; \
		echo "try: apt-get install python3 python3-venv, or make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON) (about a minute)"
	@$(PYTHON) -m venv --clear $(VENV) || { \
		echo "cannot set up: $(PYTHON) could not make a virtual environment"; \
		echo "because: its venv module needs ensurepip, which some distributions ship apart"; \
		echo "try: apt-get install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -q src/quintant
	@touch $@

demo: $(READY) ## Show every operator at work on an embedded cluster (EXIT=1 ends once it runs)
	@$(BIN)/quintant demo $(if $(EXIT),--exit) $(ARGS)

test: $(READY) $(if $(COVERAGE),coverage waiting modelled) rest ## Run the tests (K=word selects, COVERAGE=1 measures too)

rest: $(READY) # All tests, or with COVERAGE=1 those that no other part has: -j4 runs all parts at once
	@$(BIN)/python -m pytest -q $(if $(K),-k "$(K)") $(if $(COVERAGE),$(OTHERS),$(TESTS))

waiting: $(READY)
	@$(BIN)/python -m pytest -q $(WAITING)

modelled: $(READY)
	@$(BIN)/python -m pytest -q $(MODELLED)

coverage: $(READY) ## Measure which lines of the runtime its tests reach (at least 95 %)
	@$(BIN)/python -m pytest -q --cov=quintant.core --cov=quintant.client --cov=quintant.runtime \
		--cov-report=term:skip-covered \
		--cov-fail-under=95 $(COVERING)

test-real: prepare ## Run the tests that need a real kube-apiserver or other real programs
	@$(BIN)/python -m pytest -q $(if $(K),-k "$(K)") tests/real

foreign: $(READY) # Install what tests/real runs beside Kubernetes, unless it is in the cache
	@PYTHONPATH=scripts $(BIN)/python -m foreign build im cometbft

prepare: $(READY) # Build a real Kubernetes, unless one is at hand: tests would not show the progress
	@PYTHONPATH=scripts $(BIN)/python -m envtest prepare

conformance: prepare ## Run every check on the embedded and on a real server, side by side
	@PYTHONPATH=tests:scripts $(BIN)/python -m pytest -q -p conformance.workers $(if $(K),-k "$(K)") \
		tests/conformance

interop: $(READY) ## Run programs of others against ours; what is heavy is built once (K=word)
	@PYTHONPATH=tests:scripts $(BIN)/python -m pytest -q -rs $(if $(K),-k "$(K)") tests/interop \
		|| { code=$$?; [ $$code -eq $(NOTHING_RAN) ] || exit $$code; \
		echo "nothing in tests/interop is called \"$(K)\": nothing was run"; }

soak: $(READY) ## Run the long scenarios at full size
	@QUINTANT_SOAK=1 PYTHONPATH=tests:scripts $(BIN)/python -m pytest -q -k "$(or $(K),soak)" tests/scenarios tests/operators \
		tests/explore tests/interop/test_infra_replicas.py

explore: $(READY) ## Disturb every operator at every point (K=greeter, BUDGET=600, FULL=1 without one)
	@PYTHONPATH=tests $(BIN)/quintant explore $(if $(FULL),,--budget $(or $(BUDGET),$(EXPLORE_SECONDS))) \
		$(ARGS) $(filter-out $(wildcard tests/explore/test_*.py tests/explore/conftest.py),$(wildcard tests/explore/$(or $(K),*).py))

properties: $(READY) ## Try other examples of every property than make test does (EXAMPLES=2000)
	@files=$$(grep -rl "^@given" $(or $(K),tests/unit tests/scenarios)) && \
	QUINTANT_EXAMPLES=$(or $(EXAMPLES),1000) $(BIN)/python -m pytest -q $$files

crashtest: $(READY) ## Kill a kept cluster under load, 20 times (ARGS="--rounds 200")
	@PYTHONPATH=scripts $(BIN)/python -m crashtest $(ARGS)

fuzz: prepare ## Send random requests to the embedded and a real server (ARGS="--seed 7 --sequences 1")
	@PYTHONPATH=scripts $(BIN)/python -m fuzz $(ARGS)

mutants: $(READY) ## Make mistakes in the embedded server and in exploration, and see that tests notice each
	@PYTHONPATH=scripts $(BIN)/python -m mutants $(ARGS)

bench: $(READY) ## Measure speed and memory, beside others in the same run (ARGS="reconcile --quick")
	@PYTHONPATH=src:scripts $(BIN)/python -m benchmarks $(ARGS)

lint: $(READY) ## Check format, style, types, layers and generated files
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy src scripts tests benchmarks examples
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/manifests.py --check
	@PYTHONPATH=scripts $(BIN)/python -m kinds --check

manifests: $(READY) ## Write the generated files anew
	@$(BIN)/python scripts/manifests.py

generate: manifests ## Write manifests and the types of Kubernetes' kinds anew
	@PYTHONPATH=scripts $(BIN)/python -m kinds

tables: $(READY) ## Write the tables of Kubernetes' kinds anew (needs Go and a real kube-apiserver)
	@PYTHONPATH=scripts $(BIN)/python -m tables

format: $(READY) ## Format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

package: $(READY) ## Build the source archive, and from it the wheel, into dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist .

python: # Print the Python that set-up uses
	@echo "$(PYTHON)"

clean: ## Remove what set-up and tests made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist
