"""Players of any game: random, the best turn by a value of positions, the same with look-ahead, and by networks.

And players made from another one: weak players make random turns now and then; exact players take the best turn if the
position is known exactly, otherwise the other player's.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, UInt32
from typing_extensions import override

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.expectimax import Expectimax
from jaxgames.algos.imitation.config import ImitationNetwork
from jaxgames.algos.self_play_backprop import Params, SelfPlayBackprop, SelfPlaySettings
from jaxgames.envs.core import Game, Outcome, State, Value
from jaxgames.envs.registry import make
from jaxgames.envs.turns.best import turn_worth
from jaxgames.ops import checks
from jaxgames.ops.pytrees import BoundMethod, add_batch_axis, by_its_object, in_chunks, select, take
from jaxgames.ops.random_bits import fold_in
from jaxgames.players.host import forfeits_of
from jaxgames.players.player import NetworkPolicy, Player, TurnPolicy
from jaxgames.tables.lookup import LOOKUPS, Knowledge, KnownTurns, covered, known_turns, lookup_of, whole_lookup

ROWS = 9
"""The least number of positions that a player evaluates together. For fewer, backgammon has further programs, made for
learners that play one game; compiling those too would double the wait of a player of one game.
"""


@dataclasses.dataclass(frozen=True)
class RandomTurn(TurnPolicy):
    """A turn drawn uniformly from those that lead to different positions. No parameters."""

    game: Game

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        del params
        return self.game.random_turn(positions, bits)


@dataclasses.dataclass(frozen=True)
class GreedyTurn(TurnPolicy):
    """The best turn by the values `make_value(params)`."""

    game: Game
    make_value: Callable[[Any], Value]
    plies = 1

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        del bits
        return _with_rows(self.game.best_turn, positions, self.make_value(params))

    def values(self, params: Any, positions: Any, bits: UInt32[Array, " n"]) -> Float32[Array, " n"]:
        """The values by which it chooses."""
        del bits
        return self.make_value(params)(positions)


@dataclasses.dataclass(frozen=True)
class ExpectimaxTurn(TurnPolicy):
    """The best turn by a look-ahead of some plies, whose leaves are worth `make_value(params)`."""

    search: Expectimax
    make_value: Callable[[Any], Value]

    @property
    def plies(self) -> int:
        """How far it looks."""
        return self.search.plies

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        del bits
        return _with_rows(self.search.best_turn, positions, self.make_value(params))

    def values(self, params: Any, positions: Any, bits: UInt32[Array, " n"]) -> Float32[Array, " n"]:
        """What positions are worth, by a look-ahead of the plies that remain after a turn."""
        del bits
        before = dataclasses.replace(self.search, plies=self.search.plies - 1)
        return before.expected(positions, self.make_value(params))


@dataclasses.dataclass(frozen=True)
class PolicyTurn(TurnPolicy):
    """The legal turn that an evolved network rates highest; the parameters are its genome, one row of numbers."""

    network: NetworkConfig

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        rows = jax.tree.map(lambda x: x[None], (params, positions, bits))
        return jax.tree.map(lambda x: x[0], self.network.policy().turn(*rows).outcome)


@dataclasses.dataclass(frozen=True)
class SelfPlayTurn(TurnPolicy):
    """Plays to the position that one network values most; it also values ended games. Parameters: weights, settings."""

    learner: SelfPlayBackprop

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        del bits
        action = jnp.argmax(self.action_values(params, positions), axis=1).astype(jnp.int32)
        return jax.vmap(self.learner.game.play)(positions, action)

    def action_values(self, params: Any, positions: Any) -> Float32[Array, "batch actions"]:
        """What the position after each action is worth to the player who takes it, minus infinity if it is illegal."""
        game, (weights, settings) = self.learner.game, params
        squares = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        own, other = (jnp.sum(squares[..., plane], axis=(1, 2), dtype=jnp.int32) for plane in (0, 1))
        player = other - own  # the second player is one square behind when it is to act
        return self.learner.action_values(weights, settings, positions, player)


@dataclasses.dataclass(frozen=True)
class LogitsTurn(TurnPolicy):
    """The legal action that a network's policy rates highest; the parameters are its weights."""

    game: Game
    policy: NetworkPolicy

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        del bits
        logits, _ = self._outputs(params, positions)
        legal = jax.vmap(self.game.legal)(positions)
        lowest = jnp.finfo(logits.dtype).min
        logits = jnp.where(logits > lowest, logits, lowest)  # minus infinity and NaN are still better than illegal
        actions = jnp.argmax(jnp.where(legal, logits, -jnp.inf), axis=1).astype(jnp.int32)
        return jax.vmap(self.game.play)(positions, actions)

    @property
    def make_value(self) -> Callable[[Any], Value]:
        """The values of the network without its policy, for searches that need no policy."""
        return BoundMethod(self, LogitsTurn._make_value)

    def _make_value(self, params: Any) -> Value:
        return lambda positions: self._outputs(params, positions)[1]

    def _outputs(self, params: Any, positions: Any) -> tuple[Array, Array]:
        """Logits and values, checked."""
        seen = jax.vmap(lambda position: self.game.observe_position(position, jnp.bool_(True)))(positions)
        outputs = self.policy.apply(params, seen)
        return checks.policy_and_value(outputs, len(seen), self.game.num_actions, self.game.id)


