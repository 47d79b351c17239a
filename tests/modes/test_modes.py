"""JAX's flags that other people's programs turn on: the same games and searches, bit for bit.

Each runs in a process of its own, under strict promotion of dtypes and ranks.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
ROOT = Path(__file__).parents[2]


def run(flag):
    done = subprocess.run([sys.executable, PROGRAM, flag], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def plain():
    return run("none")


@pytest.mark.parametrize("flag", ["jax_enable_x64", "jax_debug_nans", "jax_check_tracer_leaks", "jax_disable_jit"])
def test_results_are_the_same(flag, plain):
    found = run(flag)
    assert found == {name: plain[name] for name in found}
    assert set(found) == set(plain) or flag == "jax_disable_jit"
