"""Scores of games, and what the policies refuse."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.evolution import (
    MEASURES,
    SCORES,
    Afterstate,
    ByPlay,
    Details,
    Genomes,
    Networks,
    Outputs,
    RandomMoves,
    Results,
    play,
)
from jaxgames.algos.evolution.fitness import won
from jaxgames.nets import MLP

GAME = jaxgames.make("tic_tac_toe")
POLICY = Outputs(GAME, Genomes(MLP((9,), "tanh", "identity", "uniform:1"), 9), "cells")


def rows(seed, count):
    return jnp.asarray(np.random.default_rng(seed).normal(size=(count, POLICY.dimension)).astype(np.float32))


def test_scores_of_games():
    points = jnp.asarray([[1.0, 0.0, -1.0, -1.0]])
    illegal = jnp.asarray([[False, False, False, True]])
    results = Results(points, illegal, Details(3 * points, jnp.ones((1, 4), jnp.int32)))
    np.testing.assert_array_equal(SCORES["wins"](results), [[1, 0.5, 0, -1]])
    np.testing.assert_array_equal(SCORES["points"](results), points)
    np.testing.assert_array_equal(SCORES["material"](results), 3 * points)
    moves, captures = jnp.asarray([[7, 3, 0, 4]]), jnp.asarray([[2, 0, 0, 1]])
    counted = results._replace(details=Details(pieces=2 * points, moves=moves, captures=captures))
    np.testing.assert_array_equal(SCORES["pieces"](counted), 2 * points)
    np.testing.assert_array_equal(SCORES["legality"](counted), [[750, 300, 0, 325]])  # the last move was illegal
    for name, bare in (("material", None), ("pieces", results.details), ("legality", results.details)):
        with pytest.raises(ValueError, match="details=True"):
            SCORES[name](results._replace(details=bare))


def test_fitness_is_the_mean_score_of_both_sides():
    fitness = ByPlay(POLICY, Networks(POLICY, rows(1, 3)))
    numbers, key = jnp.arange(4, dtype=jnp.int32), jax.random.key(0)
    matrix = jax.jit(lambda rows: fitness.matrix(rows, numbers, key))(rows(0, 4))
    won = jax.jit(lambda rows: SCORES["wins"](play(POLICY, rows, fitness.opponents, key, numbers)))
    scores = np.asarray(won(rows(0, 4)))
    np.testing.assert_allclose(matrix, (scores[:, :3] + scores[:, 3:]) / 2)
    found = jax.jit(lambda rows: fitness(rows, numbers, key))(rows(0, 4))
    np.testing.assert_allclose(found, np.asarray(matrix).mean(axis=1), rtol=1e-6)


def test_luck_is_common_or_everyones_own():
    """The same network many times: with common random numbers it plays the same games, else others. What a candidate
    meets depends on its number, not on who is beside it.
    """
    same = jnp.tile(rows(2, 1), (8, 1))
    numbers, key = jnp.arange(8, dtype=jnp.int32), jax.random.key(3)
    common = ByPlay(POLICY, RandomMoves(32))
    own = dataclasses.replace(common, common=False)
    program = jax.jit(lambda fitness, rows, numbers: fitness(rows, numbers, key))
    assert len(set(np.asarray(program(common, same, numbers)).tolist())) == 1
    alone = np.asarray(program(own, same, numbers))
    assert len(set(alone.tolist())) > 2
    np.testing.assert_array_equal(alone[::-1], program(own, same, numbers[::-1]))


def test_further_numbers_of_the_same_games():
    """A row for each candidate: its score, and what is measured of the games that made it."""
    names, key = ("length", "-length", "spread", "draws", "points"), jax.random.key(0)
    fitness = ByPlay(POLICY, RandomMoves(3), measures=names)
    numbers = jnp.arange(4, dtype=jnp.int32)
    found = np.asarray(jax.jit(fitness)(rows(0, 4), numbers, key))
    details = ("plies",)
    results = jax.jit(lambda rows: play(POLICY, rows, fitness.opponents, key, 0 * numbers, details=details))(rows(0, 4))
    plies = np.asarray(results.details.plies)
    expected = [
        np.asarray(SCORES["wins"](results)).mean(axis=1),
        plies.mean(axis=1),
        -plies.mean(axis=1),
        plies.std(axis=1),
        (np.asarray(results.points) == 0).mean(axis=1),
        np.asarray(results.points).mean(axis=1),
    ]
    assert found.shape == (4, 6) and found.dtype == np.float32
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(won(results), np.where(results.points > 0, 1, np.where(results.points < 0, 0, 0.5)))


def test_moves_that_take():
    """Of all of a candidate's moves together, not the mean of its games' shares."""
    details = Details(moves=jnp.asarray([[8, 2], [0, 0]]), captures=jnp.asarray([[1, 1], [0, 0]]))
    results = Results(jnp.zeros((2, 2)), jnp.zeros((2, 2), bool), details)
    np.testing.assert_allclose(MEASURES["captures"].of(results), [0.2, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Outputs(GAME, POLICY.genomes, "squares"), "unknown encoding 'squares' of tic_tac_toe; known: cells"),
        (lambda: Outputs(GAME, POLICY.genomes, "cells", "lowest"), "unknown head 'lowest' of tic_tac_toe; known"),
        (lambda: Outputs(GAME, Genomes(MLP((9,)), 8), "cells"), "8 inputs; encoding 'cells' of tic_tac_toe has 9"),
        (lambda: Outputs(GAME, Genomes(MLP((8,)), 9), "cells"), "8 outputs; head 'highest' of tic_tac_toe has 9"),
        (lambda: Afterstate(GAME, POLICY.genomes, "cells"), "9 outputs; the worth of a position is one"),
        (
            lambda: Afterstate(jaxgames.make("backgammon"), Genomes(MLP((1,)), 198), "tesauro"),
            "backgammon has chance: its turns are chosen by `Game.best_turn`",
        ),
        (
            lambda: ByPlay(POLICY, RandomMoves(2), "goals")(rows(0, 1), jnp.zeros(1, jnp.int32), jax.random.key(0)),
            "unknown score 'goals'; available: wins, points, material, pieces, legality",
        ),
        (
            lambda: ByPlay(POLICY, RandomMoves(2), measures=("-plies",)),
            "unknown measure 'plies'; available: length, spread, draws, captures, wins, points, material",
        ),
        (
            lambda: play(POLICY, rows(0, 1), RandomMoves(2), jax.random.key(0), jnp.zeros(1, jnp.int32), "left"),
            "unknown sides 'left'; expected one of both, alternate, first, second",
        ),
        (
            lambda: play(
                POLICY, rows(0, 1), RandomMoves(2), jax.random.key(0), jnp.zeros(1, jnp.int32), details=["stones"]
            ),
            "unknown detail 'stones' of games; available: material, plies, pieces, moves, captures",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
