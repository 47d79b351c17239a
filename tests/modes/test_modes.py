"""JAX's flags that other people's programs turn on: the same games and searches, bit for bit.

Each runs in a process of its own, under strict promotion of dtypes and ranks.
"""

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
ROOT = Path(__file__).parents[2]


@functools.cache
def run(flag, *left_out):
    """What the program says, without the results of these names."""
    done = subprocess.run([sys.executable, PROGRAM, flag, *left_out], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


LONG = ("one round", "gumbel", "alpha-beta")
"""What compiles for longer than all else."""


@pytest.mark.parametrize("flag", ["jax_enable_x64", "jax_debug_nans", "jax_check_tracer_leaks", "jax_disable_jit"])
def test_results_are_the_same(flag):
    """In the quick tier the flag that changes dtypes meets more than the others do."""
    plain = run("none", *LONG[:1])
    found = run(flag, *LONG[: 1 if flag == "jax_enable_x64" else 3])
    assert found == {name: plain[name] for name in found}
    assert {"tic_tac_toe", "uct"} <= found.keys()
    assert plain.keys() - found.keys() <= {*LONG[1:]} or flag == "jax_disable_jit"


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["jax_enable_x64", "jax_debug_nans", "jax_check_tracer_leaks"])
def test_all_results_are_the_same(flag):
    assert run(flag) == run("none")
