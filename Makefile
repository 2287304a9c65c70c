# Everything a developer types. `make help` lists it. The first call makes the environment; later calls find it made.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
HUDI := .venv-hudi
SERVERS := .venv-servers
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DOCS := $(VENV)/.ready-docs
READY_BENCH := $(VENV)/.ready-bench
JAVA := $(VENV)/.java-home
READY_HUDI := $(HUDI)/.ready
READY_SERVERS := $(SERVERS)/.ready
AZURITE := $(SERVERS)/node_modules/.bin/azurite-blob
S3A := $(SERVERS)/s3a
READY_S3A := $(S3A)/.ready
LOWEST := .venv-lowest
DBT := .venv-dbt
READY_DBT := $(DBT)/.ready
TRINO := .venv-trino
READY_TRINO := $(TRINO)/.ready
READY_LOWEST := $(LOWEST)/.ready
# Fast, and on every library that pyhudi stands on: the codecs (fastavro), the kernels (numpy, pyarrow), whole writes and reads.
LOWEST_TESTS := tests/unit/codec tests/unit/kernels/test_write_task.py tests/unit/merge tests/unit/spec tests/unit/table/test_write_operations.py \
	tests/unit/timeline

# Spark takes its Java from here; read when a recipe runs, since the file is made by the set-up. PySpark needs no SPARK_HOME, and one
# that points elsewhere would bring another Spark.
WITH_JAVA = unset SPARK_HOME; export JAVA_HOME="$$(cat $(JAVA))" PYSPARK_PYTHON="$(CURDIR)/$(BIN)/python";
WITH_HUDI = export PYHUDI_REFERENCE_PYTHON="$(CURDIR)/$(HUDI)/bin/python" PYHUDI_REFERENCE_JAR="$$(cat $(HUDI)/hudi-bundle)" \
	PYHUDI_REFERENCE_0_15_JAR="$$(cat $(HUDI)/hudi-0.15-bundle)";
WITH_SERVERS = export PYHUDI_SERVERS_PYTHON="$(CURDIR)/$(SERVERS)/bin/python" PYHUDI_AZURITE="$$(ls $(CURDIR)/$(AZURITE) 2>/dev/null || true)" \
	PYHUDI_S3A="$(CURDIR)/$(S3A)";
# JVMs of tests live for minutes: Java's second compiler and its parallel collector cost them more than they bring back (44 % of the
# processor time of Spark's tests, 105 to 59 s in one run). Benchmarks keep Java's defaults.
SHORT_LIVED = export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC $${JAVA_TOOL_OPTIONS-}";
PYTEST = $(BIN)/python -m pytest
IN_MEMORY = export TMPDIR="$$(scripts/test_folder.sh)";
# The slowest tests of each run are printed, and the time of each stage (scripts/timed.sh), again at the end of `make test`.
SLOWEST = --durations=25 --durations-min=1
TIMED = scripts/timed.sh
export STAGES ?= $(CURDIR)/.stages
# Their packages hold the format, the merge and the transaction: measured by branch, with floors in pyproject.toml.
COVERED = $(addprefix tests/unit/,codec fsview kernels merge spec timeline txn)
# Schedules run the same lines thousands of times: tracing doubles their time and adds nothing to the coverage.
SCHEDULES = $(addprefix tests/unit/txn/test_,action_pairs.py concurrent_schedules.py non_blocking_schedules.py simulation.py \
	simulation_defects.py wrong_clocks.py)
# Tests start hundreds of Python processes, and each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# Arguments for pytest, such as ARGS="-k upsert -x".
ARGS ?=

##@ The two commands

.PHONY: quickstart
quickstart: $(READY) $(JAVA) ## Create, fill, update, delete from and read Hudi tables with Spark SQL, and show what happened
	@$(WITH_JAVA) $(BIN)/python -m pyhudi.examples.quickstart $(ARGS)

.PHONY: test
test: ## Everything that decides whether a change is good: structure, unit tests, Spark tests
	@rm -f "$(STAGES)"
	@status=0; $(MAKE) --no-print-directory lint test-unit test-spark || status=$$?; echo "--- time of each stage"; cat "$(STAGES)"; exit $$status

##@ Parts of it

.PHONY: lint lint-style lint-types lint-layers
lint: $(READY) ## Style, format, types, layers
	@$(TIMED) "lint" $(MAKE) --no-print-directory --output-sync=target --jobs=2 lint-types lint-style lint-layers

lint-style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-types: $(READY)
	$(BIN)/mypy

