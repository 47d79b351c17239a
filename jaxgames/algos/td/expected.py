"""Learning from expectations over chance: less noisy than lambda-returns; positions are learned several times."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.expectimax import after_chance
from jaxgames.algos.td.config import LAYERS, SEVERAL_PLIES, UNTESTED, BatchConfig
from jaxgames.algos.td.learner import BatchLearner, Metrics, cross_entropy, play_metrics
from jaxgames.algos.td.self_play import Games, draw_chance, init_games, play_ply
from jaxgames.algos.td.td_lambda import luck_adjusted_returns
from jaxgames.algos.td.value import ValueNetwork, apart, scale_outputs
from jaxgames.nets import MLP_ONLY, NetworkSpec
from jaxgames.ops import checks, packing
from jaxgames.ops.pytrees import copied, select
from jaxgames.ops.settings import group, setting

CANDIDATES = 16
"""How many positions are drawn to choose the start of a restarted game."""


@dataclasses.dataclass(frozen=True)
class ExpectedConfig(BatchConfig):
    """Settings of `ExpectedTD`; its network has softmax outputs, and sees positions from the player to act."""

    net: NetworkSpec = group(LAYERS.replace(output="softmax"), MLP_ONLY | {"output": ("softmax",)})
    method: str = setting("expected", "means over all outcomes of chance, learned several times", choices=("expected",))
    lambda_: float = setting(0.6, "lambda of TD(lambda)", low=0, high=1, when=SEVERAL_PLIES)
    members: int = setting(1, "networks that learn side by side; the player is their mean", low=1, high=64)
    by_class: bool = setting(False, "whether each class of positions that the encoding tells apart has its own network")
    restarts: float = setting(
        0.0, "share of new games that begin where the network and a look-ahead differ", low=0, high=1
    )
    teacher: bool = setting(False, "whether the first weights play all games and make all targets")
    replay: int = setting(262_144, "the most positions that are kept", low=1, high=2**28)
    minibatch: int = setting(512, "positions of each step", low=1, high=2**20)
    steps: int = setting(8, "steps in one update", low=1, high=2**16)
    average: float = setting(0.999, "share of the player's averaged weights that stays at each step", low=0, high=1)
    schedule: str = setting("exponential", "how the step size changes", choices=UNTESTED)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members > 1 and len(self.net.hidden) != 1:
            raise ValueError(f"members={self.members}: needs one hidden layer")
        positions = self.batch * self.plies
        if self.updates * positions > checks.MOST:  # an int32 counts those that were put into the replay
            most = checks.MOST // positions
            raise ValueError(f"updates {self.updates:,} of {positions:,} positions: expected at most {most:,}")

    @override
    def shares(self) -> dict[str, int]:
        return super().shares() | {"minibatch": self.minibatch}

    @property
    @override
    def steps_per_update(self) -> int:
        return self.steps

    @override
    def network(self) -> ValueNetwork:
        units = (self.members * self.net.hidden[0],) if self.members > 1 else self.net.hidden
        return dataclasses.replace(self.member(), network=self.net.replace(hidden=units).mlp(self.outputs))

    def member(self) -> ValueNetwork:
        """The network of each member; that of the player if there is only one."""
        return self._network(by_class=self.by_class)


class Replay(NamedTuple):
    """The latest positions with their targets.

    `weight` is 0 for positions that do not count, such as ended games. `number` counts the positions added so far; from
    twice the room on whole rounds are subtracted, so that it never overflows.
    """

    positions: Any
    targets: Float32[Array, "replay outcomes"]
    weight: Float32[Array, " replay"]
    number: Int32[Array, ""]


class ExpectedState(NamedTuple):
    """The state of `ExpectedTD`. The weights of members are side by side (`members`)."""

    params: Any  # the player's weights: the moving average
    weights: Any  # those that the optimizer moves; output weights are not yet divided by the number of members
    teacher: Any  # those that play to the end if there is a teacher, else ()
    optimizer: Any  # the state of the optax optimizer
    games: Games  # the games in progress
    replay: Replay
    updates: Int32[Array, ""]  # the number of updates so far


def expectation(
    network: ValueNetwork, params: Any, positions: Any, player: Int32[Array, " n"]
) -> Float32[Array, "n outcomes"]:
    """What the first player may expect if chance comes next: the mean, over outcomes, after the best turn of each.

    Without chance it is the prediction after the best turn.
    """
    game = network.game
    chances = game.outcome_probabilities or (1.0,)
    movers = jnp.tile(player, len(chances))
    outcome, _ = game.best_turn(after_chance(game, positions), network.value(params))
    following = jnp.where(outcome.turn_passes, 1 - movers, movers)
    predicted = network.predict(params, outcome.position, following)
    results = network.outcomes.target(jnp.where(movers == 0, outcome.reward, -outcome.reward))
    values = jnp.where(outcome.over[:, None], results, predicted)
    return jnp.einsum("o,onk->nk", jnp.asarray(chances, jnp.float32), values.reshape(len(chances), len(player), -1))


@dataclasses.dataclass(frozen=True)
class ExpectedTD(BatchLearner):
    """Expected TD(lambda): targets are expectations over all outcomes of chance, from which luck is subtracted.

    An update plays `plies` plies of each game by the player's weights and puts each position with its target
    (`luck_adjusted_returns`) into a replay buffer. Then the optimizer makes `steps` steps on minibatches from it; the
    player's weights are a moving average of those learned. With a `teacher` the first player, or its first
    member, plays all games and makes all targets, and the average is only the result: a round of policy iteration.
    Each of the `members` draws its own minibatches, and the player is their mean. The loss is cross-entropy.
    With several devices each keeps the positions of its own games, and draws its share of each minibatch from them.
    """

    config: ExpectedConfig
    per_game: ClassVar[tuple[str, ...]] = ("games", "replay")

    @override
    def init_params(self, key: Key[Array, ""]) -> Any:
        return scale_outputs(self.network.init(key), 1 / self.config.members)

    @override
    def begin(self, params: Any, key: Key[Array, ""]) -> ExpectedState:
        weights = scale_outputs(params, self.config.members)
        teacher = jax.tree.map(lambda x: x[0], apart(weights, self.config.members)) if self.config.teacher else ()
        weights, teacher = copied((weights, teacher))  # so that states can be donated
        return ExpectedState(
            params=params,
            weights=weights,
            teacher=teacher,
            optimizer=self.config.optimizer_for().init(params),
            games=init_games(self.network.game, key, self.config.batch),
            replay=self.empty_replay(),
            updates=jnp.int32(0),
        )

    def empty_replay(self) -> Replay:
        """An empty replay buffer, with room for whole updates."""
        size = self.config.batch * self.config.plies
        room = -(-self.config.replay // size) * size
        one = jax.eval_shape(self.network.game.init_position, jax.random.key(0))
        positions = jax.tree.map(lambda x: jnp.zeros((room, *x.shape), x.dtype), one)
        targets = jnp.zeros((room, len(self.network.outcomes)), jnp.float32)
        return Replay(positions, targets, jnp.zeros(room, jnp.float32), jnp.int32(0))

    @override
    def update(self, state: ExpectedState, key: Key[Array, ""]) -> tuple[ExpectedState, Metrics]:
        # Play, and look one ply ahead everywhere.
        play_key, learn_key = jax.random.split(key)
        games, examples, metrics = self._play(state, play_key)
        replay = _put(state.replay, examples)

        # Learn from positions of the replay; the player follows.
        def step(carry, key):
            average, weights, optimizer = carry
            weights, optimizer = self._learn(weights, optimizer, replay, key)
            player = scale_outputs(weights, 1 / self.config.members)
            average = optax.incremental_update(player, average, 1 - self.config.average)
            return (average, weights, optimizer), None

        carry = state.params, state.weights, state.optimizer
        carry, _ = jax.lax.scan(step, carry, jax.random.split(learn_key, self.config.steps))
        average, weights, optimizer = carry
        state = ExpectedState(average, weights, state.teacher, optimizer, games, replay, state.updates + 1)
        return state, self.psum(metrics)

    def _play(self, state: ExpectedState, key: Key[Array, ""]) -> tuple[Games, tuple, Metrics]:
        """The plies of all games, and the learning target of each position before chance, seen by the player to act."""
        config, params = self.config, state.params
        network, player = (config.member(), state.teacher) if config.teacher else (self.network, params)

        def ply(games, key):
            games, ply, explored = play_ply(network.game, games, network.value(player), key, config.epsilon)
            if config.restarts:
                games = self._restart(games, ply.over, params, state.replay, jax.random.fold_in(key, 1))
            expected = expectation(network, player, ply.positions, ply.player)
            values = network.predict(player, ply.positions, ply.player)
            learned = self.network.predict(params, ply.positions, ply.player) if config.teacher else values
            ends = ply.over if explored is None else ply.over | explored
            return games, (ply, expected, values, learned, ends)

        games, (plies, expected, values, learned, ends) = packing.scan(
            ply, state.games, jax.random.split(key, config.plies)
        )
        later = jnp.concatenate([ends[1:], ends[:1]])  # nothing follows the last one
        targets = luck_adjusted_returns(expected, values, later, config.lambda_)
        errors = jnp.where(plies.over[..., None], 0.0, targets - learned)
        metrics = play_metrics(errors, ~plies.over, plies)
        first = (plies.player == 0)[..., None]
        own = jnp.where(first, targets, network.outcomes.flip(targets))
        weight = (~plies.over).astype(jnp.float32)
        examples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (plies.positions, own, weight))
        return games, examples, metrics

    def _restart(
        self, games: Games, over: Bool[Array, " batch"], params: Any, replay: Replay, key: Key[Array, ""]
    ) -> Games:
        """Games in which a share `restarts` of the new ones begin at positions that the look-ahead values differently.

        Of `CANDIDATES` drawn from the replay buffer it takes the one whose prediction is furthest from its target, in
        points.
        """
        network, batch = self.network, len(over)
        drawn_key, share_key, chance_key = jax.random.split(key, 3)
        known = jnp.minimum(replay.number, len(replay.weight))
        drawn = jax.random.randint(drawn_key, (CANDIDATES * batch,), 0, jnp.maximum(known, 1), jnp.int32)
        positions, targets, weight = (
            jax.tree.map(lambda x: x[drawn], part) for part in (replay.positions, replay.targets, replay.weight)
        )
        errors = targets - network.predict(params, positions, jnp.zeros_like(drawn))
        gaps = jnp.where(weight > 0, jnp.abs(network.outcomes.expected(errors)), -1.0).reshape(CANDIDATES, batch)
        widest = jnp.argmax(gaps, axis=0) * batch + jnp.arange(batch, dtype=jnp.int32)
        begun = draw_chance(network.game, jax.tree.map(lambda x: x[widest], positions), chance_key)
        begins = jax.random.uniform(share_key, (batch,), jnp.float32) < self.config.restarts
        chosen = over & (jnp.max(gaps, axis=0) >= 0) & begins
        return games._replace(positions=select(chosen, begun, games.positions))

    def _learn(self, weights: Any, optimizer: Any, replay: Replay, key: Key[Array, ""]) -> tuple[Any, Any]:
        """One step on positions drawn from the replay."""
        members, member = self.config.members, self.config.member()
        known = jnp.minimum(replay.number, len(replay.weight))
        drawn = jax.random.randint(key, (members, self.config.minibatch // self.devices), 0, known, jnp.int32)

        def loss_of(one, drawn):
            positions, targets, weight = (
                jax.tree.map(lambda x: x[drawn], part) for part in (replay.positions, replay.targets, replay.weight)
            )
            predicted = member.predict(one, positions, jnp.zeros_like(drawn))
            return jnp.sum(weight * cross_entropy(targets, predicted)) / self.config.minibatch

        def loss(weights):
            return jnp.sum(jax.vmap(loss_of)(apart(weights, members), drawn))

        return self.step(weights, optimizer, jax.grad(loss)(weights), jnp.float32(1))


def _put(replay: Replay, examples: tuple) -> Replay:
    """The replay buffer with new positions in place of the oldest ones."""
    positions, targets, weight = examples
    room = len(replay.weight)
    start, number = replay.number % room, replay.number + len(weight)

    def put(all_, new):
        return jax.lax.dynamic_update_slice_in_dim(all_, new, start, 0)

    return replay._replace(
        positions=jax.tree.map(put, replay.positions, positions),
        targets=put(replay.targets, targets),
        weight=put(replay.weight, weight),
        number=jnp.where(number >= 2 * room, number - room, number),
    )
