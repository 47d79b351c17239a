"""The Royal Game of Ur of the example, against a plain rule book: pieces by name, one at a time."""

import runpy
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxgames

GAMES, STEPS = 64, 120


@pytest.fixture(scope="module")
def played():
    """Random games, new ones after those that end."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_game.py"))
    game = example["Ur"]()
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), GAMES))
        keep = jax.jit(
            lambda step: (step.states._position, step.states.legal_action_mask, step.actions, step.after, step.ended)
        )
        _, moves = jaxgames.rollout(game, states, jax.random.key(1), STEPS, auto_reset=True, keep=keep)
    return jax.device_get(moves)


def squares(pieces):
    """The places of seven pieces: 0 in the hand, 1 to 14, 15 at home."""
    found = [place for place, count in enumerate(pieces.tolist()) for _ in range(count)]
    assert len(found) == 7 and all(found.count(place) < 2 for place in range(1, 15))
    return found


def moved(own, other, roll, place):
    """The pieces of both after a piece of `place` goes `roll` squares, and whether its player goes on; None if it
    cannot."""
    target = place + roll
    if place not in own or place == 15 or roll == 0 or target > 15:
        return None
    taken = target in other and 5 <= target <= 12
    if (target in own and target != 15) or (taken and target == 8):
        return None
    own, other = sorted([*own, target]), list(other)
    own.remove(place)
    if taken:
        other.remove(target)
        other.append(0)
    return own, sorted(other), target in (4, 8, 14)


def test_every_move_is_that_of_the_rule_book(played):
    boards, legal, actions, after, ended = played
    taken = again = passed = 0
    for step, game in np.ndindex(STEPS, GAMES):
        own, other = squares(boards.own[step, game]), squares(boards.other[step, game])
        roll, action = int(boards.roll[step, game]), int(actions[step, game])
        results = {place: moved(own, other, roll, place) for place in range(15)}
        allowed = {place for place, result in results.items() if result} or {15}
        assert set(np.flatnonzero(legal[step, game])) == allowed
        mine, theirs, more = results[action] if action < 15 else (own, other, False)
        board = jax.tree.map(lambda x, step=step, game=game: x[step, game], after._position)
        found = squares(board.own), squares(board.other)
        assert found == ((mine, theirs) if more else (theirs, mine))
        assert ended[step, game] == (mine == [15] * 7)
        taken, again, passed = taken + (theirs != other), again + more, passed + (action == 15)
    assert min(taken, again, passed) > 100 and ended.sum() > 3


def test_the_dice_are_four_with_two_marked_tips_each(played):
    rolls = np.bincount(played[0].roll.ravel(), minlength=5) / (STEPS * GAMES)
    assert np.abs(rolls - np.array([1, 4, 6, 4, 1]) / 16).max() < 4 * np.sqrt(0.25 / (STEPS * GAMES))
