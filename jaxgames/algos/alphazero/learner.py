"""The learner: one update plays, remembers and learns, as one jitted function. Also what a training saves."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import PartitionSpec
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.alphazero.config import AlphaZeroConfig
from jaxgames.algos.alphazero.self_play import (
    Plies,
    ReplayBuffer,
    add,
    begin_games,
    check_room,
    init_buffer,
    play,
    sample,
)
from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game, State
from jaxgames.nets import InBlocks
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.random_bits import random_bits
from jaxgames.runs import Run

# What is learned from a minibatch: the policy by cross-entropy, the value by squared error, in drawn symmetries.

METRICS = {"policy_loss": "policy loss", "value_loss": "value loss", "entropy": "entropy of the policy"}
"""What `loss` measures, each with its name in the learning curve: in nats and squares."""


class Examples(NamedTuple):
    """What a network learns from: observations and legal actions, targets, and weights of both targets."""

    observation: Array
    legal: Bool[Array, "batch actions"]
    policy: Float32[Array, "batch actions"]
    value: Float32[Array, " batch"]
    policy_weight: Float32[Array, " batch"]
    value_weight: Float32[Array, " batch"]


def examples_of(game: Game, plies: Plies, result_share: float) -> Examples:
    """The examples in plies `[batch]`: the value is that of the player to act, result and root value mixed.

    A ply of an unfinished game has weight 0.
    """
    result = jnp.where(plies.player == 0, plies.result, -plies.result)
    value = result_share * result + (1 - result_share) * plies.root_value
    known = plies.known.astype(jnp.float32)
    return Examples(
        jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(plies.position),
        jax.vmap(game.legal)(plies.position),
        plies.policy.astype(jnp.float32),
        value,
        known * plies.is_target.astype(jnp.float32),
        known,
    )


def turn(game: Game, examples: Examples, key: Key[Array, ""]) -> Examples:
    """Each example in a symmetry of the board that is drawn for it."""
    symmetries = game.symmetries
    if len(symmetries) == 1:
        return examples
    batch = len(examples.value)
    drawn = random_bits(key, (batch,)) % jnp.uint32(len(symmetries))
    actions = jnp.asarray(np.stack([symmetry.actions for symmetry in symmetries]))[drawn]
    elements = jnp.asarray(np.stack([symmetry.elements for symmetry in symmetries]))[drawn]
    flat = jnp.take_along_axis(examples.observation.reshape(batch, -1), elements, axis=1)
    return examples._replace(
        observation=flat.reshape(examples.observation.shape),
        legal=jnp.take_along_axis(examples.legal, actions, axis=1),
        policy=jnp.take_along_axis(examples.policy, actions, axis=1),
    )


def loss(
    apply: Callable, params: Any, examples: Examples, max_reward: float, value_weight: float
) -> tuple[Float32[Array, ""], dict[str, Array]]:
    """Cross-entropy of the policy over the legal actions, plus `value_weight` times the squared error of the value.

    Values are divided by the most points of a game, so that one weight suits all games. Also returns the
    metrics of `METRICS`; `entropy` is that of the network's policy.
    """
    logits, value = apply(params, examples.observation)
    log_policy = jax.nn.log_softmax(jnp.where(examples.legal, logits.astype(jnp.float32), -1e9), axis=1)

    def mean(of, weight):
        return jnp.sum(of * weight) / jnp.maximum(jnp.sum(weight), 1)

    cross_entropy = -jnp.sum(jnp.where(examples.legal, examples.policy * log_policy, 0), axis=1)
    entropy = -jnp.sum(jnp.where(examples.legal, jnp.exp(log_policy) * log_policy, 0), axis=1)
    squares = jnp.square((value.astype(jnp.float32) - examples.value) / max_reward)
    policy_loss, value_loss = mean(cross_entropy, examples.policy_weight), mean(squares, examples.value_weight)
    metrics = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": mean(entropy, examples.policy_weight),
    }
    return policy_loss + value_weight * value_loss, metrics


# The learner.

LEAVES = 256
"""How many positions a tower evaluates at once on CPUs, see `InBlocks`."""


class AlphaZeroState(NamedTuple):
    """The state of a training. `mean_params` are the weights to play with, `updates` counts the updates."""

    params: Any
    mean_params: Any
    optimizer: Any
    states: State
    buffer: ReplayBuffer
    updates: Int32[Array, ""]


class AlphaZeroCheckpoint(NamedTuple):
    """All that a training needs to continue with the same bits: the learner's state, and the games finished."""

    state: AlphaZeroState
    games: Any