def _with_rows(best_turn: Callable[..., tuple[Outcome, Array]], positions: Any, value: Value) -> Outcome:
    """The best turns of positions; smaller batches are filled up to `ROWS` with positions with hardly any turns."""
    number = len(jax.tree.leaves(positions)[0])
    missing = max(0, ROWS - number)
    filled = jax.tree.map(lambda x: jnp.pad(x, [(0, missing)] + [(0, 0)] * (x.ndim - 1)), positions)
    return jax.tree.map(lambda x: x[:number], best_turn(filled, value)[0])


def random(game: Game) -> Player:
    """The player that takes any turn with the same probability."""
    return Player("random", game, RandomTurn(game))


def greedy(game: Game, name: str, params: Any, make_value: Callable[[Any], Value]) -> Player:
    """The player that takes the turn to the best position, where positions are worth `make_value(params)`.

    `make_value` is a hashable function, such as a method of a frozen dataclass. Players with equal `make_value` and
    shapes of `params` share compiled programs. Raises `TypeError` for anything but a function.
    """
    checks.function("make_value", make_value, "(params) -> value, and value(positions) -> float32[n]")
    return Player(name, game, GreedyTurn(game, by_its_object(make_value)), params)


def by_policy(
    name: str, game: Game, apply: Callable[[Any, Array], tuple[Array, Array]], params: Any, discount: float = 1.0
) -> Player:
    """The player that takes the action a network's policy rates highest, without search.

    `apply(params, observation)` gives logits [B, actions] and values [B], as for `mcts.network`; `discount` is that of
    the values. The player of `game` is called `name`; `params` are the network's weights. Raises `TypeError` for
    anything but a function and `ValueError` for a discount that is not above 0 and at most 1; a network with other
    outputs is refused at its first call.
    """
    checks.function("apply", apply, "(params, observation) -> (logits, value)")
    return Player(name, game, LogitsTurn(game, NetworkPolicy(by_its_object(apply), checks.discount(discount))), params)


def look_ahead(player: Player, name: str, plies: int, keep: int | None = None, within: float | None = None) -> Player:
    """The player that values positions as `player` does, and looks `plies` plies ahead (see `Expectimax`).

    For one ply only the name of a player is new. Raises `ValueError` if the player does not choose by the values of
    positions, and for numbers out of range.
    """
    if plies == 1 and (keep is not None or within is not None):
        raise ValueError(f"{name}: keep and within leave turns out at 2 plies or more; leave them out")
    if player.policy is not None and plies == 1:
        return dataclasses.replace(player, name=name)
    if player.value is None or player.plies != 1:
        raise ValueError(f"{player.name} does not value positions, so it cannot look {plies} plies ahead")
    search = Expectimax(player.game, plies, keep, within)
    if plies == 1:
        return dataclasses.replace(player, name=name)
    return dataclasses.replace(player, name=name, turn=ExpectimaxTurn(search, player.value))


