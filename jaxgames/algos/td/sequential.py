"""The learners of the comparison by Ebert (2007): one game after the other, plain steps, nothing in batches.

L. D. Ebert, *Sammenligning af tre typer neurale netværks indlæringsmetoder* (Aarhus, 2007), sections 2.2 and 2.3. Both
learn the positions that the turns lead to, including the last one of the game. An update is a number of whole games;
between updates no game is in progress.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32
from typing_extensions import override

from jaxgames.algos.td.config import SquaredErrorConfig
from jaxgames.algos.td.learner import Learner, Metrics
from jaxgames.algos.td.td_lambda import OuterProduct, Traces
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied, select
from jaxgames.ops.random_bits import fold_in, random_bits
from jaxgames.ops.settings import setting

MOST_PLIES = 4_096
"""`SequentialBackprop` learns nothing from longer games: it has room for so many positions."""


@dataclasses.dataclass(frozen=True)
class SequentialConfig(SquaredErrorConfig):
    """Settings of `SequentialTD` and `SequentialBackprop`."""

    method: str = setting(
        "sequential_td", "one game after another, a step for each position",
        choices=("sequential_td", "sequential_backprop"),
    )  # fmt: skip
    lambda_: float = setting(0.6, "lambda of TD(lambda)", low=0, high=1, when={"method": "sequential_td"})
    games: int = setting(1_000, "games of one update", low=1, high=2**20)
    schedule: str = setting(
        "constant",
        "how the step size changes; tested: from 0.25 down to 0.001, each time the player stops getting better",
        choices=("constant", "tested"),
    )  # fmt: skip

    @override
    def plies_per_update(self, plies_per_game: int) -> int:
        return self.games * plies_per_game


class SequentialState(NamedTuple):
    """The state of both: no game is in progress between two updates."""

    params: Any  # the network's weights
    step_size: Float32[Array, ""]
    updates: Int32[Array, ""]  # the number of updates so far


class _OneGame(NamedTuple):
    """The present game: its position with the dice rolled, whose turn it is, and the number of its plies."""

    position: Any
    player: Int32[Array, " one"]
    plies: Int32[Array, ""]


class _Turn(NamedTuple):
    """What a turn led to: the position before chance, who acts in it, whether the game is over, its result for the
    first player, and the game after chance.
    """

    position: Any
    player: Int32[Array, " one"]
    over: Bool[Array, ""]
    result: Float32[Array, ""]
    game: _OneGame


@dataclasses.dataclass(frozen=True)
class Sequential(Learner):
    """The base of both: random games, one after the other."""

    config: SequentialConfig

    def __post_init__(self) -> None:
        if self.axis is not None:
            raise ValueError(f"axis={self.axis!r}: games one after the other are not split over devices; leave it out")

    @override
    def init(self, key: Key[Array, ""], params: Any = None) -> SequentialState:
        checks.key(key)
        params = self.network.init(key) if params is None else copied(params)
        return SequentialState(params, jnp.float32(self.config.step_size), jnp.int32(0))

    @override
    def with_step_size(self, state: SequentialState, step_size: float) -> SequentialState:
        return state._replace(step_size=jnp.full_like(state.step_size, step_size))

    @override
    def step_size(self, state: SequentialState) -> float:
        return float(state.step_size)

    @override
    def update(self, state: SequentialState, key: Key[Array, ""]) -> tuple[SequentialState, Metrics]:
        games_key, bits_key = jax.random.split(key)
        bits = random_bits(bits_key, (1,))
        openings = jax.vmap(self.network.game.init_position)(jax.random.split(games_key, self.config.games))
        params, so_far = self._games(state.params, state.step_size, openings, bits)
        return state._replace(params=params, updates=state.updates + 1), so_far

    def _games(
        self, params: Any, step_size: Float32[Array, ""], openings: Any, bits: UInt32[Array, " one"]
    ) -> tuple[Any, Metrics]:
        raise NotImplementedError

    def _begin(self, openings: Any, bits: UInt32[Array, " one"], number: Int32[Array, ""]) -> _OneGame:
        """Game `number`, begun by a randomly drawn player."""
        position = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, number, 1), openings)
        player = (fold_in(fold_in(bits, number), 0) >> 31).astype(jnp.int32)
        return _OneGame(position, player, jnp.int32(0))

    def _turn(self, params: Any, game: _OneGame, bits: UInt32[Array, " one"], number: Int32[Array, ""]) -> _Turn:
        """The best turn by the weights, and the chance after it; each ply has its own bits."""
        rules, mover = self.network.game, game.player
        outcome, _ = rules.best_turn(game.position, self.network.value(params, self.player_after(mover)))
        player = jnp.where(outcome.turn_passes, 1 - mover, mover)
        position, plies = outcome.position, game.plies + 1
        if rules.outcome_probabilities:
            drawn = rules.draw_outcome(fold_in(fold_in(bits, number), plies))
            position = jax.vmap(rules.chance)(position, drawn)
        result = jnp.where(mover[0] == 0, outcome.reward[0], -outcome.reward[0])
        return _Turn(outcome.position, player, outcome.over[0], result, _OneGame(position, player, plies))


class _Learning(NamedTuple):
    """`SequentialTD` between two plies: weights, traces, and the prediction for the last position, if any."""

    params: Any
    traces: Traces
    expected: Float32[Array, " outcomes"]
    observed: Bool[Array, ""]
    game: _OneGame
    so_far: Metrics


@dataclasses.dataclass(frozen=True)
class SequentialTD(Sequential):
    """TD(lambda) with eligibility traces and a step after every ply; at the end of a game another one to its result."""

    @override
    def _games(self, params, step_size, openings, bits):
        network, games = self.network, self.config.games
        outputs = len(network.outcomes)

        def stepped(params, traces, errors):
            # Sums over the outcomes are written out: XLA makes one loop of them and the addition.
            def moved(param, trace):
                return param + step_size * sum(errors[k] * trace[k] for k in range(outputs))

            return jax.tree.map(moved, params, traces)

        def ply(learning):
            number = learning.so_far.games
            turn = self._turn(learning.params, learning.game, bits, number)
            following = network.predict(learning.params, turn.position, turn.player)[0]
            errors = jnp.where(learning.observed, following - learning.expected, 0.0)
            params = stepped(learning.params, learning.traces, errors)
            expected = network.predict(params, turn.position, turn.player)[0]
            gradients = network.gradients(params, turn.position, turn.player)
            traces = _accumulate(learning.traces, gradients, self.config.lambda_)
            last_errors = jnp.where(turn.over, network.outcomes.target(turn.result) - expected, 0.0)

            def end(params, traces):
                return stepped(params, traces, last_errors), jax.tree.map(jnp.zeros_like, traces)

            params, traces = lax.cond(turn.over, end, lambda *same: same, params, traces)
            next_game = self._begin(openings, bits, jnp.minimum(number + 1, games - 1))
            so_far = _after_turn(learning.so_far, turn)._replace(
                squared_error=learning.so_far.squared_error + jnp.sum(errors**2) + jnp.sum(last_errors**2),
                positions=learning.so_far.positions + 1,
            )
            return _Learning(params, traces, expected, ~turn.over, select(turn.over, next_game, turn.game), so_far)

        traces = jax.tree.map(lambda p: jnp.zeros((outputs, *p.shape), p.dtype), params)
        start = _Learning(
            params, traces, jnp.zeros(outputs, jnp.float32), jnp.bool_(False),
            self._begin(openings, bits, jnp.int32(0)), _nothing(),
        )  # fmt: skip
        learned = lax.while_loop(lambda learning: learning.so_far.games < games, ply, start)
        return learned.params, learned.so_far


class _Episode(NamedTuple):
    """A game in progress, and the positions that its turns led to."""

    game: _OneGame
    positions: Any
    players: Int32[Array, " plies"]
    over: Bool[Array, ""]
    result: Float32[Array, ""]


@dataclasses.dataclass(frozen=True)
class SequentialBackprop(Sequential):
    """Backprop to the result: when a game is over, a step for each of its positions, from the first to the last."""

    @override
    def _games(self, params, step_size, openings, bits):
        network, games = self.network, self.config.games
        first = self._begin(openings, bits, jnp.int32(0))
        blank = jax.tree.map(lambda x: jnp.zeros((MOST_PLIES, *x.shape[1:]), x.dtype), first.position)

        def ply(params, number, episode):
            turn = self._turn(params, episode.game, bits, number)
            place = jnp.minimum(episode.game.plies, MOST_PLIES - 1)

            def put(all_, one):
                return lax.dynamic_update_slice_in_dim(all_, one, place, 0)

            positions = jax.tree.map(put, episode.positions, turn.position)
            return _Episode(turn.game, positions, put(episode.players, turn.player), turn.over, turn.result)

        def learn(params, episode, target):
            def position(number, learned):
                params, squared_error = learned
                one = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, number, 1), episode.positions)
                player = lax.dynamic_slice_in_dim(episode.players, number, 1)

                def half_squared_error(params):
                    return 0.5 * jnp.sum((target - network.predict(params, one, player)[0]) ** 2)

                error, gradients = jax.value_and_grad(half_squared_error)(params)
                params = jax.tree.map(lambda param, gradient: param - step_size * gradient, params, gradients)
                return params, squared_error + 2 * error

            length = jnp.where(episode.game.plies <= MOST_PLIES, episode.game.plies, 0)
            return *lax.fori_loop(0, length, position, (params, jnp.float32(0))), length

        def play_and_learn(carry):
            params, (positions, players), so_far = carry
            number = so_far.games
            game = self._begin(openings, bits, number)
            episode = _Episode(game, positions, players, jnp.bool_(False), jnp.float32(0))
            episode = lax.while_loop(lambda e: ~e.over, lambda e: ply(params, number, e), episode)
            params, squared_error, length = learn(params, episode, network.outcomes.target(episode.result))
            so_far = Metrics(
                squared_error=so_far.squared_error + squared_error,
                positions=so_far.positions + length,
                plies=so_far.plies + episode.game.plies,
                games=number + 1,
                points=so_far.points + jnp.abs(episode.result),
                truncated=so_far.truncated + (length == 0).astype(jnp.int32),
            )
            return params, (episode.positions, episode.players), so_far

        start = params, (blank, jnp.zeros(MOST_PLIES, jnp.int32)), _nothing()
        params, _, so_far = lax.while_loop(lambda carry: carry[2].games < games, play_and_learn, start)
        return params, so_far


def _accumulate(traces: Traces, gradients: Traces, lambda_: float) -> Traces:
    """Traces after the gradients of one position, which have an axis of one position in front."""

    def added(trace, gradient):
        if isinstance(gradient, OuterProduct):
            return trace * lambda_ + gradient.inputs[0][None, :, None] * gradient.errors[0][:, None, :]
        return trace * lambda_ + gradient[0]

    return jax.tree.map(added, traces, gradients, is_leaf=lambda x: isinstance(x, OuterProduct))


def _after_turn(so_far: Metrics, turn: _Turn) -> Metrics:
    return so_far._replace(
        plies=so_far.plies + 1,
        games=so_far.games + turn.over.astype(jnp.int32),
        points=so_far.points + jnp.where(turn.over, jnp.abs(turn.result), 0.0),
    )


def _nothing() -> Metrics:
    zero, none = jnp.float32(0), jnp.int32(0)
    return Metrics(zero, none, none, none, zero, none)
