"""Games of many networks with many opponents, all in lock-step; each candidate is a row.

There are two sets of games: the candidates began one, the opponents the other. In every ply the candidates move in one
set while the opponents move in the other, so no network computes moves that it does not play.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int, Int32, Key, UInt32

from jaxgames.algos.evolution.candidates import Columns, LowRank, fit_columns
from jaxgames.algos.evolution.genomes import Genomes, in_rows
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
    """Codes in place of a game's points: why it has none yet, or how it was lost.

    These are numbers that no game can be worth. A second array, of an enum, would cost time: every array of a game is
    written and transposed in every ply, and tic-tac-toe has only two.
    """

    PLAYING = jnp.nan
    """It goes on."""
    MOVES_AGAIN = jnp.inf
    """It goes on with another turn of the player who has just moved."""
    ILLEGAL = -jnp.inf
    """The candidate has lost it by an illegal action."""


class Details(NamedTuple):
    """Further results of games, if requested.

    `material` is what the candidate's pieces were worth at the end, minus the opponent's, and `pieces` their number,
    minus the opponent's; `plies` counts the turns of both, `moves` the candidate's legal ones, and `captures`
    those of them that captured.
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
        """The turns of k opponents, those with these numbers, in as many positions each.

        If a class says `any_order = True`, all its opponents play alike, and positions may come in any shape
        [m, games], with one position for each entry of `bits`.
        """
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
        """The turns of k networks. Raises `ValueError` for networks of another size than the policy's."""
        checks.array("opponents", self.genomes, jnp.floating, (None, self.policy.dimension))
        return self.policy.turn(self.genomes[which], positions, bits)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RandomMoves:
    """Opponents that draw a turn at random."""

    any_order: ClassVar[bool] = True
    count: int = dataclasses.field(metadata={"static": True})

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.whole("count", self.count)

    def turn(
        self, game: Game, which: Int32[Array, " k"], positions: Positions, bits: UInt32[Array, "m games"]
    ) -> Decision:
        """Turns at random."""
        return _of_all(game.random_turn, positions, bits)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FixedPlayer:
    """Opponents that are all the same player: `turn(params, positions, bits)` plays turns in a flat batch of
    positions, as that of `jaxgames.players.Player` does. `ValueError` for one that learns over a game.
    """

    any_order: ClassVar[bool] = True
    turn_of: TurnFunction = dataclasses.field(metadata={"static": True})
    params: Any
    count: int = dataclasses.field(metadata={"static": True})

    def __post_init__(self) -> None:
        checks.native_fields(self, "turn_of", "count")
        checks.function("turn_of", self.turn_of, "(params, positions, bits) -> outcome")
        if hasattr(self.turn_of, "begin"):
            raise ValueError("turn_of learns over a game, which opponents do not: of lgr:10,keep=1 leave out keep=1")
        checks.whole("count", self.count)

    def turn(
        self, game: Game, which: Int32[Array, " k"], positions: Positions, bits: UInt32[Array, "m games"]
    ) -> Decision:
        """The player's turns."""
        return _of_all(lambda *flat: self.turn_of(self.params, *flat), positions, bits)


class _Order(NamedTuple):
    """The order of the games of n candidates with k opponents: those of each candidate are adjacent, padded with copies
    of its last game to a multiple of `LANES`; with `last` those of each opponent are.
    """

    n: int
    k: int
    last: bool

    @property
    def filled(self) -> Int[np.ndarray, " games"]:
        """Which of a candidate's games stand beside each other: 19 games take longer than 24."""
        return np.minimum(np.arange(self.k + -self.k % LANES), self.k - 1)

    def of_candidates(self, x: Array) -> Array:
        """Rows of opponents as rows of candidates, flat."""
        return flat(jnp.swapaxes(x[self.filled], 0, 1))

    def of_opponents(self, x: Array) -> Array:
        """Games of adjacent candidates as rows of opponents."""
        return jnp.swapaxes(rows(x, self.n)[:, : self.k], 0, 1)


