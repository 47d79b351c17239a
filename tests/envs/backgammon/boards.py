"""Backgammon boards by the thousand for tests: from data, made up, and what the package says of them.

A board is an int array [2, 25]: checkers on points 1..24 and the bar, the mover's first, each in the own numbering.
Dice are tuples of the dice left. A board as bytes (50 of them) is good for sets.
"""

import gzip
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.envs.backgammon import Backgammon, Position, board, plays
from tests.envs.backgammon import reference

GAME = Backgammon()
CHUNK = 512  # one shape for all tests: compiled once
STEPS = 4096

ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]


class Listed(NamedTuple):
    """All plays of one board: what they lead to, [n, 2, 25], and the actions, [n, 4]."""

    boards: np.ndarray
    actions: np.ndarray


def rule_book_plays(both: np.ndarray, roll: Sequence[int]) -> set[bytes]:
    """What the reference rule book says that a roll leads to; the board itself if no checker can move."""
    mover, opponent = (tuple(map(int, side)) for side in both)
    return {bytes((*own, *other)) for own, other in reference.plays(mover, opponent, roll)} or {bytes(mover + opponent)}


def rule_book_actions(both: np.ndarray, dice: Sequence[int]) -> set[int]:
    """The first actions that the reference rule book allows with the dice left."""
    mover, opponent = (tuple(map(int, side)) for side in both)
    return {(26 - source) * 6 + die - 1 for source, die in reference.legal_steps(mover, opponent, dice)} or {0}


def left_of(roll: Sequence[int]) -> tuple[int, ...]:
    """The dice to play after a roll."""
    high, low = max(roll), min(roll)
    return (high,) * 4 if high == low else (high, low)


def as_bytes(boards: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.asarray(boards, np.uint8).reshape(-1, 50)]


def from_hex(text: str) -> np.ndarray:
    return np.array([int(digit, 16) for digit in text], np.int32).reshape(2, 25)


