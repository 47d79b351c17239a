"""Code written for pgx runs on our games: its own test of a game, its wrapper, a self-play training with mctx."""

import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from tests.oracles import oracle

SCRIPT = Path(__file__).with_name("pgx_mctx_script.py")
OTHER_IMPORTS = {
    "import pgx\n": "import jaxgames as pgx\n",
    "from pgx.experimental.wrappers import auto_reset\n": "from jaxgames import auto_reset\n",
}


@pytest.fixture(autouse=True)
def lax():
    """The promotions that pgx needs; and what other packages warn of is no failure of ours."""
    with warnings.catch_warnings(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def api_test(monkeypatch, compiled_quickly):
    """pgx's test of a game. Its sampler asks for a second axis that the mask of one state does not have."""
    pgx = oracle("pgx")

    def act_randomly(key, mask):
        return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=-1)

    monkeypatch.setattr("pgx._src.api_test.act_randomly", jax.jit(act_randomly))
    return pgx.api_test


@pytest.mark.parametrize(("name", "games"), [("tic_tac_toe", 5), ("connect_four", 3), ("backgammon", 1)])
def test_api_test_passes(api_test, name, games):
    api_test(jaxgames.make(name), num=games)


def test_api_test_knows_no_checkers(api_test, monkeypatch):
    """But for its list of ids, a game that pgx does not have passes."""
    game = jaxgames.make("checkers", max_moves=1000)
    with pytest.raises(AssertionError):
        api_test(game, num=1)
    monkeypatch.setattr("pgx._src.api_test.get_args", lambda _: ["checkers"])
    api_test(game, num=1)


@pytest.mark.parametrize("name", ["connect_four", "backgammon"])
def test_the_wrapper_of_pgx_does_the_same(compiled_quickly, name):
    wrappers = oracle("pgx.experimental.wrappers")
    game = jaxgames.make(name)
    steps = [auto_reset(game.step, game.init) for auto_reset in (jaxgames.auto_reset, wrappers.auto_reset)]

    def both(states, key):
        keys = jax.random.split(key, 16)
        actions = jaxgames.random_action(key, states[0])
        after = tuple(jax.vmap(step)(state, actions, keys) for step, state in zip(steps, states, strict=True))
        return after, after

    @jax.jit
    def play(key):
        start = jax.vmap(game.init)(jax.random.split(key, 16))
        return jax.lax.scan(both, (start, start), jax.random.split(key, 400))[1]

    ours, theirs = jax.device_get(play(jax.random.key(0)))
    assert ours.terminated.sum() > 16 and ours.rewards.any()
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (one == other).all()


def train_of(text):
    """The function `train` of a script."""
    names = {"__name__": "script"}
    exec(compile(text, SCRIPT.name, "exec"), names)
    return names["train"]


def histories(name):
    """What both trainings saw and learned."""
    for package in ("pgx", "mctx"):
        oracle(package)
    theirs = ours = SCRIPT.read_text("utf-8")
    for line, other in OTHER_IMPORTS.items():
        assert theirs.count(line) == 1
        ours = ours.replace(line, other)
    return [jax.device_get(train_of(text)(name)) for text in (ours, theirs)]


def check_search(ours, theirs, tolerance):
    """The same searches, games and network."""
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        if one.dtype == np.float32:
            np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)
        else:
            assert (one == other).all()
    data = ours[1][-1]
    assert data["over"].any() and data["reward"].any() and len(set(data["action"].ravel())) > 3
    assert (data["visits"] > 0).sum(axis=-1).max() > 2


@pytest.mark.parametrize("name", ["tic_tac_toe", pytest.param("connect_four", marks=pytest.mark.slow)])  # 9 s each
def test_a_training_with_mctx_only_changes_its_imports(compiled_quickly, name):
    """But for rounding, which differs a little without optimizations."""
    check_search(*histories(name), 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_a_training_with_mctx_is_equal_to_the_last_bit(name):
    check_search(*histories(name), 0)
