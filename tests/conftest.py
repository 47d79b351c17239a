"""Strict JAX for every test: two CPU devices, no implicit promotion of dtypes or ranks."""

import gc
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import jax
import pytest

# Set by jax.config and not by XLA_FLAGS, so that programs the tests start do not inherit it. pytest imports this file
# in every xdist worker before any test module, hence before a backend starts.
jax.config.update("jax_num_cpu_devices", 2)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# Compilation makes the first example slow, which says nothing about the others.
hypothesis.settings.register_profile("jaxgames", deadline=None)
hypothesis.settings.load_profile("jaxgames")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of reference data made by others, tests/data."""
    return Path(__file__).parent / "data"


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """Compiled programs are dropped when a file ends; of all files together they fill several gigabytes."""
    yield
    jax.clear_caches()
    gc.collect()
