"""Strict JAX for every test: two CPU devices, no implicit promotion of dtypes or ranks. One cache of compiled programs
for all that a run of the tests starts.
"""

import atexit
import ctypes
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jax
import pytest

if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    # In the environment, so that xdist's workers and the programs that tests start inherit it: a training that is
    # resumed is compiled once. It is empty at first, so nothing passes by what an earlier run has compiled.
    _cache = tempfile.mkdtemp(prefix="jaxgames-tests-")
    atexit.register(shutil.rmtree, _cache, ignore_errors=True)
    for name, value in {
        "jax_compilation_cache_dir": _cache,
        "jax_persistent_cache_min_compile_time_secs": 0.3,  # what compiles faster costs more to keep
        "jax_persistent_cache_min_entry_size_bytes": -1,
        "jax_traceback_in_locations_limit": 0,  # no operation is told the lines that it comes from, which takes time
    }.items():
        os.environ[name.upper()] = str(value)
        jax.config.update(name, value)

# Set by jax.config and not by XLA_FLAGS, so that programs the tests start do not inherit it. pytest imports this file
# in every xdist worker before any test module, hence before a backend starts.
jax.config.update("jax_num_cpu_devices", 2)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# Tracing makes millions of small objects, hardly any of them in a circle: they are looked through where a file ends.
gc.set_threshold(200_000, 50, 100)

# Compilation makes the first example slow, which says nothing about the others.
hypothesis.settings.register_profile("jaxgames", deadline=None)
hypothesis.settings.load_profile("jaxgames")


LIBC = ctypes.CDLL(None)


@pytest.fixture(scope="session")
def quick_tests(pytestconfig: pytest.Config) -> frozenset[str]:
    """Names of the quick tests that were found, chosen or not; none where single tests were asked for."""
    return pytestconfig.stash[QUICK]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of reference data made by others, tests/data."""
    return Path(__file__).parent / "data"


_compiled: list[str] = []
"""The names of all programs that were compiled, also those that are found in the cache on the disk."""


def _note(event: str, seconds: float, **about: Any) -> None:
    if event.endswith("backend_compile_duration"):
        _compiled.append(str(about.get("fun_name")))


jax.monitoring.register_event_duration_secs_listener(_note)


@pytest.fixture
def compilations() -> list[str]:
    """The names of all programs that the test compiles. What another file has compiled before, it compiles again."""
    jax.clear_caches()
    _compiled.clear()
    return _compiled


@pytest.fixture
def compiled_quickly() -> Iterator[None]:
    """Without most optimizations: for programs that take longer to compile than to run."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


SLOW = (Path(__file__).parent / "slow.txt").read_text("utf-8").splitlines()
"""Lines that name what is slow only because it takes long; see there."""
QUICK = pytest.StashKey[frozenset[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What `slow.txt` names bears the mark, before it is chosen by it."""
    named = {line.partition(" | ")[0] for line in SLOW}
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        if name in named or name.partition("[")[0] in named:
            item.add_marker(pytest.mark.slow)
    if items:
        config = items[0].config
        whole = not any("::" in asked for asked in config.args)  # else some tests of a file are not among the items
        quick = {item.nodeid.removeprefix("tests/") for item in items if item.get_closest_marker("slow") is None}
        config.stash[QUICK] = frozenset(quick) if whole else frozenset()


def pytest_collection_finish(session: pytest.Session) -> None:
    """What the test files brought, a million objects, stays: it is not looked through where each file ends."""
    jax.clear_caches()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """A file that ends drops the compiled programs, if there are many, and gives back their memory: all fill 5 GB.

    Few are kept for the next file, which would else compile the small ones (a zero, a key, a slice) again.
    """
    yield
    if len(_compiled) < 2000:  # some 700 MB
        return
    _compiled.clear()
    jax.clear_caches()
    gc.collect()
    if hasattr(LIBC, "malloc_trim"):  # glibc's, which keeps what was freed in small pieces
        LIBC.malloc_trim(0)
