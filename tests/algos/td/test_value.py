"""Networks as values of positions: predictions, gradients, and the fast choice of plays, against NumPy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import ValueNetwork, make_config
from jaxgames.algos.td.self_play import Ply
from jaxgames.algos.td.td_lambda import OuterProduct
from jaxgames.algos.td.value import apart, repeated, scale_outputs
from jaxgames.envs.backgammon import board
from jaxgames.envs.core import Game
from jaxgames.nets import MLP
from tests.algos.small_games import Heap, Nim, Track
from tests.algos.td import reference
from tests.algos.td.recording import layers_of, see_checkers, see_track
from tests.envs.backgammon.boards import as_bytes, boards_of, gnubg_rows, left_of, positions, random_boards

BATCH = 64


def network(symmetric: bool, **changes) -> tuple[ValueNetwork, dict]:
    """A network with weights of either sign that are larger than the usual first ones, so that values differ more."""
    made = make_config(hidden=(6,), symmetric=symmetric, initializer="uniform:0.8", **changes).network()
    return made, made.init(jax.random.key(7))


@pytest.fixture(scope="module")
def rows(data_dir):
    boards, rolls, results = gnubg_rows(data_dir)
    chosen = slice(0, 7 * 4 * BATCH, 7)  # all through the games
    # Where no checker can move nothing is listed, and the board stays.
    results = [found or {board} for found, board in zip(results, as_bytes(boards), strict=True)]
    return boards[chosen], rolls[chosen], results[chosen]


@pytest.mark.parametrize(("name", "inputs"), [("tesauro", reference.tesauro), ("extra", reference.extra)])
def test_inputs(rows, name, inputs):
    """Seen by the player about to roll, and, swapped, by the other one."""
    boards = np.concatenate([rows[0], random_boards(np.random.default_rng(0), 100)])
    encoding = make_config(encoding=name).network().encoding
    found = np.asarray(jax.jit(encoding)(positions(boards, [()] * len(boards))))
    assert found.shape == (len(boards), encoding.size)
    np.testing.assert_allclose(found, [inputs(own, other) for own, other in boards], atol=1e-6)
    swapped = [inputs(other, own, own_acts=False) for own, other in boards]
    np.testing.assert_allclose(jax.jit(encoding.swap)(found), swapped, atol=1e-6)


@pytest.mark.parametrize(("symmetric", "outputs"), [(True, 2), (True, 4), (False, 6)])
def test_predictions(rows, symmetric, outputs):
    made, params = network(symmetric, outputs=outputs)
    boards = rows[0][:40]
    batch = positions(boards, [()] * len(boards))
    players = np.arange(len(boards), dtype=np.int32) % 2
    found = jax.jit(made.predict)(params, batch, players)
    value_of = jax.jit(lambda params, player, batch: made.value(params, player)(batch))
    wanted = [
        reference.predict(layers_of(params), see_checkers(own, other, player, symmetric))
        for (own, other), player in zip(boards, players, strict=True)
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    # The value is that of the player to act.
    for player in (0, 1):
        value = value_of(params, jnp.int32(player), batch)
        points = np.array([reference.expected(outputs) for outputs in wanted]) * (1 - 2 * player)
        np.testing.assert_allclose(np.asarray(value)[players == player], points[players == player], atol=2e-5)


@pytest.mark.parametrize("symmetric", [True, False])
def test_exchange_of_the_players(rows, symmetric):
    """What the first player expects in a position, the second one expects when they have changed places."""
    made, params = network(symmetric)
    batch = positions(rows[0][:40], [()] * 40)
    predict = jax.jit(made.predict)
    first, second = (predict(params, batch, np.full(40, player, np.int32)) for player in (0, 1))
    same = np.abs(np.asarray(first) - jax.jit(made.outcomes.flip)(second)).max()
    assert same < 1e-6 if symmetric else same > 0.01


@pytest.mark.parametrize("symmetric", [True, False])
def test_gradients(symmetric):
    made, params = network(symmetric, game="dash", encoding="track")
    deep = make_config(game="dash", encoding="track", hidden=(5, 4), outputs=6, symmetric=symmetric).network()
    track = Track(np.array([3, 9, 1, 4]), np.array([5, 2, 9, 4]), np.zeros(4, int))
    track = jax.tree.map(lambda x: jnp.asarray(x, jnp.int32), track)
    player = jnp.asarray([0, 1, 1, 0], jnp.int32)
    ply = Ply(track, player, np.zeros(4, bool), np.zeros(4))
    for value_network, weights in ((made, params), (deep, deep.init(jax.random.key(2)))):
        found = jax.device_get(jax.jit(value_network.gradients)(weights, track, player))
        found = jax.tree.map(
            lambda x: x.inputs[:, None, :, None] * x.errors[:, :, None, :] if isinstance(x, OuterProduct) else x,
            found,
            is_leaf=lambda x: isinstance(x, OuterProduct),
        )
        for number in range(4):
            wanted = reference.gradients(layers_of(weights), see_track(symmetric)(ply, number))
            for output, slopes in enumerate(wanted):
                one = layers_of(jax.tree.map(lambda x, n=number, k=output: x[n, k], found))
                for a, b in zip(one, slopes, strict=True):
                    np.testing.assert_allclose(a.kernel, b.kernel, atol=1e-6)
                    np.testing.assert_allclose(a.bias, b.bias, atol=1e-6)


@partial(jax.jit, static_argnames="made")
def best_turn(made: ValueNetwork, params, batch, player):
    """The turns after which `player` is to act."""
    return made.game.best_turn(batch, made.value(params, player))


@pytest.mark.parametrize("player", [0, 1])
def test_the_fast_choice_is_the_best_play(rows, player):
    """Of all plays that GNU Backgammon knows. Without symmetry, the first layer is swapped for the second player."""
    made, params = network(symmetric=False)
    layers, chosen_is_best = layers_of(params), 0
    for start in range(0, len(rows[0]), BATCH):
        boards, rolls, results = (part[start : start + BATCH] for part in rows)
        batch = positions(boards, [left_of(roll) for roll in rolls])
        outcome, score = jax.device_get(best_turn(made, params, batch, jnp.int32(player)))
        chosen = as_bytes(boards_of(outcome.position.opponent, outcome.position.own))
        for index, reached in enumerate(results):
            worths = {play: worth(layers, np.frombuffer(play, np.uint8).reshape(2, 25), player) for play in reached}
            best = max(worths.values())
            np.testing.assert_allclose([score[index], worths[chosen[index]]], best, atol=1e-5)
            chosen_is_best += worths[chosen[index]] == best
    assert chosen_is_best >= len(rows[0]) - 2


def worth(layers, checkers: np.ndarray, player: int) -> float:
    """What a play is worth to the mover if it leads to these checkers, the mover's first, and `player` acts next."""
    mover, other = checkers.astype(int)
    if not mover.any():
        return 1.0 + (other.sum() == 15) + (other.sum() == 15 and other[18:].any())
    first = reference.expected(reference.predict(layers, see_checkers(other, mover, player, symmetric=False)))
    return first if player == 1 else -first


