"""Programs of others that the tests compare with: they are to be there, or the test fails."""

import importlib
from types import ModuleType

import pytest


def oracle(name: str) -> ModuleType:
    """The module of this name; where it is missing the test fails in one line."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        pytest.fail(f"{name} is not installed, so nothing is compared with it: pip install -e '.[dev]'", pytrace=False)
