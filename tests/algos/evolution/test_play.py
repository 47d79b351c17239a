"""Populations play exactly as a plain player does, game by game.

Weights are small multiples of 1/8 and hidden units relu, so that sums of float32 are exact in any order: equal outputs
are equal in both, and there are many.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.evolution.fitness import SCORES
from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.evolution.play import FixedPlayer, Networks, RandomMoves, play
from jaxgames.algos.evolution.policies import Afterstate, Outputs
from jaxgames.nets import MLP
from tests.algos.evolution import reference_play as reference
from tests.algos.small_games import ShortRelay

TIC_TAC_TOE = reference.ConnectX(3, 3, 3, falls=False)
CONNECT_FOUR = reference.ConnectX(6, 7, 4, falls=True)
DRAW_AFTER = 40
DRAUGHTS = reference.Draughts(DRAW_AFTER)
QUICKLY = {"xla_backend_optimization_level": "0"}  # compiled so, as each program runs once


def exact_weights(seed, number, genomes):
    """float32[number, dimension]: weights that float32 adds without rounding."""
    weights = np.random.default_rng(seed).integers(-8, 9, (number, genomes.dimension)) / 8
    return weights.astype(np.float32)


def layers_of(genomes, row):
    """A row's layers, as the reference has them."""
    layers, start = [], 0
    for outputs, inputs in genomes.shapes:
        end = start + outputs * inputs
        layers.append((row[start:end].reshape(outputs, inputs), row[end : end + outputs]))
        start = end + outputs
    return layers


def genomes_of(inputs, *sizes):
    return Genomes(MLP(sizes, "relu", "identity"), inputs)


def choosers(game, policy, rows, **how):
    """The reference's players for rows of networks."""
    networks = [layers_of(policy.genomes, row) for row in rows]
    if isinstance(policy, Afterstate):
        return [reference.afterstate_chooser(game, network) for network in networks]
    return [reference.network_chooser(game, network, strict=policy.strict, **how) for network in networks]


def pairings(sides, count):
    """Opponent, and whether the candidate begins, of each game of a candidate, and the number of its random stream."""
    if sides == "alternate":
        return [(each, each % 2 == 0, each + count * (each % 2)) for each in range(count)]
    begun = {"both": (True, False), "first": (True,), "second": (False,)}[sides]
    return [(each, begins, each + count * (not begins)) for begins in begun for each in range(count)]


def expected(game, candidates, opponents, sides, words=None):
    """All games by the reference: arrays as in `Results`. `words(candidate, stream, ply)` is a random word."""
    games = pairings(sides, len(opponents))
    results = [
        reference.play(
            game,
            candidate,
            opponents[opponent],
            begins,
            (lambda ply, number=number, stream=stream: words(number, stream, ply)) if words else (lambda ply: 0),
        )
        for number, candidate in enumerate(candidates)
        for opponent, begins, stream in games
    ]
    return [np.reshape(column, (len(candidates), len(games))) for column in zip(*results, strict=True)]


def played(policy, rows, opponents, sides, key=None, details=True, **options):
    key = jax.random.key(0) if key is None else key
    numbers = jnp.arange(len(rows), dtype=jnp.int32)

    def games(rows, opponents):
        return play(policy, rows, opponents, key, numbers, sides, details=details, **options)

    return jax.device_get(jax.jit(games, compiler_options=QUICKLY)(jnp.asarray(rows), opponents))


def assert_same(results, plain):
    """The same points, illegal actions and details."""
    found = {"points": results.points, "illegal": results.illegal, **results.details._asdict()}
    for (name, ours), theirs in zip(found.items(), plain, strict=True):
        assert ours.shape == theirs.shape, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


