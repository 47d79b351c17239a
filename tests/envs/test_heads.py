"""How outputs name actions, and what networks see of draughts, against the plain rule books."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.checkers.board import from_plain
from jaxgames.envs.checkers.encoding import Board64, OneSquare, Pieces
from jaxgames.envs.checkers.plain_board import Board
from jaxgames.envs.heads import heads_of
from tests.algos.evolution.reference_play import Draughts, highest, squares, target
from tests.envs.checkers import reference as draughts

NETWORKS, GAMES = 8, 64
QUICKLY = {"xla_backend_optimization_level": "0"}  # compiled so, as each program runs once


def stacked(positions):
    """Positions as the rows of networks and the columns of their games."""
    return jax.tree.map(lambda *leaves: np.stack(leaves).reshape(NETWORKS, GAMES), *positions)


@pytest.fixture(scope="module")
def boards():
    """Positions of draughts in which somebody is to move, many of them in the middle of a jump: plain, and packed."""
    rng = random.Random(0)
    found = [position for game in draughts.random_games(rng, 12) for position in game if draughts.legal(position)]
    jumping = [position for position in found if position.jumper]
    strewn = []
    while len(strewn) < 150:
        position = draughts.random_position(rng, 9)
        strewn += [position] if draughts.legal(position) else []
    chosen = jumping[:50] + strewn
    chosen += rng.sample(found, NETWORKS * GAMES - len(chosen))
    assert len(jumping) > 10 and {position.mover for position in chosen} == {"b", "w"}
    return chosen, stacked([from_plain(Board(*draughts.plain(position))) for position in chosen])


def read(head, outputs, positions, strict):
    """The head's actions and whether they are legal, each as one list of all positions."""
    compiled = jax.jit(lambda o, p: head(o, p, strict), compiler_options=QUICKLY)
    actions, legal = compiled(jnp.asarray(outputs), positions)
    assert actions.dtype == jnp.int32 and legal.dtype == bool and actions.shape == legal.shape == (NETWORKS, GAMES)
    return np.asarray(actions).ravel(), np.asarray(legal).ravel()


def some_outputs(size):
    """Outputs of few different values, so that many are equal."""
    return np.random.default_rng(size).integers(-3, 4, (NETWORKS, size, GAMES)).astype(np.float32)


def of_game(outputs, number):
    """The outputs for a position by its number."""
    return outputs[number // GAMES, :, number % GAMES]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("name", "rule"), [("highest", highest), ("squares", squares), ("target", target)])
def test_draughts(boards, name, rule, strict):
    plain, packed = boards
    head = heads_of(jaxgames.make("checkers"))[name]
    outputs, rules = some_outputs(head.size), Draughts()
    if name == "highest" and strict:
        # Few of 128 actions are legal: here the best of every other position is.
        for number in range(0, len(plain), 2):
            outputs[number // GAMES, rules.legal(plain[number])[-1], number % GAMES] = 9
    if name in ("squares", "target") and strict:
        for number in range(0, len(plain), 2):
            start, _, end = draughts.legal(plain[number])[rules.legal(plain[number])[-1]]
            for offset, place in ((0, start), (32, end)) if name == "squares" else ((0, end),):
                outputs[number // GAMES, offset + draughts.PLAYED_ON.index(place), number % GAMES] = 9
    actions, legal = read(head, outputs, packed, strict)
    expected = [rule(rules, position, of_game(outputs, number), strict) for number, position in enumerate(plain)]
    np.testing.assert_array_equal(legal, [action is not None for action in expected])
    np.testing.assert_array_equal(actions[legal], [action for action in expected if action is not None])
    assert legal[::2].all() and legal.all() == (not strict)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_highest_output_of_all_or_of_the_legal(name, strict):
    game = jaxgames.make(name)
    keys = jax.random.split(jax.random.key(3), NETWORKS * GAMES)
    states, _ = jaxgames.envs.rollout(game, jax.jit(jax.vmap(game.init))(keys), keys[0], 4)
    positions = jax.tree.map(lambda x: x.reshape(NETWORKS, GAMES, *x.shape[1:]), states._position)
    outputs = some_outputs(game.num_actions)
    masks = np.asarray(states.legal_action_mask)
    actions, legal = read(heads_of(game)["highest"], outputs, positions, strict)
    for number, mask in enumerate(masks):
        values = of_game(outputs, number)
        expected = int(np.argmax(values if strict else np.where(mask, values, -np.inf)))
        assert (actions[number], legal[number]) == (expected, mask[expected])


@pytest.mark.parametrize("name", ["tic_tac_toe", "checkers"])
def test_nan_is_the_worst_but_legal(name):
    game = jaxgames.make(name)
    position = jax.jit(game.init_position)(jax.random.key(0))
    positions = jax.tree.map(lambda x: np.broadcast_to(x, (3, 1, *x.shape)), position)
    mask = np.asarray(jax.jit(game.legal)(position))
    first, last = np.flatnonzero(mask)[[0, -1]]
    outputs = np.full((3, game.num_actions, 1), np.nan, np.float32)
    outputs[1, last] = -1e30
    outputs[2, :] = -np.inf
    head = jax.jit(heads_of(game)["highest"], static_argnums=2)
    assert np.asarray(head(outputs, positions, False)[0])[:, 0].tolist() == [first, last, first]
    assert np.asarray(head(outputs, positions, True)[0])[:, 0].tolist() == [0, last, 0]


def test_what_networks_see_of_draughts(boards):
    plain, packed = boards
    flat = jax.tree.map(np.ravel, packed)
    np.testing.assert_array_equal(Board64()(flat), [Draughts().inputs(position) for position in plain])
    for square in (0, 14):
        expected = [Draughts(one_square=square).inputs(position) for position in plain]
        np.testing.assert_array_equal(OneSquare(square)(flat), expected)
        assert len(np.unique(expected, axis=0)) == 3
    seen = np.asarray(Board64()(flat))
    numbers = [row * 8 + column for row, column in draughts.PLAYED_ON]
    men, kings = np.where(abs(seen) == 1, seen, 0)[:, numbers], np.where(abs(seen) == 2, seen / 2, 0)[:, numbers]
    np.testing.assert_array_equal(Pieces()(flat), np.concatenate([men, kings], axis=1))
    np.testing.assert_array_equal(Board64(king=1.5)(flat), np.where(abs(seen) == 2, seen * 0.75, seen))
