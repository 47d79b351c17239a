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
def run(flag, *games):
    """What the program says of these games, or of all."""
    done = subprocess.run([sys.executable, PROGRAM, flag, *games], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


SMALL = ("tic_tac_toe", "connect_four")
FLAGS = ("jax_enable_x64", "jax_debug_nans", "jax_check_tracer_leaks")


@pytest.mark.parametrize("flag", [*FLAGS, "jax_disable_jit"])
def test_results_are_the_same(flag):
    """Of the flag that changes dtypes two games, and the types of all; of the others the smallest game."""
    plain, found = run("none", *SMALL), run(flag, *SMALL[: 2 if flag == "jax_enable_x64" else 1])
    assert found == {name: plain[name] for name in found}
    assert "tic_tac_toe" in found and "types of backgammon" in found
    assert set(plain) - set(found) <= {"connect_four"} or flag == "jax_disable_jit"


@pytest.mark.slow
@pytest.mark.parametrize("flag", FLAGS)
def test_results_of_all_games_are_the_same(flag):
    assert run(flag) == run("none")