@pytest.mark.parametrize("strict", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_512_candidates_and_64_opponents(strict):
    """In the quick tier the next game has strict networks."""
    policy = Outputs(jaxgames.make("tic_tac_toe"), genomes_of(9, 18, 18, 9), "cells", "highest", strict)
    rows, others = exact_weights(0, 512, policy.genomes), exact_weights(1, 64, policy.genomes)
    results = played(policy, rows, Networks(policy, jnp.asarray(others)), "alternate")
    plain = expected(
        TIC_TAC_TOE, choosers(TIC_TAC_TOE, policy, rows), choosers(TIC_TAC_TOE, policy, others), "alternate"
    )
    assert_same(results, plain)
    points, illegal, *_ = plain
    np.testing.assert_array_equal(SCORES["wins"](results), (points == 1) + (points == 0) / 2 - illegal)
    np.testing.assert_array_equal(SCORES["points"](results), points)
    assert {-1, 1} <= set(np.unique(results.points)) and results.illegal.any() == strict
    assert len(np.unique(results.details.plies)) > 4
    bare = played(policy, rows, Networks(policy, jnp.asarray(others)), "alternate", details=False)
    assert bare.details is None
    np.testing.assert_array_equal(bare.points, results.points)
    np.testing.assert_array_equal(bare.illegal, results.illegal)


@pytest.mark.parametrize("strict", [pytest.param(False, marks=pytest.mark.slow), True])
def test_connect_four(strict):
    policy = Outputs(jaxgames.make("connect_four"), genomes_of(42, 16, 7), "cells", "highest", strict)
    rows, others = exact_weights(2, 16, policy.genomes), exact_weights(3, 5, policy.genomes)
    results = played(policy, rows, Networks(policy, jnp.asarray(others)), "both")
    plain = [choosers(CONNECT_FOUR, policy, each) for each in (rows, others)]
    assert_same(results, expected(CONNECT_FOUR, *plain, "both"))
    assert len(np.unique(results.points)) > 1 and results.illegal.any() == strict


@pytest.mark.parametrize(("strict", "sides"), [(False, "second"), (True, "first")])
def test_checkers(strict, sides):
    """Networks that name squares, of strict ones those that know a legal opening move, meet others that name actions
    and see one square only.
    """
    game = jaxgames.make("checkers", draw_after=DRAW_AFTER)
    policy = Outputs(game, genomes_of(64, 8, 64), "board64", "squares", strict)
    other = Outputs(game, genomes_of(32, 4, 128), "one_square")
    rows, others = exact_weights(4, 6 if not strict else 3_000, policy.genomes), exact_weights(5, 3, other.genomes)
    if strict:
        opens = choosers(DRAUGHTS, policy, rows, read=reference.squares)
        rows = rows[[choose(DRAUGHTS.start, 0) is not None for choose in opens]]
        assert len(rows) > 5
    results = played(policy, rows, Networks(other, jnp.asarray(others)), sides)
    plain = expected(
        DRAUGHTS,
        choosers(DRAUGHTS, policy, rows, read=reference.squares),
        choosers(reference.Draughts(DRAW_AFTER, one_square=0), other, others),
        sides,
    )
    assert_same(results, plain)
    assert results.illegal.any() == strict
    if not strict:
        details = results.details
        assert (details.captures > 0).any() and (details.pieces != details.material).any()  # kings are worth more


@pytest.mark.parametrize("name", ["tic_tac_toe", pytest.param("connect_four", marks=pytest.mark.slow)])
def test_networks_that_look_one_action_ahead(name):
    """Against more than a few networks: these are asked in an order of games of their own."""
    rules = {"tic_tac_toe": TIC_TAC_TOE, "connect_four": CONNECT_FOUR}[name]
    policy = Afterstate(jaxgames.make(name), genomes_of(rules.rows * rules.cols, 8, 1), "cells")
    rows, others = exact_weights(8, 12, policy.genomes), exact_weights(9, 9, policy.genomes)
    results = played(policy, rows, Networks(policy, jnp.asarray(others)), "second")
    plain = [choosers(rules, policy, each) for each in (rows, others)]
    assert_same(results, expected(rules, *plain, "second"))
    assert len(np.unique(results.points)) > 1


def words_of(key, games, numbers):
    """The random word of a candidate's ply."""
    first = reference.random_bits(jax.random.key_data(key).tolist(), games)
    streams = reference.fold_in(first[None], np.asarray(numbers)[:, None])
    return lambda candidate, stream, ply: reference.fold_in(streams[candidate, stream], ply + 1)


@pytest.mark.parametrize(
    ("sides", "most_plies", "count"), [("both", 1_000, 9), ("both", 1_000, 8), ("alternate", 6, 9)]
)
def test_random_opponents(sides, most_plies, count):
    """The moves are those of the words that each game, ply and candidate has of its own. A game that is stopped is
    worth nothing. Opponents of whom 8 meet each candidate move in the games as these stand; 9 are no whole lanes.
    """
    policy = Outputs(jaxgames.make("tic_tac_toe"), genomes_of(9, 6, 9), "cells")
    rows, key = exact_weights(10, 24, policy.genomes), jax.random.key(11)
    results = played(policy, rows, RandomMoves(count), sides, key, most_plies=most_plies)
    words = words_of(key, 2 * count, range(len(rows)))
    opponents = [reference.random_chooser(TIC_TAC_TOE)] * count
    plain = expected(TIC_TAC_TOE, choosers(TIC_TAC_TOE, policy, rows), opponents, sides, words)
    stopped = plain[3] > most_plies
    assert stopped.any() == (most_plies == 6) and not stopped.all() and len(np.unique(plain[3])) > 3
    plain[0][stopped], plain[3][stopped], plain[5][stopped] = 0, most_plies, most_plies // 2
    assert_same(results, plain)


def test_games_stop_at_the_limit_of_their_own():
    """It counts turns, also those in a row: games that it does not stop are as ever."""
    games = ShortRelay(), ShortRelay(None)
    policies = [Outputs(game, genomes_of(22, 2), "track") for game in games]
    rows = exact_weights(13, 8, policies[0].genomes)
    short, long = (played(policy, rows, RandomMoves(8), "first", details=("plies",)) for policy in policies)
    limit, whole = games[0].step_limit, long.details.plies
    stopped = whole > limit
    assert stopped.any() and (short.points[~stopped] != 0).any()
    np.testing.assert_array_equal(short.points, np.where(stopped, 0, long.points))
    np.testing.assert_array_equal(short.details.plies, np.minimum(whole, limit))


def test_other_players():
    """Any player's turns: here the legal action of the highest number, where `params` says so, or of the lowest."""
    game = jaxgames.make("connect_four")
    policy = Outputs(game, genomes_of(42, 8, 7), "cells")

    def turn(params, positions, words):
        legal = jax.vmap(game.legal)(positions)
        numbers = jnp.arange(7, dtype=jnp.int32)[None]
        last = jnp.max(jnp.where(legal, numbers, -1), axis=1)
        first = jnp.min(jnp.where(legal, numbers, 7), axis=1)
        return jax.vmap(game.play)(positions, jnp.where(params, last, first))

    rows = exact_weights(12, 10, policy.genomes)
    results = played(policy, rows, FixedPlayer(turn, jnp.bool_(True), 2), "second")
    opponents = [lambda position, word: max(CONNECT_FOUR.legal(position))] * 2
    assert_same(results, expected(CONNECT_FOUR, choosers(CONNECT_FOUR, policy, rows), opponents, "second"))


def test_networks_of_another_size_or_none_are_refused():
    policy = Outputs(jaxgames.make("tic_tac_toe"), genomes_of(9, 4, 9), "cells")
    rows = exact_weights(0, 2, policy.genomes)

    def play_with(candidates, opponents):
        opponents = opponents if isinstance(opponents, RandomMoves) else Networks(policy, opponents)
        numbers = jnp.arange(len(candidates), dtype=jnp.int32)
        return jax.eval_shape(lambda key: play(policy, candidates, opponents, key, numbers), jax.random.key(0))

    with pytest.raises(ValueError, match=r"opponents float32\[2, 95\]: expected float32\[n, 85\]"):
        play_with(rows, np.pad(rows, ((0, 0), (0, 10))))
    with pytest.raises(ValueError, match="the number of opponents 0: expected a whole number from 1 on"):
        play_with(rows, rows[:0])
    with pytest.raises(ValueError, match="the number of candidates 0: expected a whole number from 1 on"):
        play_with(rows[:0], RandomMoves(2))
