"""TD self-play in three ways: `NStepTD`, `ExactTD` and `MonteCarlo`, each with its settings and its state.

A learner is two pure functions, `init(key) -> state` and `update(state, key) -> (state, metrics)`. A state holds the
whole training: a checkpoint of it continues with the same bits. All predictions are for the first player, so that
the value of a position is the target of the one before, whoever moves.
"""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec
from jaxtyping import Array, Bool, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.td.config import LAYERS, POINTS, SEVERAL_PLIES, BatchConfig, SquaredErrorConfig, TDConfig
from jaxgames.algos.td.self_play import Games, Ply, init_games, play_ply
from jaxgames.algos.td.td_lambda import EligibilityTraces, eligibility_traces, lambda_returns
from jaxgames.algos.td.value import ValueNetwork
from jaxgames.nets import MLP_ONLY, NetworkSpec
from jaxgames.ops import checks, packing
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import group, setting

BLOCK = 16
"""Plies of whole games that `MonteCarlo` learns from at once."""


class Metrics(NamedTuple):
    """Sums over one update, over all devices."""

    squared_error: Float32[Array, ""]  # of all learned positions and outcomes
    positions: Int32[Array, ""]  # how many were learned
    plies: Int32[Array, ""]  # how many were played
    games: Int32[Array, ""]  # how many ended
    points: Float32[Array, ""]  # won in them, by either player
    truncated: Int32[Array, ""]  # games of more than `plies` plies, from which `MonteCarlo` learns nothing


