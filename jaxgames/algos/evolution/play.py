"""Games of many networks with many opponents: all of them in lock-step, the candidates a row each.

Games stand in two sets: in the one the candidates began, in the other the opponents. In every ply the candidates have
to move in one set and the opponents in the other, so that whoever plays is asked about positions it has to play only.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.evolution.policies import Decision, Policy, Positions
from jaxgames.envs import once
from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.words import random_words, stream

SIDES = ("both", "alternate", "first", "second")


class Results(NamedTuple):
    """What became of each candidate's games, all [n, games].

    `points` are the candidate's, 0 for a game that was stopped; `illegal` says that the candidate named an illegal
    action, and so lost; `material` is what the candidate's pieces were worth at the end, less the opponent's.
    """

    points: Float32[Array, "n games"]
    illegal: Bool[Array, "n games"]
    material: Float32[Array, "n games"]
    plies: Int32[Array, "n games"]


class Turn(Protocol):
    """Plays a turn in each of a batch of positions, given one random word for each; a hashable value."""

    def __call__(self, params: Any, positions: Any, words: UInt32[Array, " batch"], /) -> Outcome:
        """What each turn leads to; chance after it is still to come."""
        ...


class Opponents(Protocol):
    """Who the candidates meet: `count` opponents, each by its number."""

    count: int

    @property
    def draws(self) -> bool:
        """Whether their turns depend on random words."""
        ...

    def turn(self, game: Game, which: slice, positions: Positions, words: UInt32[Array, "n games"]) -> Decision:
        """The turns of the opponents `which`, one for each column of positions."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Networks:
    """Opponents that are networks themselves, float32[count, dimension], by a policy."""

    policy: Policy = dataclasses.field(metadata={"static": True})
    genomes: Float32[Array, "count dimension"]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.genomes)

    @property
    def draws(self) -> bool:
        """As `Opponents.draws`."""
        return False

    def turn(self, game: Game, which: slice, positions: Positions, words: UInt32[Array, "n games"]) -> Decision:
        """As `Opponents.turn`: now the opponents are the rows, and the candidates the columns."""
        turned = self.policy.turn(self.genomes[which], _transposed(positions), words.T)
        return _transposed(turned)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RandomMoves:
    """Opponents that draw a turn at random."""

    count: int = dataclasses.field(metadata={"static": True})
    draws: ClassVar[bool] = True

    def turn(self, game: Game, which: slice, positions: Positions, words: UInt32[Array, "n games"]) -> Decision:
        """As `Opponents.turn`."""
        return _flat(game.random_turn, positions, words)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Others:
    """Opponents that are all the same player: `turn(params, positions, words)` plays turns in a flat batch of
    positions, as that of `jaxgames.players.Player` does.
    """

    turn_of: Turn = dataclasses.field(metadata={"static": True})
    params: Any
    count: int = dataclasses.field(metadata={"static": True})
    draws: ClassVar[bool] = True

    def turn(self, game: Game, which: slice, positions: Positions, words: UInt32[Array, "n games"]) -> Decision:
        """As `Opponents.turn`."""
        return _flat(lambda *flat: self.turn_of(self.params, *flat), positions, words)


class _Games(NamedTuple):
    """A set of games under way, [n, games]. `waits` are those in which the same player is to move again: it does when
    its turn comes, a ply later.
    """

    positions: Positions
    playing: Bool[Array, "n games"]
    waits: Bool[Array, "n games"]
    results: Results


def play(
    policy: Policy,
    genomes: Float32[Array, "n dimension"],
    opponents: Any,
    key: Key[Array, ""],
    numbers: Int32[Array, " n"],
    sides: str = "both",
    most_plies: int = 1_000,
) -> Results:
    """Plays games of n candidates with all `opponents`, to the end or for `most_plies` plies of each.

    Args:
      sides: `both`: two games with each opponent, [n, 2 k], first those that the candidate begins; `alternate`: one
        game with each, [n, k], which the candidate begins if the opponent's number is even; `first` and `second`: one
        game with each, which the candidate begins, or the opponent.
      numbers: the random numbers of a candidate's games are drawn by its number. Candidates of the same number meet
        the same luck (common random numbers), whatever else is played beside them.

    Raises `ValueError` for other sides.
    """
    if sides not in SIDES:
        raise ValueError(f"unknown sides {sides!r}; expected one of {', '.join(SIDES)}")
    everyone = slice(0, opponents.count)
    which = {
        "both": (everyone, everyone),
        "alternate": (slice(0, None, 2), slice(1, None, 2)),
        "first": (everyone, slice(0, 0)),
        "second": (slice(0, 0), everyone),
    }[sides]
    lengths = [len(range(opponents.count)[each]) for each in which]
    words = stream(random_words(key, (1, sum(lengths))), numbers[:, None].astype(jnp.uint32))
    halves = words[:, : lengths[0]], words[:, lengths[0] :]
    sets = tuple(_begin(policy.game, half, key) for half in halves)

    def ply(number, sets, candidate):
        return _ply(policy, genomes, opponents, which, halves, number, sets, candidate)

    def first_ply(sets):
        """All games begin alike where there is no chance: a network then opens all of its games by one evaluation."""
        if policy.game.outcome_probabilities or opponents.draws:
            return ply(jnp.int32(0), sets, candidate=0)
        begun, other = sets
        if lengths[0]:
            decision = policy.turn(genomes, _first(begun.positions, 1), halves[0][:, :1])
            begun = _after(policy.game, begun, _spread(decision, halves[0].shape), halves[0], 1.0)
        if lengths[1]:
            decision = opponents.turn(policy.game, which[1], _first(other.positions, 0), halves[1][:1])
            other = _after(policy.game, other, _spread(decision, halves[1].shape), halves[1], -1.0)
        return begun, other

    def plies(carry):
        number, sets = carry
        sets = ply(number, sets, candidate=1)
        going_on = number + 1 < most_plies
        sets = tuple(games._replace(playing=games.playing & going_on) for games in sets)
        return number + 2, ply(number + 1, sets, candidate=0)

    def more(carry):
        number, sets = carry
        return (number < most_plies) & (jnp.any(sets[0].playing) | jnp.any(sets[1].playing))

    _, sets = lax.while_loop(more, plies, (jnp.int32(1), first_ply(sets)))
    first, second = (games.results for games in sets)
    if sides == "alternate" and lengths[0] == lengths[1]:
        return jax.tree.map(lambda x, y: jnp.stack([x, y], axis=2).reshape(len(x), -1), first, second)
    if sides == "alternate":
        both = jax.tree.map(lambda x, y: jnp.stack([x[:, :-1], y], axis=2).reshape(len(x), -1), first, second)
        return jax.tree.map(lambda x, last: jnp.concatenate([x, last[:, -1:]], axis=1), both, first)
    return jax.tree.map(lambda x, y: jnp.concatenate([x, y], axis=1), first, second)


