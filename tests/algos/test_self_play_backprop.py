"""Learning from the results of games, one at a time, beside a plain NumPy program of the same."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.self_play_backprop import (
    FIRST,
    SECOND,
    SELF,
    PopulationMLP,
    SeenPositions,
    SelfPlayBackprop,
    SelfPlaySettings,
    SquareEncoding,
    SquareFeatures,
    encode_with,
)
from jaxgames.nets import MLP
from jaxgames.ops.random_bits import random_bits
from tests.algos.small_games import Nim

GAME = jaxgames.make("tic_tac_toe")
MEMBERS, PLIES = 3, 9
NETWORK = MLP((6, 4, 1), "bipolar_sigmoid", "bipolar_sigmoid", "uniform:1")
LEARNER = SelfPlayBackprop(GAME, PopulationMLP(NETWORK, 9), encode_with(GAME.encodings["cells_0.01"]), MEMBERS, PLIES)
SQUARES = SquareEncoding(GAME)
ABSOLUTE = SelfPlayBackprop(GAME, PopulationMLP(NETWORK, SQUARES.inputs), SQUARES, MEMBERS, PLIES)
SIDE = 0.5  # the tenth input, where there is one
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
update = jax.jit(LEARNER.update)


def settings(kinds, both_sides=True, step_size=0.3):
    cycle = jnp.asarray([kinds[i % len(kinds)] for i in range(6)], jnp.int32)
    return SelfPlaySettings(jnp.float32(step_size), cycle, jnp.bool_(both_sides))


def activations(layers, x):
    """The output of every layer, the inputs included."""
    found = [x]
    for kernel, bias in layers:
        found.append(2 / (1 + np.exp(-(kernel @ found[-1] + bias))) - 1)
    return found


def backprop(layers, x, target):
    """Gradients of half the squared error, and the error."""
    units = activations(layers, x)
    delta, gradients = units[-1] - target, []
    for (kernel, _), before, after in zip(layers[::-1], units[-2::-1], units[:0:-1], strict=True):
        delta = delta * 0.5 * (1 + after) * (1 - after)
        gradients.append((np.outer(delta, before), delta))
        delta = kernel.T @ delta
    return gradients[::-1], float(units[-1][0] - target)


def inputs(cells, player, absolute):
    """What a network sees after a move of this player, and for whom it values it: 1 the first player, -1 the second."""
    view = 1 if absolute else player
    squares = [0.01 if cell == 0 else cell * view for cell in cells]
    return np.array([*squares, -player * SIDE] if absolute else squares), view


def reference_game(layers, kind, words, both_sides, step_size, absolute):
    """One game of one network and the steps after it: layers, result, squared error, number of positions."""
    cells, learned, result = [0] * 9, [], 0
    for ply in range(9):
        player = 1 if ply % 2 == 0 else -1
        free = [i for i in range(9) if cells[i] == 0]
        network = kind == SELF or (kind == FIRST) == (player == 1)
        if network:
            after = [[player if i == cell else c for i, c in enumerate(cells)] for cell in free]
            seen = [inputs(board, player, absolute) for board in after]
            action = free[int(np.argmax([view * player * activations(layers, x)[-1][0] for x, view in seen]))]
        else:
            action = free[int(words[ply]) * len(free) >> 32]
        cells[action] = player
        if network or both_sides:
            learned.append(inputs(cells, player, absolute))
        if any(all(cells[i] == player for i in line) for line in LINES):
            result = player
            break
    squares = 0.0
    for x, view in learned:
        gradients, error = backprop(layers, x, result * view)
        squares += error**2
        layers = [
            tuple(old - step_size * g for old, g in zip(*pair, strict=True))
            for pair in zip(layers, gradients, strict=True)
        ]
    return layers, result * (-1 if kind == SECOND else 1), squares, len(learned)


@pytest.mark.parametrize(("both_sides", "absolute"), [(True, False), (False, False), (True, True)])
def test_games_and_steps_are_those_of_the_reference(both_sides, absolute):
    learner, step = (ABSOLUTE, jax.jit(ABSOLUTE.update)) if absolute else (LEARNER, update)
    features = SquareFeatures(*map(jnp.float32, (0.01, 1, SIDE))) if absolute else ()
    first = settings([SELF, FIRST, SECOND], both_sides)._replace(features=features)
    state = learner.init(jax.random.key(5), first)
    networks = [[(np.float64(k[..., m]), np.float64(b[..., m])) for k, b in state.params] for m in range(MEMBERS)]
    results = set()
    for number in range(12):
        key = jax.random.fold_in(jax.random.key(6), number)
        words = np.asarray(random_bits(key, (PLIES, MEMBERS)))
        state, metrics = step(state, key)
        played, params = jax.device_get((metrics, state.params))
        assert played.kind == number % 3
        for m in range(MEMBERS):
            networks[m], *expected = reference_game(networks[m], number % 3, words[:, m], both_sides, 0.3, absolute)
            found = played.result[m], played.squared_error[m], played.positions[m]
            np.testing.assert_allclose(found, expected, rtol=1e-4)
            results.add((number % 3, expected[0]))
            for layer, (kernel, bias) in zip(params, networks[m], strict=True):
                np.testing.assert_allclose(layer.kernel[..., m], kernel, atol=2e-5)
                np.testing.assert_allclose(layer.bias[..., m], bias, atol=2e-5)
    assert len(results) >= 5  # kinds of games and ways in which they ended
    assert state.games == 12


def test_a_population_is_its_networks():
    population, key = LEARNER.network, jax.random.key(1)
    params = population.init(key, 4)
    x = jax.random.normal(jax.random.key(2), (9, 5, 4))

    def together(params, x):
        return population.apply(params, x)

    def apart(params, x):
        members = [population.member(params, m) for m in range(4)]
        return jnp.stack([NETWORK.apply(member, x[..., m].T)[:, 0] for m, member in enumerate(members)], axis=-1)

    def gradients(values):
        return jax.jit(jax.grad(lambda params, x: jnp.sum(jnp.sin(values(params, x))), argnums=(0, 1)))(params, x)

    np.testing.assert_allclose(jax.jit(together)(params, x), jax.jit(apart)(params, x), atol=1e-6)
    for one, other in zip(jax.tree.leaves(gradients(together)), jax.tree.leaves(gradients(apart)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    for few, many in zip(population.init(key, 2), params, strict=True):
        np.testing.assert_array_equal(few.kernel, many.kernel[..., :2])


def test_positions_are_seen_by_the_player_who_moved():
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(GAME.parse(text) for text in ("X../.O./...", "X../.../...")))
    seen = encode_with(GAME.encodings["cells_0.01"])((), positions, jnp.asarray([1, 0]), jnp.asarray([True, True]))
    np.testing.assert_array_equal(seen.sign, [1, 1])
    np.testing.assert_array_equal(seen.inputs[:, 0], np.float32([-1, 0.01, 0.01, 0.01, 1, 0.01, 0.01, 0.01, 0.01]))
    assert seen.inputs[0, 1] == 1


def test_any_game_without_chance_is_learned():
    game = Nim()

    def encode(features, positions, mover, turned):
        seen = jax.vmap(game.observe_position, in_axes=(0, None))(positions, jnp.bool_(True)).astype(jnp.float32).T
        return SeenPositions(seen, jnp.ones(len(mover), jnp.float32))

    network = MLP((8, 1), "tanh", "tanh", "uniform:0.5")
    learner = SelfPlayBackprop(game, PopulationMLP(network, 13), encode, members=8, max_plies=12)

    @partial(jax.jit, static_argnums=1)
    def learn(state, games):
        keys = jax.random.split(jax.random.key(3), games)
        return jax.lax.scan(learner.update, state, keys)

    state, _ = learn(learner.init(jax.random.key(4))._replace(settings=settings([FIRST, SECOND, SELF])), 4000)
    left = jnp.arange(1, 13, dtype=jnp.int32)
    values = learner.network.apply(state.params, jnp.eye(13)[:, 1:, None] * jnp.ones((1, 1, 8)))
    won = np.asarray(left) % 4 == 0  # for the player who leaves so much
    assert np.median(values[won]) > 0.5 > np.median(values[~won])


class CutOff(type(GAME)):
    """Tic-tac-toe that is truncated after four actions."""

    step_limit = 4


@pytest.mark.parametrize(("game", "most"), [(GAME, 4), (CutOff(), 9)])
def test_nothing_is_learned_from_a_game_that_was_broken_off(game, most):
    encode = encode_with(game.encodings["cells_0.01"])
    learner = SelfPlayBackprop(game, LEARNER.network, encode, MEMBERS, max_plies=most)
    state = learner.init(jax.random.key(0))
    after, metrics = jax.jit(learner.update)(state, jax.random.key(1))
    np.testing.assert_array_equal(metrics.positions, 0)
    jax.tree.map(np.testing.assert_array_equal, after.params, state.params)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: PopulationMLP(MLP((4, 2)), 9), "2 outputs"),
        (lambda: PopulationMLP(MLP((4, 1), output="softmax"), 9), "softmax"),
        (lambda: SelfPlayBackprop(jaxgames.make("backgammon"), LEARNER.network, LEARNER.encode, 1, 9), "chance"),
    ],
)
def test_what_cannot_be_learned_is_refused(make, expected):
    with pytest.raises(ValueError, match=expected):
        make()