def gnubg_rows(data_dir):
    """2,000 boards from GNU Backgammon's play, rolls, and the sets of all boards that they lead to."""
    with gzip.open(data_dir / "backgammon" / "legal_moves.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    boards = np.stack([from_hex(row["pos"]) for row in rows])
    results = [{bytes(int(digit, 16) for digit in text) for text in row["results"]} for row in rows]
    assert all(len(found) == row["n"] for found, row in zip(results, rows, strict=True))
    return boards, [tuple(row["dice"]) for row in rows], results


def random_boards(rng: np.random.Generator, number: int) -> np.ndarray:
    """Boards that no game need ever see: any number of checkers anywhere, races, bear-offs, checkers on the bar."""
    boards = np.zeros((number, 2, 25), np.int32)
    for both in boards:
        reach = rng.choice([6, 7, 12, 24, 24, 24], 2)  # the points that a side stands on
        owner = rng.integers(0, 2, 24)
        for player in range(2):
            free = [p for p in range(reach[player]) if owner[p if player == 0 else 23 - p] == player]
            bar = [24] * int(rng.integers(0, 3)) if rng.random() < 0.3 else []
            places = rng.choice(free, rng.integers(1, 16)) if free else [24]
            places = (bar + list(places))[:15]
            np.add.at(both[player], places, 1)
        if both[:, 24].all() and (both[:, :6] > 1).all():
            both[:, 24] = 0
    return boards


def crowded_boards(rng: np.random.Generator, number: int) -> np.ndarray:
    """Boards with the mover's checkers spread wide, so that small doubles can be played in very many ways."""
    boards = np.zeros((number, 2, 25), np.int32)
    for mover, opponent in boards:
        points = rng.choice(24, rng.integers(12, 16), replace=False)
        mover[points] = 1
        mover[points[0]] += 15 - len(points)
        free = np.flatnonzero(mover[:24] == 0)
        opponent[23 - rng.choice(free, rng.integers(1, len(free)), replace=False)] = rng.integers(1, 3)
        opponent[23 - free[0]] += opponent.sum() == 0
    return boards


def positions(boards: np.ndarray, dice: Iterable[Sequence[int]]) -> Position:
    """The words of boards, as NumPy arrays."""
    shifts = np.arange(1, 26, dtype=np.uint32)
    counts = np.asarray(boards, np.uint32)
    planes = [((counts >> np.uint32(k) & 1) << shifts).sum(axis=-1, dtype=np.uint32) for k in range(4)]
    word = np.array([sum(1 << 4 * (die - 1) for die in left) for left in dice], np.uint32)
    return Position(*(board.Side(*(plane[:, side] for plane in planes)) for side in range(2)), word)


def boards_of(own: board.Side, opponent: board.Side) -> np.ndarray:
    shifts = np.arange(1, 26, dtype=np.uint32)
    sides = [
        sum((np.asarray(plane)[:, None] >> shifts & 1).astype(np.int32) << k for k, plane in enumerate(side))
        for side in (own, opponent)
    ]
    return np.stack(sides, axis=1)


def chunks(tree, size: int):
    """A batch in pieces of one size, the last one filled up with its last entry; with the number that counts."""
    number = len(jax.tree.leaves(tree)[0])
    for start in range(0, number, size):
        index = np.minimum(np.arange(start, start + size), number - 1)
        yield jax.tree.map(lambda x, index=index: np.asarray(x)[index], tree), min(size, number - start)


def in_chunks(function, tree, size: int):
    """`function` of a batch, computed in pieces."""
    parts = [jax.tree.map(lambda x, n=n: np.asarray(x)[:n], function(piece)) for piece, n in chunks(tree, size)]
    return jax.tree.map(lambda *xs: np.concatenate(xs), *parts)


def all_plays(boards: np.ndarray, dice: Sequence[Sequence[int]]) -> list[Listed]:
    """All plays of all boards, by `plays` in as many rounds as it takes."""
    listed: list[Listed] = []
    for piece, number in chunks(positions(boards, dice), CHUNK):
        found: dict[int, Listed] = {}
        wanted = np.arange(CHUNK) < number
        while wanted.any():
            batch = jax.device_get(plays(piece, wanted=wanted))
            after = boards_of(batch.mover, batch.opponent)
            for index in np.flatnonzero(wanted & batch.complete):
                part = slice(batch.first[index], batch.first[index + 1])
                assert (batch.game[part] == index).all()
                found[index] = Listed(after[part], batch.actions[part])
            assert (wanted & batch.complete).any()
            wanted &= ~batch.complete
        listed += [found[index] for index in range(number)]
    return listed


masks_of = jax.jit(jax.vmap(GAME.legal))
_play = jax.jit(jax.vmap(GAME.play))


def masks(boards: np.ndarray, dice: Sequence[Sequence[int]]) -> np.ndarray:
    """bool[n, 156]: the first actions that the game allows."""
    return in_chunks(masks_of, positions(boards, dice), STEPS)


def reached_by_steps(boards: np.ndarray, dice: Sequence[Sequence[int]]) -> list[set[bytes]]:
    """For each board, all boards that the turn can end with, action by action as the masks allow."""
    reached: list[set[bytes]] = [set() for _ in boards]
    roots, batch = np.arange(len(boards)), positions(boards, dice)
    while len(roots):
        allowed = in_chunks(masks_of, batch, STEPS)
        assert allowed.any(axis=1).all()
        rows, actions = np.nonzero(allowed)
        before = jax.tree.map(lambda x, rows=rows: x[rows], batch)
        outcome = in_chunks(lambda pair: _play(*pair), (before, actions.astype(np.int32)), STEPS)
        roots, done = roots[rows], outcome.turn_passes | outcome.over
        after = boards_of(outcome.position.own, outcome.position.opponent)
        after[outcome.turn_passes] = after[outcome.turn_passes][:, ::-1]
        for root, result in zip(roots[done], as_bytes(after[done]), strict=True):
            reached[root].add(result)
        words = np.stack([roots.astype(np.uint32), *jax.tree.leaves(outcome.position)], axis=1)[~done]
        words = np.unique(words, axis=0)
        roots = words[:, 0].astype(int)
        batch = jax.tree.unflatten(jax.tree.structure(batch), list(words.T[1:]))
    return reached


class Played(NamedTuple):
    """Where actions lead: the boards as the player who moved sees them, whether each action was legal, and the end."""

    boards: np.ndarray
    legal: np.ndarray
    over: np.ndarray
    reward: np.ndarray
    turn_passes: np.ndarray


def play_actions(boards: np.ndarray, dice: Sequence[Sequence[int]], actions: np.ndarray) -> Played:
    """The whole turn of each board, step by step; `actions` are padded with -1."""
    return in_chunks(lambda x: _played(*x), (positions(boards, dice), np.asarray(actions, np.int32)), STEPS)


@jax.jit
def _played(position, actions):
    def step(carry, action):
        position, played = carry
        taken = (action >= 0) & ~played.turn_passes & ~played.over
        legal = played.legal & jnp.where(taken, jax.vmap(GAME.is_legal)(position, action), action < 0)
        outcome = jax.vmap(GAME.play)(position, action)
        position = jax.tree.map(lambda new, old: jnp.where(taken, new, old), outcome.position, position)
        over, passes = played.over | (taken & outcome.over), played.turn_passes | (taken & outcome.turn_passes)
        reward = jnp.where(taken & outcome.over, outcome.reward, played.reward)
        return (position, Played(played.boards, legal, over, reward, passes)), None

    none = jnp.zeros(len(actions), bool)
    start = Played(none, ~none, none, jnp.zeros(len(actions), jnp.float32), none)
    (position, played), _ = jax.lax.scan(step, (position, start), actions.T)
    own, opponent = board.to_counts(position.own), board.to_counts(position.opponent)
    first = jnp.where(played.turn_passes[:, None], opponent, own)
    second = jnp.where(played.turn_passes[:, None], own, opponent)
    return played._replace(boards=jnp.stack([first, second], axis=1))
