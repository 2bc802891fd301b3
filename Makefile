# Every task of the project. A fresh machine needs Python 3.11 or newer, make, and nothing else.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BROWSER_READY := $(VENV)/.browser-ready
K ?=
COVERAGE ?=
# What `make explore` may take for all operators together: what does not fit is sampled, and counted.
EXPLORE_SECONDS := 180
# How many ways `make explore` changes each spec: SPECS=200.
SPECS ?= 12
# What pytest ends with when no test was selected.
NOTHING_RAN := 5
SELECTED := $(if $(K),-k "$(K)")
# After pytest: a K that selects nothing is a mistake, and the folders that were searched are named.
or_nothing_ran = || { code=$$?; [ $$code -eq $(NOTHING_RAN) ] || exit $$code; \
	echo "no test in" $(1) "is selected by K=$(K): nothing was run"; exit 1; }
# Without bytecode on disk every pytest rewrites all of hypothesis and Quintant first: 3 s of CPU.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help demo test tests-of coverage test-real test-versions test-cluster test-console prepare foreign conformance interop lint format manifests \
	generate tables bench soak explore properties crashtest fuzz fuzz-bytes mutants package docs release-check \
	image image-test python clean

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

test: $(READY) ## Run the tests, in parts side by side (K=word selects, SLOWEST=100 lists, COVERAGE=1 measures too)
	@$(BIN)/python scripts/side_by_side.py $(if $(K),--select "$(K)") $(if $(SLOWEST),--slowest $(SLOWEST)) \
		$(if $(COVERAGE),--coverage)

tests-of: $(READY) ## Run the tests of a module, an operator or a room (FILE=src/quintant/core/clock.py)
	@tests=$$($(BIN)/python scripts/tests_of.py "$(FILE)") && \
	$(BIN)/python -m pytest -q $(SELECTED) $$tests $(call or_nothing_ran,$$tests)

coverage: $(READY) ## Measure which lines of the runtime its tests reach (at least 95 %)
	@$(BIN)/python scripts/side_by_side.py --coverage --measured

test-real: prepare ## Run the tests that need a real kube-apiserver or other real programs
	@$(BIN)/python scripts/side_by_side.py --real $(if $(K),--select "$(K)")

test-versions: $(READY) ## Run tests/real on every Kubernetes that is supported, the oldest first (VERSION=1.33, K=word)
	@PYTHONPATH=scripts $(BIN)/python -m envtest versions $(if $(VERSION),--only "$(VERSION)") $(if $(K),--select "$(K)")

test-cluster: $(READY) ## Run every operator in real containers on a real cluster (root on Linux; FULL=1 disturbs it too)
	@PYTHONPATH=scripts:tests $(BIN)/python -m realcluster test $(if $(FULL),--full) $(if $(K),--select "$(K)")

$(BROWSER_READY): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[console-tests]'
	@touch $@

test-console: $(BROWSER_READY) ## Run the console's page in a real Chromium, and take its pictures (K=word)
	@$(BIN)/python scripts/rerun_failed.py console -rs $(SELECTED) tests/console $(call or_nothing_ran,tests/console)

foreign: $(READY) # Install what tests/real runs beside Kubernetes, unless it is in the cache
	@PYTHONPATH=scripts $(BIN)/python -m foreign build im cometbft

prepare: $(READY) # Build a real Kubernetes, unless one is at hand: tests would not show the progress
	@PYTHONPATH=scripts $(BIN)/python -m envtest prepare

conformance: prepare ## Run every check on the embedded and on a real server, side by side
	@PYTHONPATH=tests:scripts $(BIN)/python scripts/rerun_failed.py conformance -p conformance.workers $(SELECTED) \
		tests/conformance $(call or_nothing_ran,tests/conformance)

interop: $(READY) ## Run programs of others against ours; what is heavy is built once (K=word)
	@PYTHONPATH=tests:scripts $(BIN)/python -m pytest -q -rs $(SELECTED) tests/interop \
		$(call or_nothing_ran,tests/interop)

soak: $(READY) ## Run the long scenarios at full size
	@QUINTANT_SOAK=1 PYTHONPATH=tests:scripts $(BIN)/python -m pytest -q -k "$(or $(K),soak)" tests/scenarios tests/operators \
		tests/explore tests/interop/test_infra_replicas.py $(call or_nothing_ran,the long scenarios)

EXPLORED = $(filter-out $(wildcard tests/explore/test_*.py tests/explore/conftest.py),$(wildcard tests/explore/$(or $(K),*).py))
WITH_SPECS = $(shell grep -l "^class .*.SpecScenario" $(EXPLORED) /dev/null)