def _as_rows(tree: Any, k: int) -> Any:
    """The same rows, which no compiler computes as columns: a single row has one layout.

    Otherwise XLA transposes all that an opponent computes, not only its positions and decisions.
    """
    return rows(lax.optimization_barrier(flat(tree)), k)


class _Seats(NamedTuple):
    """The numbers of the opponents in a set of games, and 32 random bits for each."""

    which: Int32[Array, " k"]
    bits: UInt32[Array, " k"]


class _GameSet(NamedTuple):
    """A set of games in progress, in a few flat arrays: XLA:CPU does not vectorise loops over short rows.

    A player who moves twice in a row makes the second move at its side's next turn. `turns` are counted if the game
    has a `step_limit`.
    """

    positions: Any
    points: Float32[Array, " games"]
    details: Details | None
    turns: Int32[Array, " games"] | None

    @property
    def playing(self) -> Bool[Array, " games"]:
        """Which games are not over."""
        return jnp.isnan(self.points) | (self.points == Status.MOVES_AGAIN)

    def results(self, order: _Order) -> Results:
        """The results of the candidates."""
        points, illegal = jnp.where(self.playing, 0.0, self.points), self.points == Status.ILLEGAL
        results = Results(jnp.where(illegal, -1.0, points), illegal, self.details)
        if order.last:
            return jax.tree.map(jnp.transpose, rows(results, order.k))
        return jax.tree.map(lambda x: x[:, : order.k], rows(results, order.n))


_Sets = tuple[_GameSet, _GameSet]