lint-layers: $(READY)
	$(BIN)/lint-imports --no-logo
	$(PYTEST) -q tests/architecture

.PHONY: test-unit test-covered test-other
ifeq ($(strip $(ARGS)),)
test-unit: test-covered test-other ## Unit and property tests, without Spark; coverage of the format, the merge and the transaction
else
test-unit: $(READY)
	@$(IN_MEMORY) $(PYTEST) -q -n auto --ignore=tests/architecture --ignore=tests/spark --ignore=tests/interop --ignore=tests/servers tests $(ARGS)
endif

test-covered: $(READY)
	@$(IN_MEMORY) $(TIMED) "tests of format, merge, transaction" $(PYTEST) -q -n auto $(SLOWEST) --cov --cov-report= $(addprefix --ignore=,$(SCHEDULES)) $(COVERED)
	@$(BIN)/python -m scripts.coverage_floors

test-other: $(READY)
	@$(IN_MEMORY) $(TIMED) "other unit tests" $(PYTEST) -q -n auto $(SLOWEST) --ignore=tests/architecture --ignore=tests/spark --ignore=tests/interop --ignore=tests/servers \
		$(addprefix --ignore=,$(filter-out tests/unit/txn,$(COVERED)) $(filter-out $(SCHEDULES),$(wildcard tests/unit/txn/test_*.py))) tests

.PHONY: test-spark
test-spark: $(READY) $(JAVA) ## Tests on a real Spark session
	@echo "pytest tests/spark"
	@$(IN_MEMORY) $(WITH_JAVA) $(SHORT_LIVED) $(TIMED) "tests on Spark" $(PYTEST) -q -n 2 --dist worksteal $(SLOWEST) tests/spark $(ARGS)

.PHONY: test-servers
test-servers: $(READY) $(JAVA) $(READY_SERVERS) $(READY_S3A) $(READY_HUDI) $(AZURITE) ## Tests with real servers: a Hive metastore, a HiveServer2, AWS Glue, S3, Azure
	@echo "pytest tests/servers"
	@$(WITH_JAVA) $(WITH_HUDI) $(SHORT_LIVED) $(WITH_SERVERS) $(TIMED) "tests with servers" $(PYTEST) -q $(SLOWEST) tests/servers $(ARGS)

.PHONY: test-dbt
test-dbt: $(READY) $(JAVA) $(READY_DBT) ## The project of docs/dbt.md, built by dbt
	@$(WITH_JAVA) $(SHORT_LIVED) export PYHUDI_DBT_PYTHON="$(CURDIR)/$(DBT)/bin/python"; $(PYTEST) -q tests/servers/test_dbt.py $(ARGS)

.PHONY: test-trino
test-trino: $(READY) $(READY_SERVERS) $(READY_TRINO) ## Trino reads our tables, from S3 and AWS Glue (both of moto); needs Java 25
	@export PYHUDI_SERVERS_PYTHON="$(CURDIR)/$(SERVERS)/bin/python" PYHUDI_TRINO="$(CURDIR)/$(TRINO)"; $(PYTEST) -q $(SLOWEST) tests/servers/test_trino.py $(ARGS)

.PHONY: interop
interop: $(READY) $(JAVA) $(READY_HUDI) ## Let Apache Hudi 1.2.0 (and 0.15.0, version 6) read and continue our tables, and the other way round
	@echo "pytest tests/interop"
	@$(WITH_JAVA) $(WITH_HUDI) $(SHORT_LIVED) $(TIMED) "tests with Apache Hudi" \
		$(PYTEST) -q -n 2 --dist worksteal $(SLOWEST) tests/interop $(ARGS)

.PHONY: test-slow
test-slow: $(READY) $(JAVA) $(READY_HUDI) $(READY_SERVERS) $(READY_S3A) $(AZURITE) ## The long proofs that `make test` and `make interop` leave out
	@echo "pytest --slow -m slow"
	@$(WITH_JAVA) $(WITH_HUDI) $(WITH_SERVERS) $(SHORT_LIVED) $(PYTEST) -q --slow -m slow tests $(ARGS)

.PHONY: lowest
lowest: $(READY_LOWEST) ## A part of the unit tests with the lowest versions of pyarrow, fastavro and numpy that pyproject.toml claims
	@$(TIMED) "tests with the lowest versions" $(LOWEST)/bin/python -m pytest -q $(LOWEST_TESTS)

