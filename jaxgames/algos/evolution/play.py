"""Games of many networks with many opponents: all of them in lock-step, the candidates a row each.

There are two sets of games: the candidates began one, the opponents the other. In every ply the candidates move in one
set while the opponents move in the other, so no network computes moves that it does not play.
"""

import dataclasses
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.evolution.candidates import Columns, LowRank, fit_columns
from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.evolution.policies import (
    LANES,
    POLICY,
    POLICY_PARTS,
    Decision,
    Policy,
    Positions,
    flat,
    opaque_ints,
    rows,
)
from jaxgames.envs.core import Game, Outcome
from jaxgames.ops import checks, loops
from jaxgames.ops.materialize import materialize, order_after
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import fold_in, random_bits

SIDES = ("both", "alternate", "first", "second")


class Status:
    """What stands in place of a game's points: why it has none yet, or how it was lost.

    These are numbers that no game is worth, and not a second array of an enum: the arrays of a game are written and
    transposed in every ply, and of tic-tac-toe there are two.
    """

    PLAYING = jnp.nan
    """It goes on."""
    MOVES_AGAIN = jnp.inf
    """It goes on with another turn of the player who has just moved."""
    ILLEGAL = -jnp.inf
    """The candidate has lost it by an illegal action."""


class Details(NamedTuple):
    """More about games, as far as it was asked for.

    `material` is what the candidate's pieces were worth at the end, less the opponent's, and `pieces` how many they
    were, less the opponent's; `plies` counts the turns of both, `moves` the candidate's legal ones, and `captures`
    those of them that took a piece.
    """

    material: Float32[Array, "n games"] | None = None
    plies: Int32[Array, "n games"] | None = None
    pieces: Float32[Array, "n games"] | None = None
    moves: Int32[Array, "n games"] | None = None
    captures: Int32[Array, "n games"] | None = None


class Results(NamedTuple):
    """The results of each candidate's games, all [n, games].

    `points` are the candidate's, 0 for a game that was stopped; `illegal` marks games that it lost by naming an illegal
    action; `details` is None unless asked for.
    """

    points: Float32[Array, "n games"]
    illegal: Bool[Array, "n games"]
    details: Details | None


class TurnFunction(Protocol):
    """Plays a turn in each of a batch of positions, given 32 random bits for each; a hashable value."""

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"], /) -> Outcome:
        """What each turn leads to; chance after it is still to come."""
        ...


class Opponents(Protocol):
    """The opponents of the candidates: `count` of them, each with its number."""

    @property
    def count(self) -> int:
        """How many."""
        ...

    def turn(
        self, game: Game, which: Int32[Array, " k"], positions: Positions, bits: UInt32[Array, "k games"]
    ) -> Decision:
        """The turns of k opponents, those with these numbers, in as many positions each."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Networks:
    """Opponents that are networks themselves, float32[count, dimension], by a policy."""

    policy: Policy = dataclasses.field(metadata={"static": True})
    genomes: Float32[Array, "count dimension"]

    def __post_init__(self) -> None:
        checks.made("policy", self.policy, POLICY_PARTS, POLICY)

    @property
    def count(self) -> int:
        """How many."""
        return len(self.genomes)

    def turn(
        self, game: Game, which: Int32[Array, " k"], positions: Positions, bits: UInt32[Array, "k games"]
    ) -> Decision:
        """The turns of k networks."""
        return self.policy.turn(self.genomes[which], positions, bits)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RandomMoves:
    """Opponents that draw a turn at random."""

    count: int = dataclasses.field(metadata={"static": True})

    def __post_init__(self) -> None:
        checks.whole("count", self.count)

    def turn(
        self, game: Game, which: Int32[Array, " k"], positions: Positions, bits: UInt32[Array, "k games"]
    ) -> Decision:
        """Turns at random."""
        return _of_all(game.random_turn, positions, bits)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FixedPlayer:
    """Opponents that are all the same player: `turn(params, positions, bits)` plays turns in a flat batch of
    positions, as that of `jaxgames.players.Player` does.
    """

    turn_of: TurnFunction = dataclasses.field(metadata={"static": True})
    params: Any
    count: int = dataclasses.field(metadata={"static": True})

    def __post_init__(self) -> None:
        checks.function("turn_of", self.turn_of, "(params, positions, bits) -> outcome")
        checks.whole("count", self.count)

    def turn(
        self, game: Game, which: Int32[Array, " k"], positions: Positions, bits: UInt32[Array, "k games"]
    ) -> Decision:
        """The player's turns."""
        return _of_all(lambda *flat: self.turn_of(self.params, *flat), positions, bits)