def imitating(name: str, params: Any, network: ImitationNetwork) -> Player:
    """A network that has learned from examples: it plays by its outputs, by its policy, or by its values."""
    network = network.for_play
    if network.config.head:
        return evolved(name, network.evolved.genomes().genome(params), network.evolved)
    if network.config.plays == "value":
        return greedy(network.game, name, params, network.make_value)
    return by_policy(name, network.game, network.apply, params)


def evolved(name: str, genome: Float32[Array, " dimension"], network: NetworkConfig) -> Player:
    """An evolved network as a player. It plays legal actions only, even if illegal ones were allowed in evolution."""
    game = make(network.game)
    if network.plays != "outputs":
        return greedy(game, name, genome, network.value)
    return Player(name, game, PolicyTurn(dataclasses.replace(network, strict=False)), genome)


def self_play(name: str, params: Params, settings: SelfPlaySettings, learner: SelfPlayBackprop) -> Player:
    """The player of one network's weights; the learner is one of a single member."""
    return Player(name, learner.game, SelfPlayTurn(learner), (params, settings))


@dataclasses.dataclass(frozen=True)
class _WrappedTurn(TurnPolicy):
    """A turn policy made from that of another player."""

    game: Game
    turn: TurnPolicy

    @property
    def on_host(self) -> bool:
        """Whether the other player runs as plain Python."""
        return getattr(self.turn, "on_host", False)

    @property
    def weak(self) -> int:
        """How many weak players it is made of, itself among them: each draws by random words of its own."""
        return isinstance(self, WeakTurn) + getattr(self.turn, "weak", 0)

    def _asks(self, bits: UInt32[Array, " batch"]) -> bool:
        """Whether to ask plain Python: then what the game does is in compiled programs of `ROWS` positions each."""
        return self.on_host and not isinstance(bits, jax.core.Tracer)  # in a program the other player is refused

    def _asked(self, params: Any, positions: Any, bits: Any, where: Any, other: Outcome) -> Outcome:
        """`other`, but `where` the turns of a player in plain Python: one that is not used must not cost it a game."""
        rows, outcome = np.flatnonzero(where), jax.tree.map(np.array, other)
        if len(rows):
            chosen = self.turn(params, take(positions, rows), bits[rows])
            jax.tree.map(lambda x, new: x.__setitem__(rows, np.asarray(new)), outcome, chosen)
        return outcome


@dataclasses.dataclass(frozen=True)
class WeakTurn(_WrappedTurn):
    """The turn of another player or, with a probability, one drawn uniformly from all.

    The parameters are the probability as a number out of 2^24, and those of the other player.
    """

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        threshold, inner = params
        first = 2 * self.weak - 1
        if self._asks(bits):
            positions, bits = jax.device_get((positions, bits))
            draws = partial(_compiled_draws, self.game, first, threshold)
            errs, drawn = in_chunks(lambda each: draws(*each), (positions, bits), ROWS)
            return self._asked(inner, positions, bits, ~errs, drawn)
        errs, drawn = _draws(self.game, first, threshold, positions, bits)
        return select(errs, drawn, self.turn(inner, positions, bits))


def _draws(
    game: Game, first: int, threshold: Any, positions: Any, bits: UInt32[Array, " batch"]
) -> tuple[Bool[Array, " batch"], Outcome]:
    """Where a weak player errs, and a turn at random, by the random words `first` and the next one."""
    errs = (fold_in(bits, jnp.uint32(first)) >> 8) < threshold
    return errs, game.random_turn(positions, fold_in(bits, jnp.uint32(first + 1)))


_compiled_draws = jax.jit(_draws, static_argnums=(0, 1))


