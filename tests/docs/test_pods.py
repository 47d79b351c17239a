"""The model of pods: its arithmetic by hand, and the bytes that compiled programs tell against the networks' sizes."""

import importlib.util
import sys
from pathlib import Path

import pytest

from jaxgames.algos import td
from jaxgames.algos.mcts import Layout, gumbel
from tests.docs.test_docs import DOCS

sys.path.append(str(DOCS))
spec = importlib.util.spec_from_file_location("pods", DOCS / "pods.py")
assert spec and spec.loader
pods = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pods)


def test_an_evaluation_is_two_flops_for_a_weight():
    """Two layers, 3 x 2 and 2 x 1, for 10 positions: 8 weights and 3 biases; 6 numbers of a position."""
    one = pods.evaluations((3, 2, 1), batch=10)
    assert one == pods.Work(flops=160, bytes=4 * (2 * 10 * 6 + 8 + 3))
    assert pods.evaluations((3, 2, 1), 10, times=5, passes=3) == pods.Work(15 * one.flops, 15 * one.bytes)
    assert pods.Work(1, 2, 3) + pods.Work(10, 20, 30) == pods.Work(11, 22, 33)


def test_scores_are_sorted_in_stages():
    """Those of 4,096 candidates in 78 stages, of 1,048,576 in 210."""
    assert pods.sorting(4096) == 78 * 8 * 4096
    assert pods.sorting(2**20) == 210 * 8 * 2**20


def test_a_ring_sends_all_but_ones_own():
    rates = pods.Rates(flops=100, memory=10, links=4)
    said = {"all-reduce": pods.Said(2, 16), "all-gather": pods.Said(1, 8)}
    found = pods.seconds(pods.Work(flops=300, bytes=20, alike=5), said, 4, rates)
    assert found == (3, 2, 0.5, (2 * 16 + 8) * 3 / 4 / 4)
    assert found.share == 3 and found.all == 3 + 0.5 + 7.5 and found.limit == "links" and found.on_chip == 10.5
    assert pods.seconds(pods.Work(300, 20), {}, 1, rates).limit == "FLOPs"


def test_more_chips_with_the_same_share_have_the_same_work():
    for program in pods.PROGRAMS:
        one, many = program.work(program.share, 1), program.work(program.share, 64)
        half = program.work(program.share / 2, 2)
        assert one[:2] == many[:2] and half.flops == one.flops / 2
        assert (one.alike == half.alike) and (many.alike > one.alike) == ("games" not in program.title)


def test_sizes_are_those_of_the_library():
    """What is counted with is written in the model, so that its page can be made without compiling anything."""
    import jax

    import jaxgames

    def size(game):
        position = jax.eval_shape(jaxgames.make(game).init_position, jax.random.key(0))
        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(position))

    assert (size("connect_four"), size("backgammon")) == (pods.POSITION, pods.BACKGAMMON)
    assert Layout(jaxgames.make("connect_four"), gumbel(16)).bytes_per_node == pods.NODE


def weights(*sizes):
    return sum(a * b + b for a, b in zip(sizes, sizes[1:], strict=False))


EXPECTED = (
    lambda n: 4096 * n + weights(42, 16, 7),
    lambda n: 4096 * n + weights(42, 16, 7),
    lambda n: weights(198, 40, 4) + len(td.Metrics._fields),
    lambda n: 8 * (weights(84, 256, 256, 8) + 1) + 5,
)
"""Numbers that chips tell one another, of each program: scores and a gradient; sums; 8 gradients, metrics, counts."""


@pytest.mark.parametrize(("program", "expected"), list(zip(pods.PROGRAMS, EXPECTED, strict=True)))
def test_compiled_programs_tell_as_many_bytes_as_their_sizes_say(program, expected):
    found = pods.compiled()
    for chips in pods.CHIPS[1:]:
        said = pods.said_of(found, f"v5e x {chips}, {program.rows(chips)}")
        assert sum(one.bytes for one in said.values()) == 4 * expected(chips)
        assert sum(one.times for one in said.values()) <= 10
    assert not pods.said_of(found, f"v5e x 1, {program.rows(1)}")


def test_tables_have_a_row_for_each_number_of_chips():
    assert len(pods.pods_table().splitlines()) == 2 + len(pods.PROGRAMS) * len(pods.CHIPS)
    assert len(pods.pods_strong_table().splitlines()) == 2 + len(pods.PROGRAMS)
    assert Path(pods.RESULTS).is_dir() and "4 " in pods.processes_table()