class _Order(NamedTuple):
    """The order of the games of n candidates where these move; with `last` it is that of the opponents."""

    n: int
    last: bool


class _GameSet(NamedTuple):
    """A set of games under way, in few flat arrays: XLA:CPU makes no vector code of loops over short rows.

    Where the candidates move, the games of each candidate are adjacent, padded with copies of its last game to a
    multiple of `LANES`; where the opponents move, those of each opponent are. In an order that is `last` those of each
    opponent always are. A player who moves twice in a row does so when its side is asked next. `which` are the
    opponents' numbers, `bits` 32 random bits for each.
    """

    positions: Any
    points: Float32[Array, " games"]
    details: Details | None
    which: Int32[Array, " k"]
    bits: UInt32[Array, " k"]

    @property
    def playing(self) -> Bool[Array, " games"]:
        """Which games are not over."""
        return jnp.isnan(self.points) | (self.points == Status.MOVES_AGAIN)

    def of_opponents(self, order: _Order) -> "_GameSet":
        """The games in the order of the opponents."""
        k = len(self.which)
        return self if order.last else self.map(lambda x: flat(jnp.swapaxes(rows(x, order.n)[:, :k], 0, 1)))

    def of_candidates(self, order: _Order) -> "_GameSet":
        """The games in the order of the candidates."""
        k = len(self.which)
        filled = np.minimum(np.arange(k + -k % LANES), k - 1)  # 19 games take longer than 24
        return self if order.last else self.map(lambda x: flat(jnp.swapaxes(rows(x, k)[filled], 0, 1)))

    def results(self, order: _Order) -> Results:
        """The results of games that are in the order of the candidates."""
        points, illegal = jnp.where(self.playing, 0.0, self.points), self.points == Status.ILLEGAL
        results, k = Results(jnp.where(illegal, -1.0, points), illegal, self.details), len(self.which)
        if order.last:
            return jax.tree.map(jnp.transpose, rows(results, k))
        return jax.tree.map(lambda x: x[:, :k], rows(results, order.n))

    @property
    def arrays(self) -> list[Array]:
        """All arrays of the games."""
        return jax.tree.leaves((self.positions, self.points, self.details))

    def map(self, function: Callable[[Array], Array]) -> "_GameSet":
        """The games after a function of each of their arrays."""
        positions, points, details = jax.tree.map(function, (self.positions, self.points, self.details))
        return self._replace(positions=positions, points=points, details=details)


def check_sides(sides: Any) -> None:
    """Raises `ValueError` for unknown sides, `TypeError` for what is no text."""
    checks.text("sides", sides, SIDES[0])
    if sides not in SIDES:
        raise ValueError(f"unknown sides {sides!r}; expected one of {', '.join(SIDES)}")


