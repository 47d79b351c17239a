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


def run(flags, *left_out):
    """What the program says under flags, without the results of these names."""
    done = subprocess.run([sys.executable, PROGRAM, flags, *left_out], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


LONG = ("one round", "gumbel", "alpha-beta")
"""What compiles for longer than all else."""


QUICK = ("jax_enable_x64", "jax_debug_nans", "jax_debug_key_reuse", "jax_enable_custom_prng")
FLAGS = (*QUICK, "jax_check_tracer_leaks", "jax_disable_jit")


def test_results_are_the_same():
    """In the quick tier four flags are on at once, as each program is compiled for each set of them."""
    assert run(",".join(QUICK), *LONG) == run("none", *LONG)


@pytest.mark.slow
@pytest.mark.parametrize("flag", FLAGS)
def test_all_results_are_the_same(flag):
    plain, found = run("none"), run(flag)
    assert found == {name: plain[name] for name in (("tic_tac_toe", "uct") if flag == "jax_disable_jit" else plain)}
