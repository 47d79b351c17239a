"""Searches of tic-tac-toe beside its solution: bounds are sound and prove the draw, and good play does not lose."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.envs.tic_tac_toe.game import Position

GAME = jaxgames.make("tic_tac_toe")
LINES = [0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100]
FULL = 0b111111111
BATCH = 64


def after(cells, action):
    """The position after an action, and the reward to who took it, or None if the game goes on."""
    own, other = cells & FULL | 1 << action, cells >> 16
    over = 1 if any(own & line == line for line in LINES) else 0 if own | other == FULL else None
    return other | own << 16, over


def free(cells):
    return [action for action in range(9) if not (cells | cells >> 16) >> action & 1]


@functools.cache
def solved(cells):
    """What each action is worth, to the player to act."""
    worth = {}
    for action in free(cells):
        position, over = after(cells, action)
        worth[action] = -max(solved(position).values()) if over is None else over
    return worth


@functools.cache
def reachable():
    """All positions of games that go on."""
    found, todo = {0}, [0]
    while todo:
        cells = todo.pop()
        new = {position for position, over in (after(cells, a) for a in free(cells)) if over is None} - found
        found |= new
        todo += new
    return sorted(found)


def searched(cells, simulations, select, key=0):
    positions = Position(jnp.asarray(np.array(cells, np.uint32)))
    states = GAME.state(positions, np.zeros(len(cells), np.int32))
    return jax.device_get(mcts.search(GAME, states, jax.random.key(key), simulations, select=select))


@pytest.fixture(scope="module")
def proof():
    """A bounded search of the empty board and of some other positions."""
    cells = [0, *np.random.default_rng(0).choice(reachable(), BATCH - 1, replace=False).tolist()]
    return cells, searched(cells, 3000, mcts.bounded(mcts.uct1(0.8, symmetries=True)))


def test_the_empty_board_is_proven_a_draw(proof):
    result = proof[1]
    lower, upper = (result.tree.root(name)[0] for name in ("lower", "upper"))
    assert lower.max() == upper.max() == 0
    assert lower[result.actions[0]] == 0


def test_proven_bounds_never_contradict_the_solution(proof):
    cells, result = proof
    tree = result.tree
    fields = {name: tree.layout.read(tree.edges, name) for name in ("child", "lower", "upper")}
    legal = (fields["child"] != -2) & (np.arange(len(tree.edges)) < int(tree.used) * tree.batch)[:, None]
    bounded = proven = 0
    for row in np.flatnonzero(legal.any(axis=1)).tolist():
        for action, worth in solved(int(tree.position.cells[row])).items():
            low, high = fields["lower"][row, action], fields["upper"][row, action]
            assert low <= worth <= high
            bounded, proven = bounded + (low > -1 or high < 1), proven + (low == high)
    assert bounded > 1000 and proven > 500
    settled = 0
    for lane, root in enumerate(cells):
        low, high = (fields[name][lane][legal[lane]].max() for name in ("lower", "upper"))
        if low == high:
            settled += 1
            assert solved(root)[int(result.actions[lane])] == low == max(solved(root).values())
    assert settled > BATCH // 2


@pytest.mark.parametrize("first", [True, False])
def test_uct_never_loses_against_any_play(first):
    """Against all replies, hence also the perfect ones."""
    turns = {0} if first else {after(0, action)[0] for action in range(9)}
    results, ply = [], 0
    while turns:
        ply, asked = ply + 1, sorted(turns)
        turns = set()
        for begin in range(0, len(asked), BATCH):
            some = asked[begin : begin + BATCH]
            actions = searched(np.resize(some, BATCH), 2000, mcts.uct(0.8), ply).actions.tolist()
            for cells, action in zip(some, actions, strict=False):
                position, over = after(cells, action)
                if over is not None:
                    results.append(over)
                    continue
                for reply in free(position):
                    again, over = after(position, reply)
                    if over is None:
                        turns.add(again)
                    else:
                        results.append(-over)
    assert len(results) > 20 and min(results) >= 0