@dataclasses.dataclass(frozen=True)
class AlphaZeroLearner:
    """AlphaZero (Silver et al., 2018), by default with the search of Gumbel MuZero (Danihelka et al., 2022).

    Args:
        game: any game that passes `check_game`.
        network: a flax module, or anything hashable with `init(key, observation)` and `apply(params, observation) ->
            (logits [B, actions], value [B])`, the value in points of the player to act; `init` gives weights of float32
            or more (a flax module may compute in less, by its `dtype`).
        config: the settings.
    """

    game: Game
    network: Any
    config: AlphaZeroConfig
    axis: str | None = None
    """The axis of devices that each play a share of the games; None on one device. See `algos.parallel`."""

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """AdamW with a cosine schedule over the whole training."""
        config = self.config
        steps = config.updates * config.steps
        share = config.last_step_size / config.step_size
        schedule = optax.cosine_decay_schedule(config.step_size, steps, share)
        return optax.chain(_clip(1.0), optax.adamw(schedule, weight_decay=config.weight_decay))

    def check(self) -> None:
        """Raises `ValueError` if the replay buffer does not fit into the free memory."""

        def first_plies(key):
            states = self._begin(key)
            params = self.network.init(key, states.observation[:1])
            return self._play(params, states, key)[1]

        check_room(jax.eval_shape(first_plies, jax.random.key(0)), self.config.buffer_plies)

    def init(self, key: Key[Array, ""]) -> AlphaZeroState:
        """New weights, new games, an empty buffer. Raises `TypeError` for weights below float32."""
        checks.key(key)
        net_key, game_key = jax.random.split(key)
        config = self.config
        states = self._begin(game_key)
        params = self.network.init(net_key, states.observation[:1])
        for leaf in jax.tree.leaves(params):
            dtype = jnp.result_type(leaf)
            if jnp.issubdtype(dtype, jnp.floating) and jnp.finfo(dtype).bits < 32:
                raise TypeError(f"weights of {dtype}: expected float32, as small steps do not move a mean of less")
        buffer = init_buffer(jax.eval_shape(self._play, params, states, key)[1], config.buffer_plies)
        # The mean begins at the first weights; a copy, so that both can be donated.
        mean = copied(params)
        return AlphaZeroState(params, mean, self.optimizer.init(params), states, buffer, jnp.int32(0))

    def place(self, state: AlphaZeroState) -> AlphaZeroState:
        """The state on one device."""
        return jax.device_put(state)

    def shared(self, key: Key[Array, ""]) -> Key[Array, ""]:
        """The key of the updates, unchanged. See `algos.parallel`."""
        return key

    def update(self, state: AlphaZeroState, key: Key[Array, ""]) -> tuple[AlphaZeroState, dict[str, Array]]:
        """Plays `plies` plies of all games, then makes `steps` steps. Metrics are means over the steps and counts.

        Until a game has ended there is nothing to learn, and the weights stay as they are. A step, or a device's share
        of one, whose minibatch has no ply of a finished game counts as 0 in the means. Outside of `jit`, plies and
        steps are compiled anew in each call.
        """
        checks.kind("state", state, AlphaZeroState)
        checks.key(key)
        play_key, learn_key = jax.random.split(key)
        # Play some plies of all games, and remember them.
        states, plies, counts = self._play(state.params, state.states, play_key)
        buffer = add(state.buffer, plies, self.config.discount)
        optimizer = self.optimizer

        def step(carry, key):
            params, mean, inner = carry
            # Draw a minibatch, and a symmetry for each position.
            sample_key, turn_key = jax.random.split(key)
            examples = self._examples(sample(buffer, sample_key, self.config.minibatch))
            if self.config.symmetries:
                examples = turn(self.game, examples, turn_key)
            # The gradient over all devices; if the minibatch has no finished game there is nothing to learn.
            gradient, metrics = jax.grad(self._loss, has_aux=True)(params, examples)
            gradient, learns = self._mean(gradient), self._mean(jnp.sum(examples.value_weight)) > 0
            # Step, and move the mean weights towards the new ones.
            with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
                updates, inner_after = optimizer.update(gradient, inner, params)
            after = optax.apply_updates(params, updates)
            mean_after = optax.incremental_update(after, mean, 1 - self.config.ema)
            new = jax.tree.map(
                lambda a, b: jnp.where(learns, a, b), (after, mean_after, inner_after), (params, mean, inner)
            )
            return new, metrics

        carry = (state.params, state.mean_params, state.optimizer)
        (params, mean, inner), metrics = jax.lax.scan(step, carry, jax.random.split(learn_key, self.config.steps))
        # Means over the steps and the devices, sums of the games.
        metrics = {name: self._mean(jnp.mean(values)) for name, values in metrics.items()}
        if self.axis is not None:
            counts = jax.lax.psum(counts, self.axis)
        return AlphaZeroState(params, mean, inner, states, buffer, state.updates + 1), {**metrics, **counts}

    def _share(self, number: int, axis: str) -> "AlphaZeroLearner":
        """The learner with one of `number` equal shares of games and minibatches."""
        shares = {name: size // number for name, size in self.config.shares().items()}
        return dataclasses.replace(self, config=self.config.replace(**shares), axis=axis)

    def _specs(self, state: AlphaZeroState, axis: str) -> AlphaZeroState:
        """For each array, whether it is split over the devices or the same on all of them."""
        everywhere = jax.tree.map(lambda _: PartitionSpec(), state)
        states = jax.tree.map(lambda _: PartitionSpec(axis), state.states)
        plies = jax.tree.map(lambda _: PartitionSpec(None, axis), state.buffer.plies)
        return everywhere._replace(states=states, buffer=everywhere.buffer._replace(plies=plies))

    def _mean(self, x: Any) -> Any:
        """The mean over the devices."""
        return x if self.axis is None else jax.lax.pmean(x, self.axis)

    def _begin(self, key: Key[Array, ""]) -> State:
        return begin_games(self.game, key, self.config.batch, self.config.opening_plies)

    def _examples(self, plies: Plies) -> Examples:
        return examples_of(self.game, plies, self.config.result_share)

    def _play(self, params: Any, states: State, key: Key[Array, ""]) -> Any:
        apply = self.network.apply
        if self.config.network.form == "residual":
            apply = InBlocks(apply, LEAVES)
        return play(self.game, self.config, apply, params, states, key)

    def _loss(self, params: Any, examples: Any) -> Any:
        return loss(self.network.apply, params, examples, self.game.max_reward, self.config.value_weight)


def _clip(limit: float) -> optax.GradientTransformation:
    """`optax.clip_by_global_norm`; not on CPUs by one sum over all, as a sum for each array takes two kernels each."""
    by_arrays = optax.clip_by_global_norm(limit)

    def at_once(gradient):
        every = jnp.concatenate([x.ravel() for x in jax.tree.leaves(gradient)])
        return jax.tree.map(lambda x: x * (limit / jnp.maximum(jnp.linalg.norm(every), limit)), gradient)

    def update(gradient, state, params=None):
        del params
        clipped = jax.lax.platform_dependent(gradient, cpu=lambda x: by_arrays.update(x, state)[0], default=at_once)
        return clipped, state

    return optax.GradientTransformation(by_arrays.init, update)


def make_learner(game: Game, config: AlphaZeroConfig | None = None, network: Any = None) -> AlphaZeroLearner:
    """The learner of a game, with the network that the settings name or a given one. See `AlphaZeroLearner`."""
    a_game(game)
    config = AlphaZeroConfig() if config is None else checks.kind("config", config, AlphaZeroConfig)
    if network is not None:
        checks.made("network", network, ("init", "apply"), "a flax module, or anything with init and apply")
    return AlphaZeroLearner(game, network or config.make_network(game), config)


def checkpoint_shapes(learner: AlphaZeroLearner) -> AlphaZeroCheckpoint:
    """The shapes of a checkpoint."""
    return AlphaZeroCheckpoint(jax.eval_shape(learner.init, jax.random.key(0)), np.int64(0))


@functools.cache
def _network_shapes(game: Game, network: Any) -> Any:
    """The shapes of a network's weights."""
    return jax.eval_shape(lambda key: network.init(key, game.init(key).observation[None]), jax.random.key(0))


def load_network(run: Run, game: Game, step: int | None = None) -> tuple[Any, Any, float]:
    """The weights that a run plays with, its network and its discount.

    The network is `apply(params, observation) -> (logits, value)`. The weights are those of the best measurement, or
    with `step` those of that checkpoint. Raises `ValueError` if the run holds none.
    """
    settings = run.config["learner"]
    try:
        config = AlphaZeroConfig.from_json(settings)
    except ValueError as error:
        raise ValueError(f"{run.path}/config.json: {error}") from None
    learner = make_learner(game, config)
    if step is not None:
        return run.restore(checkpoint_shapes(learner), step)[1].state.mean_params, learner.network, config.discount
    return run.load_best(_network_shapes(game, learner.network))[1], learner.network, config.discount