@dataclasses.dataclass(frozen=True)
class Learner:
    """The base of all methods: how a training begins, and sums over devices."""

    config: TDConfig
    axis: str | None = None
    """The mapped axis over which the games are split (`algos.parallel`): gradients and metrics are summed over it."""
    per_game: ClassVar[tuple[str, ...]] = ()
    """Fields of the state that hold something for each game or position: each device has its share of them."""

    @property
    def network(self) -> ValueNetwork:
        """The value network."""
        return self.config.network()

    def init(self, key: Key[Array, ""], params: Any = None) -> Any:
        """The state before the first update, with random weights or with `params`."""
        checks.key(key)
        weights_key, games_key = jax.random.split(key)
        return self.begin(self.init_params(weights_key) if params is None else copied(params), games_key)

    def init_params(self, key: Key[Array, ""]) -> Any:
        """The first weights of the player."""
        return self.network.init(key)

    def begin(self, params: Any, key: Key[Array, ""]) -> Any:
        """The state before the first update, with these weights and new games."""
        raise NotImplementedError

    def place(self, state: Any) -> Any:
        """The state, placed for this learner: on one device unchanged. (`algos.parallel` splits its games.)"""
        return state

    def update(self, state: Any, key: Key[Array, ""]) -> tuple[Any, Metrics]:
        """Plays and learns once. Outside of `jit`, it is compiled anew in each call."""
        raise NotImplementedError

    def _share(self, number: int, axis: str) -> "Learner":
        """The learner with one of `number` equal shares of the games."""
        share = self.config.replace(batch=self.config.games_at_once // number)
        return dataclasses.replace(self, config=share, axis=axis)

    def _specs(self, state: Any, axis: str) -> Any:
        """For each array, whether it is split over the devices or, like single numbers, the same on all of them."""

        def spec(name: str, part: Any) -> Any:
            split = name in self.per_game
            return jax.tree.map(lambda x: PartitionSpec(axis) if split and x.ndim else PartitionSpec(), part)

        return type(state)(*(spec(name, part) for name, part in zip(state._fields, state, strict=True)))

    def psum(self, sums: Any) -> Any:
        """Sums over the games of all devices."""
        return sums if self.axis is None else jax.lax.psum(sums, self.axis)

    @property
    def devices(self) -> int:
        """Over how many devices the games are split."""
        return 1 if self.axis is None else jax.lax.psum(1, self.axis)

    def player_after(self, player: Int32[Array, " batch"]) -> Int32[Array, ""]:
        """Who acts after the ply of `player`, to value the positions that the ply may lead to.

        One player for all games: without symmetry they must be in step, as games with alternating turns are.
        """
        return 1 - player[0]

    def with_step_size(self, state: Any, step_size: float) -> Any:
        """The state with a step size of the schedule `tested`.

        Gradients are sums over the games played at once; the factor turns them into means, so that a step size has
        the same meaning as for a single game.
        """
        return state._replace(factor=jnp.full_like(state.factor, step_size / self.config.games_at_once))

    def step_size(self, state: Any) -> float:
        """The step size that `with_step_size` set."""
        return float(state.factor) * self.config.games_at_once


@dataclasses.dataclass(frozen=True)
class BatchLearner(Learner):
    """The base of methods that make steps with an optimizer."""

    config: BatchConfig

    def step(self, params: Any, optimizer: Any, gradients: Any, factor: Float32[Array, ""]) -> tuple[Any, Any]:
        """Weights and optimizer state after one step along minus `gradients`, the sum over all games."""
        with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
            updates, optimizer = self.config.optimizer_for().update(self.psum(gradients), optimizer, params)
        updates = jax.tree.map(lambda u: u * factor, updates)  # not the gradients, as Adam normalises their size
        return optax.apply_updates(params, updates), optimizer


@dataclasses.dataclass(frozen=True)
class NStepConfig(BatchConfig, SquaredErrorConfig):
    """Settings of `NStepTD`."""

    method: str = setting("n_step", "lambda-returns; the weights stay the same for some plies", choices=("n_step",))
    lambda_: float = setting(0.6, "lambda of TD(lambda)", low=0, high=1, when=SEVERAL_PLIES)
    net: NetworkSpec = group(LAYERS, MLP_ONLY | {"output": ("sigmoid", "softmax")})
    cumulative: bool = setting(
        False, "whether each output also counts results of more points", when=POINTS | {"output": "sigmoid"}
    )
    by_class: bool = setting(False, "whether each class of positions that the encoding tells apart has its own network")

    @override
    def network(self) -> ValueNetwork:
        return self._network(self.cumulative, self.symmetric, self.by_class)


class NStepState(NamedTuple):
    """The state of `NStepTD`."""

    params: Any  # the network's weights
    optimizer: Any  # the state of the optax optimizer
    games: Games  # the games in progress
    last: Ply  # what the latest ply led to; its position awaits chance
    factor: Float32[Array, ""]  # multiplies each step; the schedule `tested` changes it
    updates: Int32[Array, ""]  # the number of updates so far


@dataclasses.dataclass(frozen=True)
class NStepTD(BatchLearner):
    """Fast TD(lambda): the weights stay for `plies` plies, then make one step towards the lambda-returns.

    Returns are truncated at the end of these plies, by the value there. With one ply this is exact TD(0).
    """

    config: NStepConfig
    per_game: ClassVar[tuple[str, ...]] = ("games", "last")

    @override
    def begin(self, params: Any, key: Key[Array, ""]) -> NStepState:
        games = init_games(self.network.game, key, self.config.batch)
        optimizer = self.config.optimizer_for().init(params)
        return NStepState(params, optimizer, games, nothing_played(games), jnp.float32(1.0), jnp.int32(0))

    @override
    def update(self, state: NStepState, key: Key[Array, ""]) -> tuple[NStepState, Metrics]:
        """Plays `plies` plies of each game, then makes one step on the loss of all positions.

        It is half the sum of squared errors, or the cross-entropy if the output is `softmax`. Outside of `jit`, the
        plies are compiled anew in each call.
        """
        network = self.network

        def ply(games, key):
            value = network.value(state.params, self.player_after(games.player))
            games, ply, explored = play_ply(network.game, games, value, key, self.config.epsilon)
            return games, (ply, explored)

        games, (plies, explored) = packing.scan(ply, state.games, jax.random.split(key, self.config.plies))
        seen = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), state.last, plies)
        learned = ~seen.over[:-1] if explored is None else ~(seen.over[:-1] | explored)
        results = network.outcomes.target(plies.result)

        def loss(params):
            flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (seen.positions, seen.player))
            values = network.predict(params, *flat).reshape(*seen.over.shape, -1)
            targets = lambda_returns(jax.lax.stop_gradient(values), results, plies.over, self.config.lambda_, explored)
            errors = jnp.where(learned[..., None], targets - values[:-1], 0.0)
            if self.config.net.output == "softmax":
                return jnp.sum(jnp.where(learned, cross_entropy(targets, values[:-1]), 0.0)), errors
            return 0.5 * jnp.sum(errors**2), errors

        gradients, errors = jax.grad(loss, has_aux=True)(state.params)
        params, optimizer = self.step(state.params, state.optimizer, gradients, state.factor)
        metrics = self.psum(play_metrics(errors, learned, plies))
        last = jax.tree.map(lambda x: x[-1], plies)
        return state._replace(
            params=params, optimizer=optimizer, games=games, last=last, updates=state.updates + 1
        ), metrics


