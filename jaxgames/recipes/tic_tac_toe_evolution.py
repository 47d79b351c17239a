"""Groups of 9-18-18-9 networks that evolve against each other's best, as published; and better ways to evolve them."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Int

from jaxgames.algos.evolution.policies import Outputs, Policy
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.envs.heads import best_of
from jaxgames.envs.tic_tac_toe import Position
from jaxgames.envs.tic_tac_toe.notation import LINES
from jaxgames.interop import softsign_norm
from jaxgames.matches.intervals import mean_margin
from jaxgames.recipes.evolution import Champions, EvolutionRecipe, Measures, TextForm
from jaxgames.recipes.report import show_results
from jaxgames.runs import Panel

RERUN: dict[str, Any] = {
    "source": "our rerun of the original program for 4 minutes, 9.2 million games: its 20 champions",
    "games": 9_200_000,
    "win_random": 67.4,
    "draw_random": 8.4,
    "loss_random": 24.2,
    "kept": 61.4,
    "perfect_draw": 18.9,
    "wins": 48.3,
    "blocks": 47.5,
    "margins": {
        "win_random": 2.8,
        "draw_random": 1.9,
        "loss_random": 2.4,
        "kept": 1.1,
        "perfect_draw": 8.5,
        "wins": 1.4,
        "blocks": 1.8,
    },
}
"""Means of the 20 champions, in percent, with half their 95 % intervals."""

_NETWORK = NetworkConfig("tic_tac_toe").replace(output="softsign_unit")
_ORIGINAL = GroupsConfig(_NETWORK, generations=900, sides="alternate", most_plies=9)
"""As in Keller 2018: almost 900 rounds. A round is 20 groups x (10 + 99 x 5) networks x 38 games: 383,800."""


def kept_moves(policy: Any, count: int, genomes: Array, numbers: Array, key: Array) -> Float32[Array, " n"]:
    """The share of `count` positions, drawn anew in each generation, in which a network's move keeps the result.

    Half of them are drawn as often as games of random moves come to them, half from all alike. With `strict` an
    illegal move keeps nothing. Raises `ValueError` for networks without an output for each move.
    """
    if not isinstance(policy, Outputs):
        raise ValueError("opponents positions: these judge outputs for moves; leave plays=outputs as it is")
    every = all_positions()
    allowed = np.ones((len(every.after), 9), bool) if policy.strict else every.after >= 0
    often = every.reached[every.open]
    weights = np.cumsum(often / often.sum() + 1 / len(often)) / 2
    fractions = jax.random.uniform(key, (count,), jnp.float32)
    drawn = jnp.searchsorted(jnp.asarray(weights[:-1], jnp.float32), fractions).astype(jnp.int32)
    cells = jnp.asarray(every.cells[every.open], jnp.uint32)[drawn]
    inputs = policy.game.encodings[policy.encoding](Position(cells)).T
    inputs = jnp.broadcast_to(inputs[None], (len(genomes), *inputs.shape))
    outputs = policy.genomes.apply(genomes, inputs, monotone=True)

    here, keeps = (jnp.asarray(of[every.open])[drawn].T for of in (allowed, every.keeps))
    if policy.genomes.network.output == "relu":  # which is flat in parts: of equal outputs the first is played
        chosen = best_of((action, outputs[:, action], here[None, action]) for action in range(9))
        right = keeps[chosen, jnp.arange(count, dtype=jnp.int32)]
    else:  # equal ones, by rounding, are rare: any that keeps the result will do
        highest = [jnp.max(jnp.where(those[None], outputs, -jnp.inf), axis=1) for those in (keeps, here)]
        right = highest[0] >= highest[1]
    return jnp.mean(right.astype(jnp.float32), axis=1)


def quick(network: NetworkConfig, champions: Champions, games: int, seed: int) -> tuple[dict[str, Any], int]:
    """Exact shares in percent, means over the champions: nothing is sampled."""
    shares = measured(network, champions)
    score = shares["win_random"] + shares["draw_random"] / 2
    return {name: float(values.mean()) for name, values in shares.items()} | {"strength": float(score.mean())}, int(
        (score + shares["kept"]).argmax()
    )


def thorough(network: NetworkConfig, champions: Champions, games: int, seed: int) -> dict[str, Any]:
    """The same with 95 % intervals of the mean, if there are several champions, and for each champion."""
    shares = measured(network, champions)
    margins = {name: mean_margin(values) for name, values in shares.items()} if len(champions) > 1 else {}
    return {
        "mean": {name: round(float(values.mean()), 3) for name, values in shares.items()},
        "margin": {name: round(margin, 3) for name, margin in margins.items()},
        "champions": {name: [round(float(value), 3) for value in values] for name, values in shares.items()},
    }


def panels(metrics: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """The learning curve."""
    against_random = {"win_random": "won", "draw_random": "drawn", "loss_random": "lost"}
    published = [(f"original {name.removesuffix('_random')}", RERUN[name]) for name in ("win_random", "kept")]
    return [
        Panel("% against random", against_random, published[:1], height=2.0),
        Panel("% of moves", {"kept": "keep the result"}, published[1:], height=1.4),
        Panel("% against perfect", {"perfect_draw": "drawn"}, from_zero=True),
        Panel("diversity", {"diversity": "diversity"}, from_zero=True),
    ]


def show(result: Mapping[str, Any]) -> None:
    """Prints how good the champions are, beside the original program's."""
    rows = [
        (
            label,
            f"{result['mean'][name]:.1f}" + (f" ± {result['margin'][name]:.1f}" if name in result["margin"] else ""),
            f"{RERUN[name]:.1f}" if name in RERUN else "-",
        )
        for name, label in LABELS.items()
        if name in result["mean"]
    ]
    count = len(result["champions"]["kept"])
    notes = (
        f"{count} champion{'s' if count > 1 else ''}; all figures exact, ± the 95 % interval of the mean",
        f"original: {RERUN['source']}",
    )
    title = f"{result['recipe']} ({result['setting']}): {result['games']:,} games"
    columns = ("mean of the champions", "here", "original")
    show_results(result, title, columns, rows, notes, "random --games 10000")


