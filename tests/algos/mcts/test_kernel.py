"""Steps of small searches as single kernels: where they are, and that they change nothing."""

import contextlib
import json
import os
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts import kernel
from jaxgames.ops import apart

GAME = jaxgames.make("tic_tac_toe")


def opening(batch):
    return jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), batch))


def searched(states, key):
    found = mcts.search(GAME, states, key, 20, select=mcts.uct(0.8))
    return found.visits, found.values, found.tree.edges[: -len(found.values)]


def compiled(batch):
    jax.clear_caches()
    return jax.jit(searched).lower(opening(batch), jax.random.key(1)).compile()


def test_kernels_change_nothing(monkeypatch):
    batch = 19  # no multiple of what a vector holds
    whole = compiled(batch)
    monkeypatch.setattr(kernel, "_works", lambda: False)
    parts = compiled(batch)
    assert kernel.OURS in whole.as_text() and kernel.OURS not in parts.as_text()
    arguments = opening(batch), jax.random.key(2)
    for one, other in zip(whole(*arguments), parts(*arguments), strict=True):
        np.testing.assert_array_equal(one, other)


def test_searches_are_mapped_and_divided_as_without_kernels(monkeypatch):
    jax.clear_caches()
    states, keys = opening(4), jax.random.split(jax.random.key(3), 3)
    mapped = jax.jit(jax.vmap(searched, in_axes=(None, 0)))(states, keys)[0]
    np.testing.assert_array_equal(mapped, [jax.jit(searched)(states, key)[0] for key in keys])
    monkeypatch.undo()  # two devices
    jax.clear_caches()
    mesh = Mesh(jax.devices()[:2], ("positions",))
    halves = jax.device_put(states, NamedSharding(mesh, PartitionSpec("positions")))
    np.testing.assert_array_equal(jax.jit(searched)(halves, keys[0])[0], mapped[0])


@pytest.mark.parametrize(
    ("small", "function", "works"),
    [
        (True, lambda x, y: x + y.sum(), True),
        (True, lambda x, y: jnp.sort(x) + y.sum(), False),
        (True, lambda x, y: x.at[y[:2]].add(1), False),
        (
            64,
            lambda x, y: x + jnp.max(x.astype(jnp.float32)[:, None] * y.astype(jnp.float32)[None, :]).astype(jnp.int32),
            False,
        ),
        (False, lambda x, y: x + y.sum(), False),
        (True, lambda x, y: x + jnp.where(y[0] > 2, 1, 1), True),
    ],
    ids=["plain", "sort", "scatter", "large reduction", "not small", "argument of no use"],
)
def test_what_a_kernel_cannot_hold_is_done_without(small, function, works):
    x, y = jnp.arange(64), jnp.arange(5, 69)

    def step(x, y):
        return kernel.run(small, lambda x: (function(x, y), jnp.bool_(kernel.is_inside())), x)

    program = jax.jit(step).lower(x, y).compile()
    found, in_kernel = program(x, y)
    assert bool(in_kernel) == works and (kernel.OURS in program.as_text()) == works
    np.testing.assert_array_equal(found, function(x, y))


def traced_inside(function, *arguments):
    """The function as a kernel sees it, as a program of its own."""
    token = kernel._inside.set(True)
    try:
        return jax.jit(lambda *arguments: function(*arguments))(*arguments)
    finally:
        kernel._inside.reset(token)


def test_lanes_write_where_they_are_told():
    index, values = jnp.array([2, 9, 0, 4]), jnp.array([1.0, 2.0, 3.0, 4.0])
    found = traced_inside(kernel.scatter, jnp.arange(5.0), index, values)
    np.testing.assert_array_equal(found, kernel.scatter(jnp.arange(5.0), index, values))
    np.testing.assert_array_equal(found, [3, 1, 1, 3, 4])


def test_flags_are_numbered_as_without_a_kernel():
    flags = jnp.array([False, True, True, False, True])
    for size in (1, 2, 3, 5):
        found = traced_inside(lambda flags, size=size: kernel.nonzero(flags, size), flags)
        np.testing.assert_array_equal(found, kernel.nonzero(flags, size))


@pytest.fixture
def unasked(monkeypatch, tmp_path):
    """Nothing was asked so far, and nothing is kept but in a folder of this test."""
    monkeypatch.setattr(apart, "_file", lambda: tmp_path / "answers.json")
    kernel._works.cache_clear()
    yield tmp_path / "answers.json"
    kernel._works.cache_clear()


os.environ.setdefault("JAXGAMES_TEST_PROCESS", str(os.getpid()))


def crash():
    """As a compiler may, in a process of its own."""
    if os.environ["JAXGAMES_TEST_PROCESS"] != str(os.getpid()):
        os.abort()
    raise AssertionError("asked in the process of the test")