def _begin(game: Game, words: UInt32[Array, "n games"], key: Key[Array, ""]) -> _Games:
    """New games; all candidates meet the same openings."""
    columns = jnp.arange(words.shape[1], dtype=jnp.int32)
    openings = jax.vmap(lambda column: game.opening(jax.random.fold_in(key, column)))(columns)
    positions = jax.tree.map(lambda x: jnp.broadcast_to(x[None], (len(words), *x.shape)), openings)
    nothing = jnp.zeros(words.shape, jnp.float32)
    results = Results(nothing, nothing > 0, nothing, jnp.zeros(words.shape, jnp.int32))
    return _Games(positions, nothing == 0, nothing > 0, results)


def _ply(
    policy: Policy,
    genomes: Float32[Array, "n dimension"],
    opponents: Any,
    which: tuple[slice, slice],
    words: tuple[Array, Array],
    number: Int32[Array, ""],
    sets: tuple[_Games, _Games],
    candidate: int,
) -> tuple[_Games, _Games]:
    """One ply in both sets: the candidates move in set number `candidate`, the opponents in the other."""
    found = []
    for place, (games, own) in enumerate(zip(sets, words, strict=True)):
        if own.shape[1] == 0:
            found.append(games)
            continue
        drawn = stream(own, number + 1)
        if place == candidate:
            decision = policy.turn(genomes, games.positions, drawn)
        else:
            decision = opponents.turn(policy.game, which[place], games.positions, drawn)
        found.append(_after(policy.game, games, decision, drawn, 1.0 if place == candidate else -1.0))
    return found[0], found[1]


def _after(game: Game, games: _Games, decision: Decision, words: UInt32[Array, "n games"], sign: float) -> _Games:
    """The games after the turns of one side: 1 for the candidates, -1 for the opponents."""
    (position, switch, over, reward), legal = decision
    over, legal = (once.each(flags, games.results.plies) for flags in (over, legal))
    moved = games.playing & ~games.waits
    ends = moved & (over | ~legal)
    points = jnp.float32(sign) * jnp.where(legal, reward, jnp.float32(-1))
    if game.outcome_probabilities:
        position = jax.vmap(jax.vmap(game.chance))(position, game.draw_outcome(stream(words, 1)))
    acting = jnp.float32(sign) * jnp.where(switch, jnp.float32(-1), jnp.float32(1))
    material = acting * jax.vmap(jax.vmap(game.material))(position)
    before = games.results
    results = Results(
        points=jnp.where(ends, points, before.points),
        illegal=before.illegal | (ends & ~legal) if sign > 0 else before.illegal,
        material=jnp.where(moved & legal, material, before.material),
        plies=before.plies + moved.astype(jnp.int32),
    )
    plies = before.plies

    def chosen(new, old):
        like, flags = (x.reshape(*x.shape, *(1,) * (new.ndim - 2)) for x in (plies, moved & legal))
        return once.each(jnp.where(flags, new, old), jnp.broadcast_to(like, new.shape))

    positions = jax.tree.map(chosen, position, games.positions)
    return _Games(positions, games.playing & ~ends, moved & ~switch & ~ends, results)


def _flat(turn: Callable, positions: Positions, words: UInt32[Array, "n games"]) -> Decision:
    """Legal turns of a player that plays in flat batches."""
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), positions)
    outcome = jax.tree.map(lambda x: x.reshape(*words.shape, *x.shape[1:]), turn(flat, words.ravel()))
    return Decision(outcome, jnp.ones(words.shape, bool))


def _transposed(tree: Any) -> Any:
    return jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), tree)


def _first(positions: Positions, axis: int) -> Positions:
    return jax.tree.map(lambda x: lax.slice_in_dim(x, 0, 1, axis=axis), positions)


def _spread(decision: Decision, shape: tuple[int, ...]) -> Decision:
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (*shape, *x.shape[2:])), decision)