explore: $(READY) ## Disturb every operator at every point (K=greeter, BUDGET=600, FULL=1 without one)
	@PYTHONPATH=tests $(BIN)/quintant explore $(if $(FULL),,--budget $(or $(BUDGET),$(EXPLORE_SECONDS))) \
		$(ARGS) $(EXPLORED)
	@$(if $(WITH_SPECS),PYTHONPATH=tests $(BIN)/quintant explore --specs $(SPECS) $(WITH_SPECS))

properties: $(READY) ## Try other examples of every property than make test does, and more damage (EXAMPLES=2000)
	@files=$$(grep -rl "^@given" $(or $(K),tests/unit tests/scenarios)); \
	damaged=$$(find $(or $(K),tests/operators) -path 'tests/operators/*' -name 'test_damaged_*.py'); \
	[ "$$files$$damaged" ] || { echo "no property in $(K): nothing was run"; exit 1; }; \
	[ -z "$$files" ] || QUINTANT_EXAMPLES=$(or $(EXAMPLES),1000) $(BIN)/python -m pytest -q $$files || exit 1; \
	[ -z "$$damaged" ] || QUINTANT_SOAK=1 $(BIN)/python -m pytest -q $$damaged

crashtest: $(READY) ## Kill a kept cluster under load, 20 times (ARGS="--rounds 200")
	@PYTHONPATH=scripts $(BIN)/python -m crashtest $(ARGS)

fuzz: prepare ## Send random requests to the embedded and a real server (ARGS="--seed 7 --sequences 1")
	@PYTHONPATH=scripts $(BIN)/python -m fuzz $(ARGS)

fuzz-bytes: $(READY) ## Give mutated bytes to every parser of foreign bytes (INPUTS=1000000)
	@QUINTANT_FUZZ_INPUTS=$(or $(INPUTS),1000000) $(BIN)/python -m pytest -q $(SELECTED) tests/security/test_fuzz.py \
		$(call or_nothing_ran,tests/security/test_fuzz.py)

mutants: $(READY) ## Make mistakes in the embedded server and in exploration, and see that tests notice each
	@PYTHONPATH=scripts $(BIN)/python -m mutants $(ARGS)

bench: $(READY) $(if $(filter console,$(ARGS)),$(BROWSER_READY)) ## Measure speed and memory, beside others in the same run (ARGS="reconcile --quick")
	@PYTHONPATH=src:scripts $(BIN)/python -m benchmarks $(ARGS)

lint: $(READY) ## Check format, style, types, layers and generated files
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy src scripts tests benchmarks examples
	@$(BIN)/lint-imports --no-logo
	@PYTHONPATH=scripts $(BIN)/python -m manifests --check
	@PYTHONPATH=scripts $(BIN)/python -m kinds --check

manifests: $(READY) ## Write the generated files again
	@PYTHONPATH=scripts $(BIN)/python -m manifests

generate: manifests ## Write manifests and the types of Kubernetes' kinds again
	@PYTHONPATH=scripts $(BIN)/python -m kinds

tables: $(READY) ## Write the tables of Kubernetes' kinds again (needs Go and a real kube-apiserver)
	@PYTHONPATH=scripts $(BIN)/python -m tables

format: $(READY) ## Format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

package: $(READY) ## Build the source archive, and from it the wheel, into dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist .

docs: $(READY) ## Build the website of docs/ into build/site, to be opened as files or served
	@PYTHONPATH=scripts $(BIN)/python -m docsite build/site

release-check: package ## Check everything of a release that needs no credentials (TAG=v0.2.0)
	@PYTHONPATH=scripts $(BIN)/python -m release check $(if $(TAG),--tag "$(TAG)")

image: ## Build the container image with docker, podman or buildah (BASE=, IMAGE=, TARGET=, ENGINE=)
	@PYTHONPATH=scripts:src $(or $(PYTHON),python3) -m image build $(if $(ENGINE),--engine "$(ENGINE)") \
		$(if $(BASE),--base "$(BASE)") $(if $(IMAGE),--tag "$(IMAGE)") $(if $(TARGET),--target "$(TARGET)")

image-test: $(READY) ## Build the image without a registry and run every program of it (Linux, root, minutes)
	@PYTHONPATH=scripts $(BIN)/python -m image test $(if $(BASE),--base "$(BASE)")

python: # Print the Python that set-up uses
	@echo "$(PYTHON)"

clean: ## Remove what set-up and tests made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist
