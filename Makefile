# `make train` and `make test` need python3 (3.11 or newer, with venv) and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2

.PHONY: setup train test lint docs certify bench

setup: $(READY)

# Repeated only when pyproject.toml is newer than the last complete installation.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "jaxgames needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "python3 cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cli,dev]'
	@touch $@

# Every run gets a folder of its own: runs/td-gammon, runs/td-gammon-2, ...
train: $(READY)
	@out=runs/td-gammon; n=2; \
	while [ -e "$$out" ]; do out=runs/td-gammon-$$n; n=$$((n + 1)); done; \
	exec $(BIN)/jaxgames train td-gammon --out "$$out" --minutes 5

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy jaxgames

test: lint
	$(BIN)/pytest -n $(WORKERS) -m "not slow"

# The tables come from the code. Any warning ends the build, here and in the tests; with --quiet none would, as mkdocs
# counts what it prints. The variable turns an advertisement off.
docs: $(READY)
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

certify: $(READY)
	$(BIN)/pytest -m slow

# One subject a file, each printing its peer's figure and ours; files that begin with an underscore are shared helpers.
bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@set -e; for file in benchmarks/[!_]*.py; do echo "== $$file"; $(BIN)/python "$$file"; done
