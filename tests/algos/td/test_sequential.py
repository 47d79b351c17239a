"""The learners of the comparison of 2007 against their formulas in NumPy, on the same games."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import make_config, make_learner
from jaxgames.ops.random_bits import random_bits
from tests.algos.td.recording import counts

CONFIG = make_config(
    "sequential_td", lambda_=0.7, hidden=(3,), games=2, symmetric=False, cumulative=True, biases=False, step_size=0.2,
    initializer="uniform:0.5",
)  # fmt: skip
KEY = jax.random.key(4)
# Whose turns compile in a fraction of the time. In the quick tier backgammon is learned in `recipes/test_training.py`.
RACE = CONFIG.replace(game="dash", encoding="track", games=8)


def turns_of(config):
    """The turn of a learner by some weights, compiled once: weights come and go as NumPy arrays."""
    learner = make_learner(config)
    return learner, jax.jit(learner._turn), jax.jit(learner.network.predict)


@pytest.fixture(scope="module")
def turns():
    """Those of backgammon."""
    return turns_of(CONFIG)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def inputs_of(learner, position, player):
    inputs = np.asarray(learner.network.encoding(position))[0].astype(np.float64)
    return inputs if player == 0 else np.asarray(learner.network.encoding.swap(inputs))


def forward(weights, x):
    """Hidden units, outputs, and the gradient of each output by both kernels: Ebert (2007), section 2.3.3."""
    first, second = weights
    hidden = sigmoid(x @ first)
    outputs = sigmoid(hidden @ second)
    gradients = []
    for k in range(4):
        slope = outputs[k] * (1 - outputs[k])
        last = np.zeros_like(second)
        last[:, k] = slope * hidden
        gradients.append((np.outer(x, slope * second[:, k] * hidden * (1 - hidden)), last))
    return outputs, gradients


def games_by_hand(turns, state, learn):
    """Plays the games of one update; `learn(weights, observed, target)` after each ply gives the weights."""
    learner, turn, _ = turns
    games_key, bits_key = jax.random.split(KEY)
    bits = random_bits(bits_key, (1,))
    openings = jax.jit(jax.vmap(learner.network.game.init_position))(jax.random.split(games_key, learner.config.games))
    layers = state.params["params"]
    weights = [np.asarray(layers[f"Dense_{i}"]["kernel"], np.float64) for i in range(2)]
    plies = 0
    for number in range(learner.config.games):
        game, observed, over = learner._begin(openings, bits, jnp.int32(number)), [], False
        while not over:
            params = {"params": {f"Dense_{i}": {"kernel": jnp.asarray(w, jnp.float32)} for i, w in enumerate(weights)}}
            after = turn(params, game, bits, jnp.int32(number))
            game, over, plies = after.game, bool(after.over), plies + 1
            observed.append(inputs_of(learner, after.position, int(after.player[0])))
            won = float(after.result)
            target = np.array([won >= 1, won <= -1, won >= 2, won <= -2], float) if over else None
            weights = learn(weights, observed, target)
    return weights, plies


def td(weights, observed, target):
    """One ply of TD(lambda), with the traces as the sums that they are; the last position's goal is the result."""
    if len(observed) == 1:
        td.traces = [[np.zeros_like(w) for w in weights] for _ in range(4)]
    else:
        weights = stepped(weights, forward(weights, observed[-1])[0] - td.expected)
    td.expected, gradients = forward(weights, observed[-1])
    td.traces = [[0.7 * t + g for t, g in zip(*both, strict=True)] for both in zip(td.traces, gradients, strict=True)]
    return weights if target is None else stepped(weights, target - td.expected)


def stepped(weights, errors):
    return [w + 0.2 * sum(errors[k] * td.traces[k][i] for k in range(4)) for i, w in enumerate(weights)]


def backprop(weights, observed, target):
    """A step for each position of the game, when it is over."""
    for x in observed if target is not None else ():
        outputs, gradients = forward(weights, x)
        weights = [
            w + 0.2 * sum((target[k] - outputs[k]) * gradients[k][i] for k in range(4)) for i, w in enumerate(weights)
        ]
    return weights


@pytest.mark.parametrize(
    ("method", "learn", "config"),
    [
        pytest.param("sequential_td", td, RACE, id="td"),
        pytest.param("sequential_backprop", backprop, RACE, id="backprop"),
        pytest.param("sequential_td", td, CONFIG, id="td of backgammon", marks=pytest.mark.slow),
        pytest.param("sequential_backprop", backprop, CONFIG, id="backprop of backgammon", marks=pytest.mark.slow),
    ],
)
def test_weights_after_some_games(turns, method, learn, config):
    learner = make_learner(config.replace(method=method))
    state = learner.init(jax.random.key(0))
    expected, plies = games_by_hand(turns if config is CONFIG else turns_of(config), state, learn)
    after, metrics = jax.jit(learner.update)(state, KEY)
    assert (int(metrics.games), int(metrics.plies), int(metrics.positions)) == (config.games, plies, plies)
    for i, weights in enumerate(expected):
        found = after.params["params"][f"Dense_{i}"]
        assert set(found) == {"kernel"}
        np.testing.assert_allclose(found["kernel"], weights, atol=1e-5)
        assert np.abs(weights - np.asarray(state.params["params"][f"Dense_{i}"]["kernel"])).max() > 1e-3


@pytest.mark.slow  # 15 s of the compiler; in the quick tier the choice alone is tested in `test_value.py`
def test_weights_that_are_nan_choose_legal_plays(turns):
    """What they choose is worth nothing, but a game of backgammon comes to its end."""
    learner, turn, _ = turns
    bits = random_bits(KEY, (1,))
    openings = jax.jit(jax.vmap(learner.network.game.init_position))(jax.random.split(KEY, CONFIG.games))
    params = jax.tree.map(lambda x: np.full(x.shape, np.nan, x.dtype), jax.eval_shape(learner.network.init, KEY))
    game, over, plies = learner._begin(openings, bits, jnp.int32(0)), False, 0
    while not over:
        after = turn(params, game, bits, jnp.int32(0))
        game, over, plies = after.game, bool(after.over), plies + 1
        for side in (after.position.own, after.position.opponent):
            assert sum(counts(side, 0)) <= 15 and (over or sum(counts(side, 0)) > 0)
    assert plies > 10


def test_values_add_gammons_to_wins(turns):
    learner, _, predict = turns
    params = learner.network.init(jax.random.key(1))
    game = learner.network.game
    positions = jax.tree.map(lambda x: x[None], game.init_position(jax.random.key(2)))
    white_wins, black_wins, white_gammons, black_gammons = predict(params, positions, jnp.zeros(1, jnp.int32))[0]
    worth = learner.network.value(params, 0)(positions)[0]
    assert worth == pytest.approx(float(white_wins + white_gammons - black_wins - black_gammons), abs=1e-6)
    outcomes = learner.network.outcomes
    results = jnp.asarray([1.0, -2.0, 3.0, -1.0])
    assert outcomes.target(results).tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0]]


def test_has_no_batch():
    """It plays one game at a time."""
    for name in ("batch", "optimizer", "epsilon"):
        with pytest.raises(ValueError, match=f"^unknown setting '{name}' of a TD learner; available: method, "):
            CONFIG.replace(**{name: 2})