def weak(player: Player, name: str, probability: float) -> Player:
    """The player that takes a random turn with a probability, and else that of `player`.

    Keller, "Entwicklung einer Künstlichen Intelligenz für Tic-Tac-Toe" (2018), section 3.2, proposes it: a player who
    never errs is soon no fun to play against. Raises `ValueError` for a player that remembers something over a game.
    """
    if player.learns:
        raise ValueError(f"{name}: {player.name} learns over a game, and would miss random turns; leave out keep=1")
    params = (np.uint32(round(probability * 2**24)), player.params)
    return Player(name, player.game, WeakTurn(player.game, player.turn), params)


def is_weak(player: Player) -> bool:
    """Whether a player now and then makes a random turn: it or one from which it is made is weak."""
    turn, params = player.turn, player.params
    while isinstance(turn, _WrappedTurn):
        known, inner = params
        if isinstance(turn, WeakTurn) and known > 0:
            return True
        turn, params = turn.turn, inner
    return False


def sighted(player: Player) -> Player:
    """The player itself, or the one from which a weak player is made."""
    while isinstance(player.turn, WeakTurn):
        player = Player(player.name, player.game, player.turn.turn, player.params[1])
    return player


@dataclasses.dataclass(frozen=True)
class ExactTurn(_WrappedTurn):
    """The turn of another player, unless a table knows better: it wins as fast and loses as slowly as possible.

    If the other player's turn keeps a draw, it is taken. The parameters are the table's and the other player's.
    """

    lookup: Knowledge

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        scores, inner = params
        if self._asks(bits):
            return self._on_host(scores, inner, *jax.device_get((positions, bits)))

        def worth(after):
            return self.lookup.worth(scores, after)

        chosen = self.turn(inner, positions, bits)
        best, most = self.game.best_turn(positions, worth)
        holds = (most == 0) & (turn_worth(chosen, worth) == 0)
        return select(self.lookup.covers(positions) & ~holds, best, chosen)

    def _on_host(self, scores: Any, params: Any, positions: Any, bits: Any) -> Outcome:
        """The same, where a player in plain Python is asked only for turns that may be taken."""
        known = in_chunks(lambda each: _known_turns(self.game, self.lookup, scores, each), positions, ROWS)
        chosen = self._asked(params, positions, bits, ~known.covered, known.best)
        reasons = forfeits_of(self.turn)
        number = len(reasons)
        chosen = self._asked(params, positions, bits, known.covered & (known.worth == 0), chosen)
        del reasons[number:]  # who fails where the best turn is known plays that one
        return in_chunks(lambda each: _kept(self.lookup, scores, *each), (known, chosen), ROWS)


_known_turns = jax.jit(known_turns, static_argnums=(0, 1))


@partial(jax.jit, static_argnums=0)
def _kept(lookup: Knowledge, scores: Any, known: KnownTurns, chosen: Outcome) -> Outcome:
    """The chosen turns where they keep a draw or nothing is known, else the best ones."""
    holds = (known.worth == 0) & (turn_worth(chosen, lambda after: lookup.worth(scores, after)) == 0)
    return select(known.covered & ~holds, known.best, chosen)


def exact(player: Player, name: str) -> Player:
    """The player, but exact in all positions that are known of its game: see `lookup_of`.

    Raises `ValueError` for a player that remembers something over a game.
    """
    if player.learns:
        raise ValueError(f"{name}: {player.name} learns over a game, and would miss exact turns; leave out keep=1")
    lookup, load = lookup_of(player.game)
    return Player(name, player.game, ExactTurn(player.game, player.turn, lookup), (load(), player.params))


def perfect(game: Game) -> Player:
    """The player that knows all of a small game; it wins in as few turns as possible, and keeps draws by any such turn.

    Raises `ValueError` for a game that is not completely known.
    """
    lookup, load = whole_lookup(game)
    drawing = random(game)
    return Player("perfect", game, ExactTurn(game, drawing.turn, lookup), (load(), drawing.params))


def advisor(player: Player, state: State) -> Player:
    """The player to ask in a state: an exact one if the position is known, otherwise the player itself."""
    if state._game.id not in LOOKUPS or isinstance(player.turn, ExactTurn) or player.learns:
        return player
    known = covered(lookup_of(state._game)[0], add_batch_axis(state._position))
    return exact(player, f"exact:{player.name}") if bool(known[0]) else player
