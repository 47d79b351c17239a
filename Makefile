# `make train` and `make test` need python3 (3.11 or newer, with venv) and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2

.PHONY: setup train play test test-core test-oldest test-matrix test-kaggle test-gnubg test-tpu lint newest \
	wheels-for docs interface release certify mutants bench bench-gpu accelerators

setup: $(READY)

# What only checks (linters, test tools, oracles) has the versions of this file; what users install is the newest.
PINS := .ci/constraints.txt
PIP := -m pip install --quiet --disable-pip-version-check

# Repeated only when one of these is newer than the last complete installation.
$(READY): pyproject.toml $(PINS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "jaxgames needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "python3 cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python $(PIP) -c $(PINS) -e '.[cli,web,dev]'
	@touch $@

# Every run gets a folder of its own: runs/td-gammon, runs/td-gammon-2, ...
train: $(READY)
	@out=runs/td-gammon; n=2; \
	while [ -e "$$out" ]; do out=runs/td-gammon-$$n; n=$$((n + 1)); done; \
	exec $(BIN)/jaxgames train td-gammon --out "$$out" --minutes 5

# The port is free or said: make play PORT=8001
PORT ?= 8000
play: $(READY)
	@exec $(BIN)/jaxgames web --port $(PORT) --open

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy jaxgames

# worksteal: each worker begins with a share of the files that lie together, so that few are compiled by both.
# Most of their time is compiling, so LLVM optimizes less than for users; XLA's own passes are theirs. What calculates
# much is slower then. `make test LLVM=` compiles as users do.
LLVM := --xla_backend_optimization_level=0
test: $(READY)
	XLA_FLAGS="$(LLVM) $$XLA_FLAGS" $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow" --durations=20

# The core of the quick tests: that the package works with these versions, a file or two of each kind of thing. With the
# oldest versions that pyproject.toml allows, in a virtual environment of its own. Old packages warn of new ones that
# they use.
OLDEST := .venv-oldest
CORE := tests/test_import.py tests/ops/test_jax_internals.py tests/envs/testing/test_perft.py tests/envs/test_rollout.py \
	tests/matches/test_match.py tests/nets/test_mlp.py tests/nets/test_policy_value.py tests/runs/test_checkpoints.py \
	tests/runs/test_run.py tests/runs/test_safetensors.py tests/algos/mcts/test_lanes.py tests/players/test_minimax.py \
	tests/algos/test_parallel.py tests/algos/td/test_sequential.py tests/algos/evolution/test_neuroevolution.py \
	tests/algos/evolution/test_evaluate.py tests/recipes/test_td.py

$(OLDEST)/.ready: pyproject.toml .ci/oldest.txt $(PINS)
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python $(PIP) -c $(PINS) -c .ci/oldest.txt -e '.[cli]' pytest pytest-xdist hypothesis
	@touch $@

test-oldest: $(OLDEST)/.ready
	XLA_FLAGS="$(LLVM) $$XLA_FLAGS" $(OLDEST)/bin/pytest -n $(WORKERS) --dist worksteal -m "not slow" \
		-W ignore::DeprecationWarning $(CORE)

# The same with the newest versions that there are for another Python: make test-core PYTHON=python3.11
NEWEST_CORE := .venv-core
$(NEWEST_CORE)/.ready: pyproject.toml $(PINS)
	$(PYTHON) -m venv --clear $(NEWEST_CORE)
	$(NEWEST_CORE)/bin/python $(PIP) -c $(PINS) -e '.[cli]' pytest pytest-xdist hypothesis
	@touch $@

test-core: $(NEWEST_CORE)/.ready
	XLA_FLAGS="$(LLVM) $$XLA_FLAGS" $(NEWEST_CORE)/bin/pytest -n $(WORKERS) --dist worksteal -m "not slow" $(CORE)

# The wheel, installed alone, on each Python of the machine from 3.11 on, with the oldest and the newest versions. Writes
# docs/matrix.json, from which `make docs` makes the table in docs/installation.md.
test-matrix: $(READY)
	$(BIN)/python .ci/matrix.py --save

# Lifts the pins: the newest of everything in a virtual environment of its own, lint and all tests there, then new pins.
newest:
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python $(PIP) -e '.[cli,web,dev]'
	.venv-newest/bin/ruff check .
	.venv-newest/bin/mypy jaxgames
	XLA_FLAGS="$(LLVM) $$XLA_FLAGS" .venv-newest/bin/pytest -n $(WORKERS) --dist worksteal -m "not slow" \
		--deselect tests/test_ci.py::test_set_up_takes_the_pins
	.venv-newest/bin/python .ci/pins.py > $(PINS).new && mv $(PINS).new $(PINS)

# For a machine without network that has jax, flax, optax, chex, jaxtyping, orbax and matplotlib: what else the command
# line and the benchmarks import, for Python PY, in the folder wheels (below 60 MB). There:
# pip install --no-index --no-deps --target site wheels/*.whl, then PYTHONPATH=.:site python3 -m jaxgames ...
PY ?= 3.12
PLATFORMS := $(foreach n,28 27 24 17,--platform manylinux_2_$(n)_x86_64) --platform manylinux2014_x86_64
WHEELS := rich markdown-it-py mdurl pygments pgx svgwrite mctx evosax dotmap open-spiel gnubg
wheels-for: $(READY)
	rm -rf wheels
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d wheels \
		--python-version $(PY) --implementation cp $(PLATFORMS) -c $(PINS) $(WHEELS)
	@du -ch wheels/*.whl | tail -1

# The public interface, names and signatures: to be read by whoever changes it, beside the changelog.
interface: $(READY)
	$(BIN)/python tests/interface.py > tests/interface.txt.new && mv tests/interface.txt.new tests/interface.txt

# Wheel and sdist in dist, their metadata checked, the core of the tests from the unpacked sdist and against the wheel.
release: $(READY)
	XLA_FLAGS="$(LLVM) $$XLA_FLAGS" $(BIN)/python .ci/release.py $(CORE)

# The tables come from the code, and notebooks are run. Any warning ends the build, here and in the tests; with --quiet
# none would, as mkdocs counts what it prints. The variable turns an advertisement off.
docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/notebooks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

# What takes longer than `make test` may: long trainings, whole data sets, the oldest versions, edits that break the code.
certify: $(READY)
	$(BIN)/pytest -m slow
	$(MAKE) test-oldest
	$(MAKE) mutants

# Submissions to Kaggle's Connect X, the champion and a search by simulations, played by Kaggle's own referee in a virtual
# environment of its own (1.6 GB), 200 games against each of its players; then their moves on solved positions beside those
# of our players.
KAGGLE := .venv-kaggle
KAGGLE_OUT := build/kaggle
KAGGLE_PLAYERS := champion rave:800
$(KAGGLE)/.ready:
	$(PYTHON) -m venv --clear $(KAGGLE)
	$(KAGGLE)/bin/python $(PIP) kaggle-environments
	@touch $@

test-kaggle: $(READY) $(KAGGLE)/.ready
	@mkdir -p $(KAGGLE_OUT) && rm -f $(KAGGLE_OUT)/*
	for player in $(KAGGLE_PLAYERS); do file=$(KAGGLE_OUT)/$${player%:*}; \
		$(BIN)/jaxgames export kaggle $$player --out $$file.py && \
		$(KAGGLE)/bin/python tests/kaggle/referee.py $$file.py --out $$file.json || exit 1; \
		for one in $$player kaggle:$$file.py; do $(BIN)/jaxgames score connect_four $$one \
			--positions jaxgames/matches/move_scores_500.jsonl || exit 1; done; done

# 1,000 games played by GNU Backgammon itself (apt install gnubg) against a player of ours, read back under our rules; then
# the same match by its Python package.
test-gnubg: $(READY)
	$(BIN)/python tests/gnubg/referee.py champion@1 --games 1000 --out build/gnubg.json

# Each of a list of edits that break the code must fail a test. ONLY=PATTERN tries those of a name or file.
mutants: $(READY)
	$(BIN)/python tests/mutants/run.py --jobs $(WORKERS) --only '$(ONLY)'

# One subject a file, each printing its peer's figure and ours; files that begin with an underscore are shared helpers.
bench: $(READY)
	$(BIN)/python $(PIP) -c $(PINS) -e '.[bench]'
	@set -e; for file in benchmarks/[!_]*.py; do echo "== $$file"; $(BIN)/python "$$file"; done

# The same at sizes for a GPU or TPU, in pieces of at most 8 minutes, where there is one: PIECES="search trace" names some,
# DEVICE=tpu is for a TPU. JAX for the device is in an environment of its own.
DEVICE ?= cuda13
PIECES ?=
ON_DEVICE := .venv-$(DEVICE)
$(ON_DEVICE)/.ready: pyproject.toml $(PINS)
	$(PYTHON) -m venv --clear $(ON_DEVICE)
	$(ON_DEVICE)/bin/python $(PIP) -c $(PINS) -e '.[bench]' 'jax[$(DEVICE)]'
	@touch $@

bench-gpu: $(ON_DEVICE)/.ready
	$(ON_DEVICE)/bin/python benchmarks/gpu.py $(addprefix --piece ,$(PIECES))

# The main programs compiled for a GPU and a TPU that need not be here, in an environment of its own: the compilers are
# large. The TPU's is the version that JAX itself names.
COMPILERS := .venv-accelerators
$(COMPILERS)/.ready: pyproject.toml $(PINS)
	$(PYTHON) -m venv --clear $(COMPILERS)
	$(COMPILERS)/bin/python $(PIP) -c $(PINS) -e '.[bench]'
	version=$$($(COMPILERS)/bin/python -c 'import jax; print(jax.__version__)'); \
		$(COMPILERS)/bin/python $(PIP) "jax[tpu]==$$version" "jax-cuda13-plugin==$$version" nvidia-cuda-nvcc
	@touch $@

accelerators: $(COMPILERS)/.ready
	$(COMPILERS)/bin/python benchmarks/accelerators.py --save

# All main programs compile for a TPU, and to how many kernels. Its compiler (137 MB) lies apart, as JAX looks for a TPU
# wherever it can be imported.
TPU := $(VENV)/tpu
$(TPU)/.ready: $(READY)
	libtpu=$$($(BIN)/python -c 'from importlib.metadata import requires; \
		print(*(of.split(";")[0] for of in requires("jax") if of.startswith("libtpu")))'); \
		$(BIN)/python $(PIP) --no-deps --upgrade --target $(TPU) "$$libtpu"
	@touch $@

test-tpu: $(TPU)/.ready
	JAX_PLATFORMS=cpu PYTHONPATH=$(TPU) $(BIN)/pytest tests/test_accelerators.py