def test_nan_weights_choose_legal_plays(rows):
    made, params = network(symmetric=False)
    nan = jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), params)
    for start in range(0, len(rows[0]), BATCH):
        boards, rolls, results = (part[start : start + BATCH] for part in rows)
        batch = positions(boards, [left_of(roll) for roll in rolls])
        outcome, _ = jax.device_get(best_turn(made, nan, batch, jnp.int32(0)))
        chosen = as_bytes(boards_of(outcome.position.opponent, outcome.position.own))
        assert all(play in reached for play, reached in zip(chosen, results, strict=True))


def test_values_that_are_no_numbers_choose_legal_actions():
    """On the way of all games: no value at all, then one that knows only some positions, then minus infinity."""
    game, heaps = Nim(), Heap(jnp.arange(1, 13, dtype=jnp.int32))

    @jax.jit
    def always(heaps, left):
        return Game.best_turn(game, heaps, lambda after: jnp.full(after.left.shape, left))

    for left, wanted in ((np.nan, 1), (-np.inf, 1), (np.inf, 1)):
        outcome, _ = always(heaps, np.float32(left))
        taken = np.asarray(heaps.left) - np.asarray(outcome.position.left)
        assert ((taken >= wanted) & (taken <= np.minimum(heaps.left, 3))).all()
        assert (taken[:3] == [1, 2, 3]).all() or left < 0  # nothing beats taking the last one

    # A heap of 1 or 2 is worth nothing that is known, of the others the opponent likes 3 less than 4.
    @jax.jit
    def of_some(heaps):
        return Game.best_turn(game, heaps, lambda after: jnp.where(after.left > 2, after.left.astype("f4"), jnp.nan))

    outcome, score = of_some(Heap(jnp.int32([4, 5, 6])))
    assert outcome.position.left.tolist() == [3, 3, 3] and score.tolist() == [-3, -3, -3]


def test_observations_need_symmetry():
    made = make_config(game="nim", encoding="observation", outputs=2, symmetric=False).network()
    with pytest.raises(ValueError, match="use symmetric=True") as error:
        made.predict(made.init(jax.random.key(0)), Heap(jnp.int32([3])), jnp.int32([1]))
    assert "\n" not in str(error.value)


def test_boards_of_this_test_are_read_right(rows):
    """The checkers that the reference sees are those of the game's words."""
    batch = positions(rows[0][:5], [()] * 5)
    assert (np.asarray(board.to_counts(board.Side(*map(jnp.asarray, batch.own)))) == rows[0][:5, 0]).all()


INPUTS = jax.random.normal(jax.random.key(1), (5, 4))


def nets(members, biases):
    return MLP((2, 3), output="identity", biases=biases), MLP((2 * members, 3), output="identity", biases=biases)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("members", [1, 3])
def test_a_mean_of_members_is_one_network(members, biases):
    small, large = nets(members, biases)
    params = large.init(jax.random.key(0), INPUTS)
    each = jax.vmap(lambda member: small.apply(member, INPUTS))(apart(params, members))
    assert each.shape == (members, 5, 3) and (members == 1 or float(jnp.abs(each[0] - each[1]).min()) > 1e-3)
    np.testing.assert_allclose(large.apply(scale_outputs(params, 1 / members), INPUTS), each.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("biases", [True, False])
def test_equal_members_compute_what_one_does(biases):
    small, large = nets(3, biases)
    params = small.init(jax.random.key(0), INPUTS)
    np.testing.assert_allclose(large.apply(repeated(params, 3), INPUTS), small.apply(params, INPUTS), atol=1e-6)
    assert repeated(params, 1) is params


def test_classes_stand_before_the_members():
    small, large = nets(2, True)
    classes = jax.vmap(lambda key: large.init(key, INPUTS))(jax.random.split(jax.random.key(0), 3))
    for number in range(3):
        one = apart(jax.tree.map(lambda x, n=number: x[n], classes), 2)
        jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda x, n=number: x[:, n], apart(classes, 2)), one)
        assert jax.vmap(lambda member: small.apply(member, INPUTS))(one).shape == (2, 5, 3)
