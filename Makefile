# The tasks of this repository. They need Python 3.11 or later, pip and make;
# .venv is made on first use and need not be activated.

PYTHON ?= python3
ARGS ?=
# Processes that tests are shared out among: auto is one for each core, and none but pytest's own where
# ARGS names tests.
WORKERS ?= auto

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml constraints.txt

# nbgrader starts the program `alembic` from PATH when it makes a gradebook.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench openedx clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile

setup: .venv/.setup ## make .venv with the commands autograder, nbgrader and jupyter

demo: .venv/.setup ## grade an invented class and show where the results are
	$(BIN)/autograder demo $(ARGS)

test: .venv/.setup-test ## run all tests on all cores; ARGS="-k name" for some
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

lint: .venv/.setup-test .venv/.setup-lint ## style, types, imports and docstrings
	@failed=0; \
	modules=$$(find autograder -name '*.py' -not -path '*/checks/*/*'); \
	for tool in "ruff check ." "ruff format --check ." mypy lint-imports "python -m numpydoc lint $$modules"; do \
	    echo "== $${tool%%autograder/*}"; \
	    $(BIN)/$$tool || failed=1; \
	done; \
	exit $$failed

bench: .venv/.setup ## measure speed beside nbgrader's; ARGS="--full" for a large class too
	$(BIN)/python -m bench $(ARGS)

openedx: .venv-openedx/.setup ## install Open edX's own importers of grades, which tests then compare with

clean: ## remove .venv and what tools left, but nothing of the course
	rm -rf .venv .venv-openedx build dist .coverage .coverage.* htmlcov .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# A stamp is newer than what it was installed from, so that a repeat is instant.
.venv/.setup: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "$(PYTHON) is older than Python 3.11. Name a newer one: make setup PYTHON=python3.12"; exit 1; }
	@echo "Installing into .venv; the first time this takes a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install -c constraints.txt -e .
	@touch $@

.venv/.setup-%: .venv/.setup
	@echo "Installing what 'make $*' needs into .venv."
	@$(PIP) install -c constraints.txt -e '.[$*]'
	@touch $@

# Apart from the kit, which never imports them: they are under another licence, and bring Django.
.venv-openedx/.setup: tests/lms/openedx-constraints.txt
	@echo "Installing Open edX's importers into .venv-openedx."
	@test -x .venv-openedx/bin/python || $(PYTHON) -m venv .venv-openedx
	@.venv-openedx/bin/python -m pip --disable-pip-version-check --quiet install \
	    -c tests/lms/openedx-constraints.txt edx-bulk-grades super-csv
	@touch $@