@dataclasses.dataclass(frozen=True)
class ExactConfig(BatchConfig, SquaredErrorConfig):
    """Settings of `ExactTD`."""

    method: str = setting("exact", "eligibility traces, a step after each ply", choices=("exact",))
    lambda_: float = setting(0.6, "lambda of TD(lambda)", low=0, high=1)

    @property
    @override
    def steps_per_update(self) -> int:
        return self.plies


class ExactState(NamedTuple):
    """The state of `ExactTD`."""

    params: Any  # as in `NStepState`, and so is what follows
    optimizer: Any
    games: Games
    last: Ply
    traces: Any  # the eligibility traces, one for each game, output and parameter
    factor: Float32[Array, ""]
    updates: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class ExactTD(BatchLearner):
    """Exact TD(lambda): eligibility traces, and a step after every ply (Sutton 1988; Tesauro 1992).

    All games make their ply with the same weights, and the step is the sum of theirs; with a batch of 1 it is the
    textbook's.
    """

    config: ExactConfig
    per_game: ClassVar[tuple[str, ...]] = ("games", "last", "traces")

    @property
    def _traces(self) -> EligibilityTraces:
        return eligibility_traces(self.config.lambda_)

    @override
    def begin(self, params: Any, key: Key[Array, ""]) -> ExactState:
        games = init_games(self.network.game, key, self.config.batch)
        return ExactState(
            params=params,
            optimizer=self.config.optimizer_for().init(params),
            games=games,
            last=nothing_played(games),
            traces=self._traces.init(params, self.config.batch, self.config.outputs),
            factor=jnp.float32(1.0),
            updates=jnp.int32(0),
        )

    @override
    def update(self, state: ExactState, key: Key[Array, ""]) -> tuple[ExactState, Metrics]:
        """`plies` plies of each game, each followed by a step. Outside of `jit`, all is compiled anew in each call."""
        state, metrics = jax.lax.scan(self._ply, state, jax.random.split(key, self.config.plies))
        return state._replace(updates=state.updates + 1), jax.tree.map(
            lambda x: jnp.sum(x, axis=0, dtype=x.dtype), metrics
        )

    def _ply(self, state: ExactState, key: Key[Array, ""]) -> tuple[ExactState, Metrics]:
        network, before = self.network, state.last
        value = network.value(state.params, self.player_after(state.games.player))
        games, ply, explored = play_ply(network.game, state.games, value, key, self.config.epsilon)
        # A random turn says nothing about the position before it: no error, and no trace goes back beyond it.
        nothing = before.over if explored is None else before.over | explored
        expected = network.predict(state.params, before.positions, before.player)
        following = network.predict(state.params, ply.positions, ply.player)
        target = jnp.where(ply.over[:, None], network.outcomes.target(ply.result), following)
        errors = jnp.where(nothing[:, None], 0.0, target - expected)
        gradients = network.gradients(state.params, before.positions, before.player)
        ascent, traces = self._traces.update(gradients, state.traces, errors, nothing)
        descent = jax.tree.map(jnp.negative, ascent)
        params, optimizer = self.step(state.params, state.optimizer, descent, state.factor)
        metrics = self.psum(play_metrics(errors, ~nothing, ply))
        return state._replace(params=params, optimizer=optimizer, games=games, last=ply, traces=traces), metrics