def check_sides(sides: Any) -> None:
    """Raises `ValueError` for unknown sides, `TypeError` for anything but a text."""
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
    most_plies: int | Int32[Array, ""] = 1_000,
    details: bool | Collection[str] = False,
) -> Results:
    """Plays games of n candidates with all `opponents`, to the end or for `most_plies` plies. The sides take turns in
    plies, so if a player moves twice in a row the ply in between passes. A game is also stopped at its own
    `step_limit`. Outside of `jit`, the games are compiled anew in each call.

    Args:
      sides: `both`: two games with each opponent, [n, 2 k], first those that the candidate begins; `alternate`: one
        game with each, [n, k], which the candidate begins if the opponent's number is even; `first` and `second`: one
        game with each, which the candidate begins, or the opponent.
      numbers: the random bits of a candidate's games depend on its number. Candidates with the same number have
        the same luck (common random numbers), whatever other games are played.
      details: requests all of the results' `details`, or those with these names; they take time.

    Raises `ValueError` for unknown sides or details, for networks of another size than the policy's,
    and if there are no candidates or no opponents.
    """
    checks.made("policy", policy, POLICY_PARTS, POLICY)
    checks.made("opponents", opponents, ("turn", "count"), "opponents, such as evolution.RandomMoves(8)")
    checks.key(key)
    check_sides(sides)
    checks.whole("the number of opponents", opponents.count)
    games = -(-opponents.count // 2) if sides == "alternate" else opponents.count
    form = _in_form(policy, genomes, games)
    turn_last: Any = getattr(policy, "turn_last", None)  # of policies that take such forms
    n = checks.whole("the number of candidates", len(form))
    order = _Order(n, games, last=not in_rows(form))
    # With many games, padding with copies would cost more than transposing them.
    as_they_stand = order.last or (getattr(opponents, "any_order", False) and 4 * len(order.filled) <= 5 * games)
    numbers = checks.integers("numbers", numbers, (n,))
    most_plies = checks.whole_or_traced("most_plies", most_plies)
    named = Details._fields if details is True else tuple(details or ())
    for name in named:
        if name not in Details._fields:
            raise ValueError(f"unknown detail {name!r} of games; available: {', '.join(Details._fields)}")
    bits, count = random_bits(key, (2, opponents.count)), opponents.count
    everyone = np.arange(count, dtype=np.int32)

    def begin(which: np.ndarray, side: int) -> tuple[_GameSet, _Seats]:
        seats = _Seats(jnp.asarray(which), bits[side, which % count])
        playing = jnp.asarray(np.where(which < count, Status.PLAYING, 0).astype(np.float32))
        return _begin(policy.game, order, seats.which, playing, key, named), seats

    def move(games: _GameSet, seats: _Seats, number: Int32[Array, ""], candidates: bool) -> _GameSet:
        """One ply of the candidates, or of the opponents."""
        luck = seats.bits[:, None], numbers[None].astype(jnp.uint32)
        if order.last:
            drawn = fold_in(fold_in(*luck), number + 1)
        else:
            drawn = fold_in(fold_in(*jax.tree.map(jnp.transpose, luck)), number + 1)
            drawn = jnp.pad(drawn, ((0, 0), (0, -order.k % LANES)), mode="edge")
        positions = rows(games.positions, len(drawn))
        if candidates:
            decision = flat((turn_last if order.last else policy.turn)(form, positions, drawn))
        elif as_they_stand:
            decision = flat(opponents.turn(policy.game, seats.which, positions, drawn))
        else:
            waiting = _as_rows(jax.tree.map(order.of_opponents, (games.positions, drawn.ravel())), order.k)
            decision = opponents.turn(policy.game, seats.which, *waiting)
            decision = lax.optimization_barrier(jax.tree.map(order.of_candidates, decision))
        return _after(policy.game, games, decision, drawn.ravel(), number < most_plies, candidates)

    if sides in ("first", "second"):
        begun = begin(everyone, int(sides == "second"))
        return _one_set(move, *begun, most_plies, candidates_begin=sides == "first").results(order)
    if sides == "both":
        sets = begin(everyone, 0), begin(everyone, 1)
    else:  # an odd number of opponents leaves one game over, which is not begun
        sets = begin(everyone[::2], 0), begin(np.append(everyone[1::2], [count] * (count % 2)).astype(np.int32), 1)
    first, second = (games.results(order) for games in _two_sets(move, sets, most_plies))
    if sides == "both":
        return jax.tree.map(lambda x, y: jnp.concatenate([x, y], axis=1), first, second)
    return jax.tree.map(lambda x, y: jnp.stack([x, y], axis=2).reshape(n, -1)[:, :count], first, second)


def _two_sets(move: Callable, sets: Sequence[tuple[_GameSet, _Seats]], most_plies: int | Int32[Array, ""]) -> _Sets:
    """Plays a set that the candidates begin, and one of as many games that the opponents begin.

    The candidates move in one set while the opponents move in the other, then they change sets, so that both are in
    the program once. The ply chooses the sets; they do not swap arrays, as that would copy them.
    """
    begun, seats = zip(*sets, strict=True)

    def ply(carry):
        number, (first, second), _ = carry
        odd, one, two = number % 2 == 1, (first, seats[0]), (second, seats[1])
        ours = move(*select(odd, two, one), number, True)
        theirs = move(*select(odd, one, two), number, False)
        moved = select(odd, (theirs, ours), (ours, theirs))
        left = jnp.any(moved[0].playing | moved[1].playing)
        return *lax.platform_dependent(number, moved, cpu=_stored, default=_as_they_are), left

    def more(carry):
        number, _, left = carry
        return (number < most_plies) & left

    lanes = begun[0].playing.size
    return loops.while_loop(lanes, more, ply, (jnp.int32(0), begun, jnp.bool_(True)))[1]


def _stored(number: Int32[Array, ""], moved: _Sets) -> tuple[Int32[Array, ""], _Sets]:
    """The number of the next ply, and the sets of games at its start.

    If the number is known only after both sets have moved, XLA:CPU writes in place; otherwise it copies all games
    first.
    """
    number = order_after(number + 1, [x[:1] for x in jax.tree.leaves(moved)])
    return number, jax.tree.map(lambda x: materialize(x, number), moved)


def _as_they_are(number: Int32[Array, ""], moved: _Sets) -> tuple[Int32[Array, ""], _Sets]:
    """The same without what only a CPU needs: a GPU would need more kernels."""
    return number + 1, moved


def _one_set(
    move: Callable, games: _GameSet, seats: _Seats, most_plies: int | Int32[Array, ""], candidates_begin: bool
) -> _GameSet:
    """Plays games that the same side begins, two plies in each iteration."""

    def plies(carry):
        number, games = carry
        for candidates in (candidates_begin, not candidates_begin):
            games = move(games, seats, number, candidates)
            number = number + 1
        return number, games

    def more(carry):
        number, games = carry
        return (number < most_plies) & jnp.any(games.playing)

    return loops.while_loop(games.playing.size, more, plies, (jnp.int32(0), games))[1]


def _in_form(policy: Policy, genomes: Any, games: int) -> Any:
    """The candidates in the form in which they play so many games in each of the sets.

    Rows are fastest where a small network plays many games, columns where it plays few.
    """
    inner: Any = getattr(policy, "genomes", None)
    takes_forms = hasattr(policy, "turn_last")
    small, few = isinstance(inner, Genomes) and fit_columns(inner), games < LANES
    if isinstance(genomes, LowRank):
        checks.array("genomes", genomes.shared, jnp.floating, (policy.dimension,))
        if takes_forms and (few or not small):
            return genomes
        genomes = genomes.rows()
    checks.array("genomes", genomes, jnp.floating, (None, policy.dimension))
    if not takes_forms or not isinstance(inner, Genomes):
        return genomes
    return Columns(genomes.T, inner) if small and few else inner.apart(genomes)


def _begin(
    game: Game,
    order: _Order,
    which: Int32[Array, " k"],
    playing: Float32[Array, " k"],
    key: Key[Array, ""],
    details: Collection[str],
) -> _GameSet:
    """New games; all candidates meet the same openings."""
    openings = jax.vmap(lambda opponent: game.init_position(jax.random.fold_in(key, opponent)))(which)

    def of_all(x: Array) -> Array:
        rest = (1,) * (x.ndim - 1)
        return jnp.repeat(x, order.n, axis=0) if order.last else jnp.tile(x[order.filled], (order.n, *rest))

    positions, points = jax.tree.map(of_all, (openings, playing))
    counted = {"plies", "moves", "captures"}
    zeros = {name: jnp.zeros(len(points), jnp.int32 if name in counted else jnp.float32) for name in details}
    turns = None if game.step_limit is None else jnp.zeros(len(points), jnp.int32)
    return _GameSet(positions, points, Details(**zeros) if details else None, turns)


def _after(
    game: Game,
    games: _GameSet,
    decision: Decision,
    bits: UInt32[Array, " games"],
    on: Bool[Array, ""],
    candidates: bool,
) -> _GameSet:
    """The games after the turns of one side, for games that go `on`."""
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
    details, turns = games.details, games.turns
    if turns is not None and game.step_limit is not None:
        turns += moved.astype(jnp.int32)
        cut = (turns >= game.step_limit) & games._replace(points=points).playing
        points = jnp.where(cut, 0.0, points)
    if details is not None:
        details = _details_after(game, games, position, turn_passes, moved, moved & legal, candidates)
    played = select(moved & legal, position, games.positions)
    return games._replace(
        positions=jax.tree.map(lambda x: materialize(x, opaque), played),
        points=materialize(points, opaque),
        details=details,
        turns=turns,
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
    """The details after the turns of one side: `moved` says in which games, `played` where the turn was legal."""
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


def _of_all(turn: Callable, positions: Positions, bits: UInt32[Array, "m games"]) -> Decision:
    """Legal turns of a player that plays in flat batches."""
    outcome = turn(flat(positions), bits.ravel())
    return Decision(rows(outcome, len(bits)), jnp.ones(bits.shape, bool))
