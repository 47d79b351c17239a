"""How good choices of moves in tic-tac-toe are: exactly, in all 4,520 positions and games, nothing is drawn by lot."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from jaxgames.algos.evolution.games.policies import Policy
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.envs.tic_tac_toe import Position
from jaxgames.envs.tic_tac_toe.notation import LINES

WIN, DRAW, LOSS = range(3)
ILLEGAL = -1
"""In place of an action: the choice is not allowed, and loses."""


class AllPositions(NamedTuple):
    """Every position that a game can come to, those with fewer marks first; `cells` as in
    `jaxgames.envs.tic_tac_toe.Position`.

    `after[i, a]` is the number of the position after action a, -1 where the cell is taken or the game is over. `result`
    is how an ended game ended for the player who moved last, -1 while it goes on; `value` the result of perfect play
    for the player to act: WIN, DRAW or LOSS.
    """

    cells: Int[np.ndarray, " positions"]
    marks: Int[np.ndarray, " positions"]
    after: Int[np.ndarray, "positions 9"]
    result: Int[np.ndarray, " positions"]
    value: Int[np.ndarray, " positions"]

    @property
    def open(self) -> Int[np.ndarray, " open"]:
        """The numbers of the 4,520 positions with a move to play."""
        return np.flatnonzero(self.result < 0)

    @property
    def keeps(self) -> Bool[np.ndarray, "positions 9"]:
        """The actions that keep the result of perfect play."""
        left = np.where(self.after < 0, -1, 2 - _at(self.value, self.after))
        return (self.after >= 0) & (left == self.value[:, None])

    @property
    def wins(self) -> Bool[np.ndarray, "positions 9"]:
        """The actions that win at once."""
        return (self.after >= 0) & (_at(self.result, self.after) == WIN)

    @property
    def blocks(self) -> Bool[np.ndarray, "positions 9"]:
        """Where none wins at once: the empty cells in which the other player would win with its next move."""
        other = self.cells >> 16
        lines = [(sum(1 << cell for cell in line if cell != own), own) for line in LINES for own in line]
        threats = np.zeros(self.after.shape, bool)
        for rest, own in lines:
            threats[:, own] |= np.equal(other & rest, rest)
        quiet = np.flatnonzero(~self.wins.any(axis=1))
        found = np.zeros_like(threats)
        found[quiet] = threats[quiet] & (self.after[quiet] >= 0)
        return found

    @property
    def reached(self) -> Float[np.ndarray, " positions"]:
        """How often a game of random moves comes to each position."""
        often = np.zeros(len(self.cells))
        often[0] = 1.0
        for number in self.open:
            there = self.after[number][self.after[number] >= 0]
            often[there] += often[number] / len(there)
        return often


class Record(NamedTuple):
    """Shares of games that players win, draw and lose, half of them begun by each side."""

    win: Float[np.ndarray, " players"]
    draw: Float[np.ndarray, " players"]
    loss: Float[np.ndarray, " players"]


@functools.cache
def all_positions() -> AllPositions:
    """All positions."""
    words, number, begun = [0], {0: 0}, 0
    after: list[list[int]] = []
    while begun < len(words):
        word = words[begun]
        begun += 1
        row = [-1] * 9
        if not _ended(word):
            for action in range(9):
                if not (word | word >> 16) >> action & 1:
                    own = (word & 0x1FF) | 1 << action
                    reached = own << 16 | word >> 16
                    if reached not in number:
                        number[reached] = len(words)
                        words.append(reached)
                    row[action] = number[reached]
        after.append(row)
    cells, table = np.array(words, np.uint32), np.array(after)
    marks = np.array([word.bit_count() for word in words])
    result = np.array([(WIN if _line(word >> 16) else DRAW) if _ended(word) else -1 for word in words])
    value = 2 - result  # of ended games; who is to act there is the other one
    for ply in range(8, -1, -1):
        here = np.flatnonzero((marks == ply) & (result < 0))
        value[here] = np.where(table[here] < 0, LOSS, 2 - _at(value, table[here])).min(axis=1)
    return AllPositions(cells, marks, table, result, value)


def kept(choices: Int[np.ndarray, "players open"]) -> Float[np.ndarray, " players"]:
    """The share of positions in which players choose an action that keeps the result; one row for each player, with an
    action for each of `all_positions().open`, or ILLEGAL.
    """
    return share_of(choices, all_positions().keeps)


def share_of(
    choices: Int[np.ndarray, "players open"], actions: Bool[np.ndarray, "positions 9"]
) -> Float[np.ndarray, " players"]:
    """Of the positions with some of these `actions`, the share in which players choose one of them."""
    every = all_positions()
    right = actions[every.open, choices] & (choices != ILLEGAL)
    return right[:, actions[every.open].any(axis=1)].mean(axis=1)


def against(choices: Int[np.ndarray, "players open"], perfect: bool = False, errs: float = 0.0) -> Record:
    """What comes of all games against one who draws any move, or (`perfect`) any of those that keep the result.

    With the probability `errs` a player draws any legal move instead of its choice, as `weak:ERRS:PLAYER` does.
    """
    every, players = all_positions(), len(choices)
    allowed = every.keeps if perfect else every.after >= 0
    chosen = np.full((players, len(every.cells)), -1)
    chosen[:, every.open] = choices
    # Win, draw and loss of the player: [players, positions, 3], where it is to act and where the other one is.
    acts, waits = (np.zeros((players, len(every.cells), 3)) for _ in range(2))
    for kind in (WIN, DRAW):
        ended = every.result == kind
        waits[:, ended, kind] = 1.0  # the player moved last
        acts[:, ended, 2 - kind] = 1.0
    for ply in range(8, -1, -1):
        here = np.flatnonzero((every.marks == ply) & (every.result < 0))
        reached = every.after[here[None], chosen[:, here]]
        acts[:, here] = np.take_along_axis(waits, reached[:, :, None], axis=1)
        acts[:, here] = np.where((chosen[:, here] == ILLEGAL)[:, :, None], np.eye(3)[LOSS], acts[:, here])
        if errs:
            acts[:, here] = (1 - errs) * acts[:, here] + errs * _mean(waits, every.after, here, every.after >= 0)
        waits[:, here] = _mean(acts, every.after, here, allowed)
    return Record(*((acts[:, 0] + waits[:, 0]) / 2).T)


def choices_of(
    network: NetworkConfig, genomes: Float[np.ndarray, "players dimension"]
) -> Int[np.ndarray, "players open"]:
    """The actions of networks in each of `all_positions().open`; with `strict` some may be ILLEGAL."""
    every = all_positions()
    cells = jnp.broadcast_to(jnp.asarray(every.cells[every.open], jnp.uint32)[None], (len(genomes), len(every.open)))
    reached, legal = map(np.asarray, _reached(network.policy(), jnp.asarray(genomes), Position(cells)))
    cell = (reached >> 16) & ~every.cells[every.open][None] & 0x1FF  # the mover's new cell
    return np.where(legal, np.log2(np.where(legal, cell, 1)), ILLEGAL).astype(int)


def measured(
    network: NetworkConfig, genomes: Float[np.ndarray, "players dimension"]
) -> dict[str, Float[np.ndarray, " players"]]:
    """How good networks are, in percent: games against random moves and against perfect play, kept results, wins that
    are taken and threats that are met where there are some, and with `strict` illegal choices, which lose.
    """
    every = all_positions()
    choices = choices_of(network, genomes)
    random, perfect = against(choices), against(choices, perfect=True)
    shares = {
        **{f"{name}_random": getattr(random, name) for name in Record._fields},
        "kept": kept(choices),
        "perfect_draw": perfect.draw,
        "wins": share_of(choices, every.wins),
        "blocks": share_of(choices, every.blocks),
        **({"illegal": (choices == ILLEGAL).mean(axis=1)} if network.strict else {}),
    }
    return {name: 100 * share for name, share in shares.items()}


@functools.partial(jax.jit, static_argnums=0)
def _reached(policy: Policy, genomes: jax.Array, positions: Position) -> tuple[jax.Array, jax.Array]:
    turned = policy.turn(genomes, positions, jnp.zeros(positions.cells.shape, jnp.uint32))
    return turned.outcome.position.cells, turned.legal


def _mean(results: np.ndarray, after: np.ndarray, here: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Of the results after each allowed action in the positions `here`."""
    weight = allowed[here] / allowed[here].sum(axis=1, keepdims=True)
    return sum(weight[None, :, action, None] * results[:, after[here, action]] for action in range(9))


def _at(values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return values[np.maximum(numbers, 0)]


def _line(cells: int) -> bool:
    return any(all(cells >> cell & 1 for cell in line) for line in LINES)


def _ended(word: int) -> bool:
    return word.bit_count() == 9 or _line(word >> 16)