def nothing_played(games: Games) -> Ply:
    """What leads to new games: the ply before the first one counts as over, so that nothing is learned from it."""
    position, player = copied((games.positions, games.player))  # so that states can be donated
    return Ply(position, player, jnp.ones(len(player), bool), jnp.zeros(len(player), jnp.float32))


def cross_entropy(
    targets: Float32[Array, "... outcomes"], predictions: Float32[Array, "... outcomes"]
) -> Float32[Array, "..."]:
    """The cross-entropy of predicted probabilities, -sum of target log prediction; smaller ones count as 1e-7."""
    return -jnp.sum(targets * jnp.log(jnp.maximum(predictions, 1e-7)), axis=-1)


class _Episodes(NamedTuple):
    """A batch of whole games in progress."""

    games: Games  # where they stand
    plies: Ply  # all plies, [plies, batch]
    length: Int32[Array, " batch"]  # how many of them belong to each game
    results: Float32[Array, " batch"]  # the first player's results
    running: Bool[Array, " batch"]  # the games that are not over
    explored: Int32[Array, " batch"]  # the number of each game's latest random ply
    number: Int32[Array, ""]  # of the next ply


@dataclasses.dataclass(frozen=True)
class MonteCarloConfig(BatchConfig, SquaredErrorConfig):
    """Settings of `MonteCarlo`."""

    method: str = setting("monte_carlo", "whole games, each learned from its result", choices=("monte_carlo",))
    plies: int = setting(1024, "the most plies of one game; a longer one teaches nothing", low=1, high=2**16)

    @override
    def plies_per_update(self, plies_per_game: int) -> int:
        return self.batch * plies_per_game