def play(
    policy: Policy,
    genomes: Float32[Array, "n dimension"],
    opponents: Any,
    key: Key[Array, ""],
    numbers: Int32[Array, " n"],
    sides: str = "both",
    most_plies: int = 1_000,
    details: bool | Collection[str] = False,
) -> Results:
    """Plays games of n candidates with all `opponents`, to the end or for `most_plies` plies of each.

    Args:
      sides: `both`: two games with each opponent, [n, 2 k], first those that the candidate begins; `alternate`: one
        game with each, [n, k], which the candidate begins if the opponent's number is even; `first` and `second`: one
        game with each, which the candidate begins, or the opponent.
      numbers: the random bits of a candidate's games are drawn by its number. Candidates of the same number meet
        the same luck (common random numbers), whatever else is played beside them.
      details: asks for all of the results' `details`, or for those of these names; they take time.

    Raises `ValueError` for other sides, and for details that there are not.
    """
    checks.made("policy", policy, POLICY_PARTS, POLICY)
    checks.made("opponents", opponents, ("turn", "count"), "opponents, such as evolution.RandomMoves(8)")
    checks.key(key)
    check_sides(sides)
    games = -(-opponents.count // 2) if sides == "alternate" else opponents.count
    form = _in_form(policy, genomes, games)
    turn_last: Any = getattr(policy, "turn_last", None)  # of policies that take such forms
    n = len(form)
    order = _Order(n, last=not checks.is_array(form))
    numbers = checks.integers("numbers", numbers, (n,))
    checks.whole_or_traced("most_plies", most_plies)
    named = Details._fields if details is True else tuple(details or ())
    for name in named:
        if name not in Details._fields:
            raise ValueError(f"unknown detail {name!r} of games; available: {', '.join(Details._fields)}")
    bits, count = random_bits(key, (2, opponents.count)), opponents.count
    everyone = np.arange(count, dtype=np.int32)

    def begin(which: np.ndarray, side: int) -> _GameSet:
        return _begin(policy.game, n, jnp.asarray(which), bits[side, which % count], key, named)

    def move(games: _GameSet, number: Int32[Array, ""], candidates: bool) -> _GameSet:
        """One ply of the candidates, or of the opponents."""
        luck = games.bits[:, None], numbers[None].astype(jnp.uint32)
        if candidates and not order.last:
            drawn = fold_in(fold_in(*jax.tree.map(jnp.transpose, luck)), number + 1)
            drawn = jnp.pad(drawn, ((0, 0), (0, -len(games.which) % LANES)), mode="edge")
            decision = policy.turn(form, rows(games.positions, n), drawn)
        else:
            drawn, positions = fold_in(fold_in(*luck), number + 1), rows(games.positions, len(games.which))
            if candidates:
                decision = turn_last(form, positions, drawn)
            else:
                decision = opponents.turn(policy.game, games.which, positions, drawn)
        return _after(policy.game, games, flat(decision), drawn.ravel(), number < most_plies, candidates)

    if sides in ("first", "second"):
        begun = begin(everyone, int(sides == "second"))
        return _one_set(move, begun, order, most_plies, candidates_begin=sides == "first")
    if sides == "both":
        sets = begin(everyone, 0), begin(everyone, 1)
    else:  # an odd number of opponents leaves one game, which is not begun
        odd = np.append(everyone[1::2], [count] * (count % 2)).astype(np.int32)
        unplayed = jnp.asarray(np.where(odd < count, np.nan, 0).astype(np.float32))
        sets = begin(everyone[::2], 0), begin(odd, 1)._replace(points=jnp.repeat(unplayed, n))
    first, second = _two_sets(move, sets, order, most_plies)
    if sides == "both":
        return jax.tree.map(lambda x, y: jnp.concatenate([x, y], axis=1), first, second)
    return jax.tree.map(lambda x, y: jnp.stack([x, y], axis=2).reshape(n, -1)[:, :count], first, second)


def _two_sets(
    move: Callable, sets: tuple[_GameSet, _GameSet], order: _Order, most_plies: int
) -> tuple[Results, Results]:
    """Plays a set that the candidates begin, and one of as many games that the opponents begin.

    The sets change places after every ply, so that candidates and opponents stand in the program once.
    """

    def ply(carry):
        number, _, (ours, theirs) = carry
        ours, theirs = move(ours, number, True), move(theirs, number, False)
        # Where a number is known only after both sets have moved, XLA writes in place; else it copies all games first.
        number = order_after(number + 1, [x[:1] for games in (ours, theirs) for x in games.arrays])
        left = jnp.any(ours.playing) | jnp.any(theirs.playing)
        sets = theirs.of_candidates(order), ours.of_opponents(order)
        return number, left, tuple(games.map(lambda x: materialize(x, number)) for games in sets)

    def more(carry):
        number, left, _ = carry
        return (number < most_plies) & left

    sets = sets[0].of_candidates(order), sets[1]
    lanes = sets[0].playing.size
    number, _, (ours, theirs) = loops.while_loop(lanes, more, ply, (jnp.int32(0), jnp.bool_(True), sets))
    one, other = ours.results(order), theirs.of_candidates(order).results(order)
    odd = number % 2 == 1
    return tuple(jax.tree.map(lambda x, y: jnp.where(odd, y, x), *pair) for pair in ((one, other), (other, one)))


def _one_set(move: Callable, games: _GameSet, order: _Order, most_plies: int, candidates_begin: bool) -> Results:
    """Plays games that the same side begins, two plies in each round."""

    def plies(carry):
        number, games = carry
        for candidates in (candidates_begin, not candidates_begin):
            games = move(games, number, candidates)
            number = number + 1
            games = games.of_opponents(order) if candidates else games.of_candidates(order)
        return number, games

    def more(carry):
        number, games = carry
        return (number < most_plies) & jnp.any(games.playing)

    if candidates_begin:
        games = games.of_candidates(order)
    games = loops.while_loop(games.playing.size, more, plies, (jnp.int32(0), games))[1]
    return (games if candidates_begin else games.of_candidates(order)).results(order)


def _in_form(policy: Policy, genomes: Any, games: int) -> Any:
    """The candidates in the form in which they play so many games in each of the sets.

    Rows are fastest where a small network plays many games, columns where it plays few.
    """
    inner: Any = getattr(policy, "genomes", None)
    takes_forms = hasattr(policy, "turn_last")
    small, few = isinstance(inner, Genomes) and fit_columns(inner), games < LANES
    if isinstance(genomes, LowRank):
        checks.array("genomes", genomes.shared, jnp.floating, (policy.dimension,))
        return genomes if takes_forms and (few or not small) else genomes.rows()
    checks.array("genomes", genomes, jnp.floating, (None, policy.dimension))
    return Columns(genomes.T, inner) if takes_forms and small and few else genomes


def _begin(
    game: Game,
    n: int,
    which: Int32[Array, " k"],
    bits: UInt32[Array, " k"],
    key: Key[Array, ""],
    details: Collection[str],
) -> _GameSet:
    """New games, in the order of the opponents; all candidates meet the same openings."""
    openings = jax.vmap(lambda opponent: game.init_position(jax.random.fold_in(key, opponent)))(which)
    positions = jax.tree.map(lambda x: jnp.repeat(x, n, axis=0), openings)
    games = n * len(which)
    counted = {"plies", "moves", "captures"}
    zeros = {name: jnp.zeros(games, jnp.int32 if name in counted else jnp.float32) for name in details}
    more = Details(**zeros) if details else None
    return _GameSet(positions, jnp.full(games, Status.PLAYING, jnp.float32), more, which, bits)


def _after(
    game: Game,
    games: _GameSet,
    decision: Decision,
    bits: UInt32[Array, " games"],
    on: Bool[Array, ""],
    candidates: bool,
) -> _GameSet:
    """The games after the turns of one side, where they go `on`."""
    (position, turn_passes, over, reward), legal = decision
    opaque = opaque_ints(games.positions)
    over, legal = (materialize(flags, opaque) for flags in (over, legal))
    moved = jnp.isnan(games.points) & on
    if game.outcome_probabilities:
        position = jax.vmap(game.chance)(position, game.draw_outcome(fold_in(bits, 1)))
    won = jnp.where(legal, reward, Status.ILLEGAL) if candidates else -jnp.where(legal, reward, -1.0)
    status = jnp.where(turn_passes, Status.PLAYING, Status.MOVES_AGAIN)
    points = jnp.where(moved, jnp.where(over | ~legal, won, status), games.points)
    points = jnp.where(games.points == Status.MOVES_AGAIN, Status.PLAYING, points)
    details = games.details
    if details is not None:
        details = _details_after(game, games, position, turn_passes, moved, moved & legal, candidates)
    played = select(moved & legal, position, games.positions)
    return games._replace(
        positions=jax.tree.map(lambda x: materialize(x, opaque), played),
        points=materialize(points, opaque),
        details=details,
    )


def _details_after(
    game: Game,
    games: _GameSet,
    position: Any,
    turn_passes: Bool[Array, " games"],
    moved: Bool[Array, " games"],
    played: Bool[Array, " games"],
    candidates: bool,
) -> Details:
    """The details after the turns of one side, which `moved` in some games and `played` a legal turn there or not."""
    mover = jnp.where(turn_passes, jnp.float32(-1), 1.0)  # the sign of what counts for the player who is to act now
    ours, count = mover if candidates else -mover, jax.vmap(game.piece_count)
    own = played & jnp.bool_(candidates)
    after: dict[str, Callable[[Array], Array]] = {
        "material": lambda x: jnp.where(played, ours * jax.vmap(game.material)(position), x),
        "plies": lambda x: x + moved.astype(jnp.int32),
        "pieces": lambda x: jnp.where(played, ours * count(position), x),
        "moves": lambda x: x + own.astype(jnp.int32),
        "captures": lambda x: x + (own & (mover * count(position) > count(games.positions))).astype(jnp.int32),
    }
    asked = {name: x for name, x in (games.details or Details())._asdict().items() if x is not None}
    return Details(**{name: after[name](x) for name, x in asked.items()})


def _of_all(turn: Callable, positions: Positions, bits: UInt32[Array, "k games"]) -> Decision:
    """Legal turns of a player that plays in flat batches."""
    outcome = turn(flat(positions), bits.ravel())
    return Decision(rows(outcome, len(bits)), jnp.ones(bits.shape, bool))