def wrong(run, *arguments):
    """A step that gives something else in a kernel."""
    return run(lambda x: x + jnp.int32(kernel.is_inside()), arguments[1])


def test_this_version_of_jax_has_kernels(unasked):
    """CI runs on the oldest and the newest; where this fails, searches there run without."""
    assert kernel._works() and list(json.loads(unasked.read_text()).values()) == [True]


@pytest.mark.parametrize("fault", ["crash", "wrong", "raises", "not marked", "nothing to mark with"])
def test_where_the_question_fails_searches_run_plain(fault, unasked, monkeypatch, caplog):
    if fault == "crash":
        monkeypatch.setattr(kernel, "MET", ())
        monkeypatch.setattr(kernel, "probe", crash)
        monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])  # the process finds this file
        monkeypatch.setattr(crash, "__module__", Path(__file__).stem)
    elif fault == "wrong":
        monkeypatch.setattr(kernel, "_probed_step", wrong)
    elif fault == "raises":
        monkeypatch.setattr(kernel, "jaxpr_as_fun", None)
    elif fault == "not marked":
        monkeypatch.setattr(kernel, "marked", lambda **marks: contextlib.nullcontext())
    else:
        monkeypatch.setattr(kernel, "has_programs", lambda: False)
    for _ in range(2):
        assert kernel.run(True, lambda x: x + 1, jnp.arange(4)).tolist() == [1, 2, 3, 4]
    (record,) = caplog.records
    assert f"without single kernels, up to 4 times slower: jax {jax.__version__}" in record.message
    kept = json.loads(unasked.read_text()) if unasked.exists() else {}
    assert list(kept.values()) == ([False] if fault == "crash" else [])


def test_it_is_asked_only_where_kernels_could_be(unasked, monkeypatch):
    with jax.disable_jit():
        kernel.run(True, lambda x: x + 1, jnp.arange(4))
    monkeypatch.setattr(kernel, "MAX_DEVICES", 0)
    kernel.run(True, lambda x: x + 1, jnp.arange(4))
    assert not unasked.exists()


def test_an_answer_is_asked_once_and_a_damaged_one_again(unasked, monkeypatch):
    asked = []
    monkeypatch.setattr(kernel, "probe", lambda: not asked.append(1))
    for damage in (None, None, "[", "[1]", "{}"):
        if damage is not None:
            unasked.write_text(damage)
        assert kernel._works()
        kernel._works.cache_clear()
    assert len(asked) == 4


SEARCHES = ((1, mcts.uct(0.8)), (1, mcts.uct2()), (64, mcts.uct(0.8)))
MORE = ((1, mcts.rave()), (2, mcts.uct(0.8)))


@pytest.mark.parametrize(
    ("marked", "searches"),
    [
        pytest.param(True, SEARCHES, id="kernels"),
        pytest.param(False, SEARCHES[:1], id="no kernels"),
        pytest.param(True, MORE, id="more kernels", marks=pytest.mark.slow),
        pytest.param(False, SEARCHES[1:2] + MORE, id="more without", marks=pytest.mark.slow),
    ],
)
def test_trees_are_not_copied(marked, searches, monkeypatch):
    """Only one array as large as the trees is ever there, so a simulation costs the same in a large tree."""
    if not marked:
        monkeypatch.setattr(kernel, "_works", lambda: False)
    simulations = 400
    for batch, rule in searches:

        def search(states, key, rule=rule):
            return mcts.search(GAME, states, key, simulations, select=rule)[:2]

        jax.clear_caches()
        program = jax.jit(search).lower(opening(batch), jax.random.key(1)).compile()
        trees = batch * (simulations + 2) * mcts.Layout(GAME, rule).bytes_per_node
        assert program.memory_analysis().temp_size_in_bytes < 1.6 * trees, (batch, rule)


def test_elsewhere_all_lanes_go_down_together(monkeypatch):
    """With the same results as on a CPU, where few go on alone; and with fewer loops."""
    # Enough for a batch of few, who go deep: most trees are of games that are over soon.
    states, key = opening(512), jax.random.key(1)
    late = jaxgames.rollout(GAME, states, key, 8)[0]
    states = jax.tree.map(lambda x, y: jnp.concatenate([x[:40], y[40:]]), states, late)
    lowered = jax.jit(searched).trace(states, key)
    on_cpu, elsewhere = (lowered.lower(lowering_platforms=(platform,)).as_text() for platform in ("cpu", "cuda"))
    assert on_cpu.count("stablehlo.while") - elsewhere.count("stablehlo.while") == 2  # down and up
    few = jax.jit(searched)(states, key)
    monkeypatch.setattr(kernel, "by_device", lambda on_cpu, elsewhere, *given: elsewhere(*given))
    jax.clear_caches()  # the search is jitted by itself, and would be the one that was traced before
    together = jax.jit(lambda states, key: searched(states, key))(states, key)
    jax.tree.map(np.testing.assert_array_equal, few, together)