.PHONY: release-check
release-check: $(READY) $(JAVA) lowest ## Build wheel and source distribution, look at them, run the quick start in an empty environment
	@scripts/check_release.sh $(BIN)/python "$$(cat $(JAVA))"

.PHONY: bench
bench: $(READY_BENCH) $(JAVA) $(READY_HUDI) ## Measure against floors and peers, and write docs/benchmarks.md
	@$(WITH_JAVA) $(WITH_HUDI) $(BIN)/python -m bench.run --docs $(ARGS)

.PHONY: docs
docs: $(READY_DOCS) ## Build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet
	@if command -v chromium >/dev/null; then $(BIN)/python -m scripts.browse_site; fi

##@ Housekeeping

.PHONY: setup
setup: $(READY) $(JAVA) ## Only make the environment and find Java

.PHONY: format
format: $(READY) ## Format the code and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: layers
layers: $(READY) ## Draw the packages and their imports again (docs/design/layers.svg)
	$(BIN)/python -m scripts.draw_layers

.PHONY: tutorial
tutorial: $(READY) $(JAVA) ## Run the examples and write docs/tutorial.md again
	@$(WITH_JAVA) $(BIN)/python -m scripts.write_tutorial

.PHONY: options
options: $(READY) ## List the options again (docs/options.md)
	$(BIN)/python -m scripts.list_options

.PHONY: record-options
record-options: $(JAVA) $(READY_HUDI) ## Record the keys of Apache Hudi again, from its bundle
	@export JAVA_HOME="$$(cat $(JAVA))"; $(HUDI)/bin/python scripts/record_options.py "$$(cat $(HUDI)/hudi-bundle)"

.PHONY: clean
clean: ## Remove environments, caches and what runs left behind
	rm -rf $(VENV) $(HUDI) $(SERVERS) $(LOWEST) $(DBT) $(TRINO) site build dist .coverage .stages .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
	rm -rf spark-warehouse metastore_db derby.log quickstart-table
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- set-up: a file is the proof that a step was done, and is older than what the step depends on when it must be done again ---

$(READY): pyproject.toml constraints.txt scripts/create_venv.sh scripts/find_python.sh
	@echo "Installing pyhudi and what it needs into $(VENV) (Spark is some 400 MB: minutes the first time)"
	scripts/create_venv.sh $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[spark,cli,object-store,quickstart,test,dev]'
	@touch $@

$(READY_DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

$(READY_BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(JAVA): scripts/find_java.sh | $(READY)
	scripts/find_java.sh >$@.new && mv $@.new $@

$(READY_LOWEST): pyproject.toml scripts/lowest_versions.py | $(READY)
	scripts/create_venv.sh $(LOWEST)
	$(BIN)/python scripts/lowest_versions.py >$(LOWEST)/versions.txt
	$(LOWEST)/bin/python -m pip install --quiet --requirement $(LOWEST)/versions.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

# An S3 server in Python. Its packages contradict the constraints of pyhudi's environment.
$(READY_SERVERS): scripts/create_venv.sh
	scripts/create_venv.sh $(SERVERS)
	$(SERVERS)/bin/python -m pip install --quiet 'moto[s3,server]==5.2.5'
	@touch $@

$(AZURITE): $(READY_SERVERS)
	@if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix $(SERVERS) azurite@3.35.0 && touch $@; \
	else echo "npm is not installed: the tests with Azure's server are skipped"; fi

# Spark reads S3 by Hadoop's S3A, which PySpark does not bring.
$(READY_S3A): scripts/setup_s3a.sh scripts/s3a/pom.xml $(JAVA) | $(READY_SERVERS)
	JAVA_HOME="$$(cat $(JAVA))" scripts/setup_s3a.sh "$(CURDIR)/$(S3A)"
	@touch $@

# dbt, with the PySpark of pyhudi's environment, whose packages it would change; wheels only, as one of its packages needs a compiler.
$(READY_DBT): scripts/create_venv.sh $(READY)
	scripts/create_venv.sh $(DBT)
	$(DBT)/bin/python -m pip install --quiet --only-binary :all: 'dbt-core==1.12.0' 'dbt-spark==1.11.0'
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		>"$$($(DBT)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/environment_of_pyhudi.pth"
	@touch $@

$(READY_TRINO): scripts/setup_trino.sh scripts/trino/pom.xml
	scripts/setup_trino.sh $(TRINO)
	@touch $@

$(READY_HUDI): scripts/setup_hudi.sh scripts/create_venv.sh
	scripts/setup_hudi.sh $(HUDI)
	@touch $@