# Networks in the text form of the original program: what it wrote after each round, and reads again.


def is_writable(network: NetworkConfig) -> bool:
    """Whether the form can tell such networks: it has one activation, for all layers, and an output for each cell."""
    return {network.layers.activation, network.layers.output} == {
        softsign_norm.ACTIVATION
    } and network.plays == "outputs"


def write_text(network: NetworkConfig, genomes: Float32[np.ndarray, "n dimension"]) -> str:
    """The text of networks, one a line; read again they are the same bits."""
    # The shortest digits of a float32, since those of the float64 would say the same in twice as many.
    digits = np.asarray(genomes, np.float32).astype(str).astype(np.float64)
    return softsign_norm.dump(softsign_norm.from_rows(digits, sizes_of(network)))


def read_text(network: NetworkConfig, path: Path) -> Float32[Array, "n dimension"]:
    """The networks of a file. Raises `ValueError` if it holds none, or others than this training's."""
    if not is_writable(network):
        form = f"activation={softsign_norm.ACTIVATION} and output={softsign_norm.ACTIVATION}"
        raise ValueError(f"files of networks are of networks with {form}; these have other ones")
    networks = softsign_norm.load(path)
    wanted = sizes_of(network)
    for line, layers in enumerate(networks, 1):
        layer_sizes = (layers[0].kernel.shape[1], *(len(layer.bias) for layer in layers))
        if layer_sizes != wanted:
            sizes, expected = ("-".join(map(str, these)) for these in (layer_sizes, wanted))
            raise ValueError(f"{path}: network {line} is {sizes}; expected {expected} (--set hidden=N,N changes that)")
    return jnp.asarray(softsign_norm.to_rows(networks))


def sizes_of(network: NetworkConfig) -> tuple[int, ...]:
    """The inputs of a network, and the units of each layer."""
    genomes = network.genomes()
    return (genomes.inputs, *(outputs for outputs, _ in genomes.shapes))


LABELS = {
    "win_random": "won against random, %",
    "draw_random": "drawn against random, %",
    "loss_random": "lost against random, %",
    "kept": "moves that keep the result, %",
    "perfect_draw": "drawn against perfect play, %",
    "wins": "wins at hand that are taken, %",
    "blocks": "threats that are met, %",
    "illegal": "illegal choices, which lose, %",
}

RECIPE = EvolutionRecipe(
    name="tic-tac-toe-evolution",
    summary="20 groups of 10 networks 9-18-18-9 that evolve against each other's best",
    settings={
        "original": _ORIGINAL,
        "parallel": _ORIGINAL.replace(schedule="parallel"),
        "crossover": _ORIGINAL.replace(crossover="segments"),
        "illegal-loses": _ORIGINAL.replace(strict=True),
        "best": OpenESConfig(
            _NETWORK, generations=6_000, population=256, sigma=0.1, step_size=0.1, last_step_size=0.01,
            opponents="positions*512", sides="alternate", most_plies=9, block=32,
        ),
    },
    measures=Measures(quick, thorough, panels, exact=True),
    show_result=show,
    published=(RERUN,),
    fitnesses={"positions": kept_moves},
    judged="last",
    text_form=TextForm(is_writable, write_text, read_text),
)  # fmt: skip


# How good choices of moves are: exactly, in all 4,520 positions and games, without sampling.

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
        blocks = np.zeros_like(threats)
        blocks[quiet] = threats[quiet] & (self.after[quiet] >= 0)
        return blocks

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
    words, number = [0], {0: 0}
    after: list[list[int]] = []
    for word in words:  # which become more meanwhile
        row = [-1] * 9
        for action in range(9):
            if not (_ended(word) or (word | word >> 16) >> action & 1):
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


def share_of(
    choices: Int[np.ndarray, "players open"], actions: Bool[np.ndarray, "positions 9"]
) -> Float[np.ndarray, " players"]:
    """Of the positions with some of these `actions`, the share in which players choose one of them. Each player has a
    row, with an action for each of `all_positions().open`, or ILLEGAL.
    """
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
        "kept": share_of(choices, every.keeps),
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
