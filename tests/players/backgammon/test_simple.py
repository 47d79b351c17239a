"""Simple players: the boards they choose, and turns carried out action by action."""

import gzip
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.envs.backgammon import Position, board
from jaxgames.envs.backgammon.board import dice_of_roll
from jaxgames.ops.pytrees import equal, select
from jaxgames.players import PlayerMemory

GAME = jaxgames.make("backgammon")
TURNS = 200


def wishes(mover, level, race, tidy=False):
    """What the players' definition compares, in order."""
    points, pips = mover[:24], sum(mover[p] * (p + 1) for p in range(25))
    blocks = [p for p in range(24) if points[p] >= 2]
    pairs = sum(p + 1 in blocks for p in blocks)
    if level == 3 and race:
        outside = sum(mover[p] * (p + 1 - 6) for p in range(6, 25))
        return (15 - sum(mover), -outside, -pips) if tidy else (15 - sum(mover), -pips)
    if not tidy:
        return (len(blocks) + (pairs if level > 1 else 0),)
    rest = (len(blocks), -sum(n == 1 for n in points), -pips)
    return (pairs, *rest) if level > 1 else rest


def counts(text):
    digits = [int(digit, 16) for digit in text]
    return digits[:25], digits[25:]


def rearmost(side):
    return max((point + 1 for point in range(25) if side[point]), default=0)


@pytest.fixture(scope="module")
def rows(data_dir):
    """A hundred races, a hundred positions with contact, with all their plays."""
    with gzip.open(data_dir / "backgammon" / "legal_moves.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        row["race"] = sum(map(rearmost, counts(row["pos"]))) < 25
    half = TURNS // 2
    return [row for row in rows if row["race"]][:half] + [row for row in rows if not row["race"]][:half]


@pytest.fixture(scope="module")
def states(rows):
    sides = [jnp.asarray(side, jnp.int32) for side in zip(*(counts(row["pos"]) for row in rows), strict=True)]
    dice = jnp.asarray([sorted(row["dice"], reverse=True) for row in rows], jnp.uint32)
    positions = Position(*map(board.from_counts, sides), dice_of_roll(dice[:, 0], dice[:, 1]))
    return GAME.state(positions, jnp.zeros(len(rows), jnp.int32))


@jax.jit
def act(player, states, key, memory, going):
    """One action in the games whose turn is `going` on."""
    actions, memory = player.act(states, key, memory)
    after = jax.jit(jax.vmap(GAME.apply))(states, jnp.where(going, actions, 0))
    states = select(going, after, states)
    return states, memory, going & (states.current_player == 0) & ~states.terminated


# The third level has what the second one has, and more in races.
SPECS = ["simple:1", "simple:3", "tidy:3"]
SPECS += [pytest.param(spec, marks=pytest.mark.slow) for spec in ("simple:2", "tidy:1", "tidy:2")]


@pytest.mark.parametrize("spec", SPECS)
def test_chooses_what_it_likes_and_acts_accordingly(rows, states, spec):
    """And a tidy player has no use for random bits."""
    player = players.make(spec, GAME)
    level, tidy = int(spec[-1]), spec.startswith("tidy")
    end, memory, going = act(player, states, jax.random.key(0), player.init_memory(TURNS), jnp.ones(TURNS, bool))
    target = memory.target
    if tidy:
        again = act(player, states, jax.random.key(9), player.init_memory(TURNS), jnp.ones(TURNS, bool))
        jax.tree.map(np.testing.assert_array_equal, again[1].target, target)
    for number in range(1, 5):
        end, memory, going = act(player, end, jax.random.key(number), memory, going)
    assert not going.any()  # all turns end
    assert (end.rewards[:, 0] >= 0).all()  # and no action was illegal
    movers, opponents = board.to_counts(target.opponent).tolist(), board.to_counts(target.own).tolist()
    chosen_differently = 0
    for row, mover, opponent in zip(rows, movers, opponents, strict=True):
        results = [counts(text) for text in row["results"] or [row["pos"]]]
        assert (mover, opponent) in results
        liking = [wishes(m, level, row["race"], tidy) for m, _ in results]
        assert wishes(mover, level, row["race"], tidy) == max(liking)
        chosen_differently += wishes(mover, 1, False, tidy) != max(wishes(m, 1, False, tidy) for m, _ in results)
    assert (chosen_differently > 0) == (level > 1)

    # Where the game went on, the board is the one chosen, seen by the opponent; where it ended, its winner still acts.
    won = np.asarray(end.terminated)
    assert won.any() and not won.all()
    for plane, aim in zip(jax.tree.leaves(end._position), jax.tree.leaves(target), strict=True):
        np.testing.assert_array_equal(plane[~won], aim[~won])
    assert [sum(mover) == 0 for mover in movers] == won.tolist()


def test_equal_plays_are_drawn_by_lot(states):
    """Other random bits, other plays that are as good."""
    positions = jax.tree.map(lambda x: jnp.repeat(x[-1:], 600, axis=0), states._position)
    turn = players.make("simple:1", GAME)
    bits = jax.random.bits(jax.random.key(1), (600,))
    after = jax.jit(lambda p, b: turn.turn(turn.params, p, b).position)(positions, bits)
    counts = np.unique(np.stack(jax.tree.leaves(after)), axis=1, return_counts=True)[1]
    assert len(counts) > 1 and counts.min() > 600 / len(counts) / 2  # all as likely


def test_a_turn_out_of_reach_is_chosen_anew(states):
    """As after games were replaced: memory says where other games were going."""
    player, all_go = players.make("simple:3", GAME), jnp.ones(TURNS, bool)
    _, right, _ = act(player, states, jax.random.key(0), player.init_memory(TURNS), all_go)
    wrong = PlayerMemory(jax.tree.map(lambda x: jnp.roll(x, 1), right.target), all_go)
    end, memory, _ = act(player, states, jax.random.key(0), wrong, all_go)
    assert (end.rewards[:, 0] >= 0).all()
    reset_ended = np.asarray(equal(memory.target, right.target))
    followed = np.asarray(equal(memory.target, wrong.target))
    assert (reset_ended | followed).all() and reset_ended.sum() > 0.9 * TURNS


def test_acts_on_batches_only(states):
    player = players.make("simple:1", GAME)
    single = jax.tree.map(lambda x: x[0], states)
    with pytest.raises(ValueError, match=r"act needs states of shape \[batch\], not \[\]"):
        player.act(single, jax.random.key(0), player.init_memory(1))
