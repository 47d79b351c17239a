"""Games of many networks with many opponents: all of them in lock-step, the candidates a row each.

Games stand in two sets: in the one the candidates began, in the other the opponents. In every ply the candidates have
to move in one set and the opponents in the other, so that whoever plays is asked about positions it has to play only.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
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

    def turn(
        self, game: Game, which: Int32[Array, " games"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
        """The turns of the opponents with these numbers, one for each column of positions."""
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

    def turn(
        self, game: Game, which: Int32[Array, " games"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
        """As `Opponents.turn`: now the opponents are the rows, and the candidates the columns."""
        turned = self.policy.turn(self.genomes[which], _transposed(positions), words.T)
        return _transposed(turned)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RandomMoves:
    """Opponents that draw a turn at random."""

    count: int = dataclasses.field(metadata={"static": True})

    def turn(
        self, game: Game, which: Int32[Array, " games"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
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

    def turn(
        self, game: Game, which: Int32[Array, " games"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
        """As `Opponents.turn`."""
        return _flat(lambda *flat: self.turn_of(self.params, *flat), positions, words)


class _Games(NamedTuple):
    """A set of games under way. `waits` are those in which the same player is to move again: it does when its turn
    comes, a ply later. Each column has an opponent, and a random word.
    """

    positions: Positions
    playing: Bool[Array, "n games"]
    waits: Bool[Array, "n games"]
    results: Results
    which: Int32[Array, " games"]
    words: UInt32[Array, " games"]


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
      numbers: the random words of a candidate's games are drawn by its number. Candidates of the same number meet
        the same luck (common random numbers), whatever else is played beside them.

    Raises `ValueError` for other sides.
    """
    if sides not in SIDES:
        raise ValueError(f"unknown sides {sides!r}; expected one of {', '.join(SIDES)}")
    words, count = random_words(key, (2, opponents.count)), opponents.count
    everyone, n = np.arange(count, dtype=np.int32), len(numbers)

    def begin(which: np.ndarray, side: int) -> _Games:
        return _begin(policy.game, n, jnp.asarray(which), words[side, which % count], key)

    def move(games: _Games, number: Int32[Array, ""], candidates: bool) -> _Games:
        """One ply of the candidates, or of the opponents."""
        drawn = stream(stream(games.words[None], numbers[:, None].astype(jnp.uint32)), number + 1)
        if candidates:
            decision = policy.turn(genomes, games.positions, drawn)
        else:
            decision = opponents.turn(policy.game, games.which, games.positions, drawn)
        return _after(policy.game, games, decision, drawn, 1.0 if candidates else -1.0)

    if sides in ("first", "second"):
        return _one_set(move, begin(everyone, int(sides == "second")), most_plies, candidates_begin=sides == "first")
    if sides == "both":
        sets = begin(everyone, 0), begin(everyone, 1)
    else:  # an odd number of opponents leaves one game, which is not begun
        odd = np.append(everyone[1::2], [count] * (count % 2)).astype(np.int32)
        sets = begin(everyone[::2], 0), begin(odd, 1)._replace(playing=jnp.asarray(np.tile(odd < count, (n, 1))))
    first, second = _two_sets(move, sets, most_plies)
    if sides == "both":
        return jax.tree.map(lambda x, y: jnp.concatenate([x, y], axis=1), first, second)
    return jax.tree.map(lambda x, y: jnp.stack([x, y], axis=2).reshape(n, -1)[:, :count], first, second)


def _two_sets(move: Callable, sets: tuple[_Games, _Games], most_plies: int) -> tuple[Results, Results]:
    """Plays a set that the candidates begin, and one of as many games that the opponents begin.

    The sets change places after every ply, so that candidates and opponents stand in the program once.
    """

    def ply(carry):
        number, (ours, theirs) = carry
        return number + 1, (move(theirs, number, False), move(ours, number, True))

    def more(carry):
        number, (ours, theirs) = carry
        return (number < most_plies) & (jnp.any(ours.playing) | jnp.any(theirs.playing))

    number, (one, other) = lax.while_loop(more, ply, (jnp.int32(0), sets))
    odd = number % 2 == 1
    return tuple(
        jax.tree.map(lambda x, y: jnp.where(odd, y, x), *pair)
        for pair in ((one.results, other.results), (other.results, one.results))
    )


def _one_set(move: Callable, games: _Games, most_plies: int, candidates_begin: bool) -> Results:
    """Plays games that the same side begins, two plies in each round."""

    def plies(carry):
        number, games = carry
        games = move(games, number, candidates_begin)
        on = number + 1 < most_plies
        return number + 2, move(games._replace(playing=games.playing & on), number + 1, not candidates_begin)

    def more(carry):
        number, games = carry
        return (number < most_plies) & jnp.any(games.playing)

    return lax.while_loop(more, plies, (jnp.int32(0), games))[1].results


def _begin(
    game: Game, n: int, which: Int32[Array, " games"], words: UInt32[Array, " games"], key: Key[Array, ""]
) -> _Games:
    """New games; all candidates meet the same openings."""
    shape = (n, len(which))
    openings = jax.vmap(lambda column: game.opening(jax.random.fold_in(key, column)))(which)
    positions = jax.tree.map(lambda x: jnp.broadcast_to(x[None], (n, *x.shape)), openings)
    nothing = jnp.zeros(shape, jnp.float32)
    results = Results(nothing, nothing > 0, nothing, jnp.zeros(shape, jnp.int32))
    return _Games(positions, nothing == 0, nothing > 0, results, which, words)


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
    playing, waits = games.playing & ~ends, moved & ~switch & ~ends
    return games._replace(positions=positions, playing=playing, waits=waits, results=results)


def _flat(turn: Callable, positions: Positions, words: UInt32[Array, "n games"]) -> Decision:
    """Legal turns of a player that plays in flat batches."""
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), positions)
    outcome = jax.tree.map(lambda x: x.reshape(*words.shape, *x.shape[1:]), turn(flat, words.ravel()))
    return Decision(outcome, jnp.ones(words.shape, bool))


def _transposed(tree: Any) -> Any:
    return jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), tree)

