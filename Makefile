# `make run` and `make test` do everything; `make check` is for a change of requirements. What they install
# goes into .venv; an empty file there says that it is done, so that the next call starts at once until the requirements
# change.

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --requirement

.PHONY: help run test test-all lint check

help:
	@echo "make run       installs what the app needs into .venv and serves the app"
	@echo "make test      installs what the tests need as well, then lints, checks types and tests"
	@echo "make test-all  does the same with every test, also what is rare and slow"
	@echo "make check     asks whether vulnerabilities are known of the requirements"

run: .venv/run-installed
	$(BIN)/python -m streamlit run app.py

test: lint
	$(PYTEST)

# Every test once, those by hypothesis with ten times as many examples.
test-all: lint
	$(PYTEST) -m "slow or not slow" --hypothesis-profile=many

lint: .venv/test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m tests.browser.chromium

check: .venv/test-installed
	$(BIN)/python -m pytest -q -n 0 tests/test_boundaries.py -k requirements
	$(BIN)/python -m tests.audit

.venv/run-installed: requirements.txt | .venv/bin/pip
	$(INSTALL) requirements.txt
	@touch $@

.venv/test-installed: requirements.txt requirements-ray.txt requirements-dev.txt requirements-dev-alone.txt | .venv/bin/pip
	$(INSTALL) requirements-dev.txt
	$(INSTALL) requirements-dev-alone.txt --no-deps
	@touch $@

# pip comes last into a new environment, so this also repairs one that was left half made.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ..." \
		if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