class MonteCarloState(NamedTuple):
    """The state of `MonteCarlo`: no game is in progress between two updates."""

    params: Any  # as in `NStepState`, and so is what follows
    optimizer: Any
    factor: Float32[Array, ""]
    updates: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class MonteCarlo(BatchLearner):
    """TD(1) with the weights frozen for whole games: every position is trained towards its game's result.

    A game of more than `plies` plies is truncated: nothing is learned from it, and the metrics count it. In a game
    with random turns only the positions after the last random turn are learned.
    """

    config: MonteCarloConfig

    @override
    def begin(self, params: Any, key: Key[Array, ""]) -> MonteCarloState:
        return MonteCarloState(params, self.config.optimizer_for().init(params), jnp.float32(1.0), jnp.int32(0))

    @override
    def update(self, state: MonteCarloState, key: Key[Array, ""]) -> tuple[MonteCarloState, Metrics]:
        """Plays a batch of whole games, then makes one step on half the sum of squared errors of all positions.

        Outside of `jit`, the games are compiled anew in each call.
        """
        start_key, play_key = jax.random.split(key)
        episodes = self._play(state.params, init_games(self.network.game, start_key, self.config.batch), play_key)
        gradients, squared_error, positions = self._gradients(state.params, episodes)
        params, optimizer = self.step(state.params, state.optimizer, gradients, state.factor)
        metrics = Metrics(
            squared_error=squared_error,
            positions=positions,
            plies=jnp.sum(episodes.length, dtype=jnp.int32),
            games=jnp.sum(~episodes.running, dtype=jnp.int32),
            points=jnp.sum(jnp.abs(episodes.results)),
            truncated=jnp.sum(episodes.running, dtype=jnp.int32),
        )
        return state._replace(params=params, optimizer=optimizer, updates=state.updates + 1), self.psum(metrics)

    def _play(self, params: Any, games: Games, key: Key[Array, ""]) -> _Episodes:
        """Plays until all games are over, at most `plies` plies."""
        network, config = self.network, self.config
        nothing = jnp.zeros(config.batch, jnp.float32)
        blank = Ply(games.positions, games.player, nothing > 0, nothing)
        room = -(-config.plies // BLOCK) * BLOCK
        plies = jax.tree.map(lambda x: jnp.zeros((room, *x.shape), x.dtype), blank)
        none = jnp.zeros(config.batch, jnp.int32)

        def unfinished(episodes):
            return jnp.any(episodes.running) & (episodes.number < config.plies)

        def ply(episodes):
            value, number = network.value(params, self.player_after(episodes.games.player)), episodes.number
            ply_key = jax.random.fold_in(key, number)
            games, ply, explored = play_ply(
                network.game, episodes.games, value, ply_key, config.epsilon, auto_reset=False
            )
            ends, latest = episodes.running & ply.over, episodes.explored
            return _Episodes(
                games=games,
                plies=jax.tree.map(lambda all_, one: all_.at[number].set(one), episodes.plies, ply),
                length=episodes.length + episodes.running.astype(jnp.int32),
                results=jnp.where(ends, ply.result, episodes.results),
                running=episodes.running & ~ply.over,
                explored=latest if explored is None else jnp.where(episodes.running & explored, number, latest),
                number=number + 1,
            )

        return jax.lax.while_loop(
            unfinished, ply, _Episodes(games, plies, none, nothing, nothing == 0, none, jnp.int32(0))
        )

    def _gradients(self, params: Any, episodes: _Episodes) -> tuple[Any, Float32[Array, ""], Int32[Array, ""]]:
        """Gradient of half the squared error, the squared error, and the number of positions, over blocks of plies."""
        network = self.network
        targets = network.outcomes.target(episodes.results)

        def block(number, total):
            start = number * BLOCK
            plies = jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, start, BLOCK), episodes.plies)
            index = start + jnp.arange(BLOCK, dtype=jnp.int32)
            learned = (index[:, None] < episodes.length[None, :] - 1) & ~episodes.running[None, :]
            learned &= index[:, None] >= episodes.explored[None, :]

            def loss(params):
                flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (plies.positions, plies.player))
                values = network.predict(params, *flat).reshape(*learned.shape, -1)
                errors = jnp.where(learned[..., None], targets[None] - values, 0.0)
                return 0.5 * jnp.sum(errors**2)

            error, gradients = jax.value_and_grad(loss)(params)
            new = (gradients, 2.0 * error, jnp.sum(learned, dtype=jnp.int32))
            return jax.tree.map(jnp.add, total, new)

        nothing = (jax.tree.map(jnp.zeros_like, params), jnp.float32(0.0), jnp.int32(0))
        return jax.lax.fori_loop(0, (episodes.number + BLOCK - 1) // BLOCK, block, nothing)


def play_metrics(errors: Float32[Array, "..."], learned: Bool[Array, "..."], ply: Ply) -> Metrics:
    """The metrics of plies [..., batch] and of the errors [..., batch, outcomes] of the learned positions."""
    return Metrics(
        squared_error=jnp.sum(jnp.where(learned[..., None], errors**2, 0.0)),
        positions=jnp.sum(learned, dtype=jnp.int32),
        plies=jnp.int32(ply.over.size),
        games=jnp.sum(ply.over, dtype=jnp.int32),
        points=jnp.sum(jnp.where(ply.over, jnp.abs(ply.result), 0.0)),
        truncated=jnp.int32(0),
    )
