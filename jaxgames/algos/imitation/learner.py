"""The learner: an update is one optimizer step on the next minibatch; a measurement runs over all kept positions.

Also what a training saves.
"""

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.imitation.config import ImitationConfig, ImitationNetwork
from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied, take
from jaxgames.ops.random_bits import random_bits
from jaxgames.runs import Run

# What is minimized: errors of the policy and of the value, with the metrics of both.

ERRORS = {"squared": jnp.square, "absolute": jnp.abs}


def weighted_sums(
    network: ImitationNetwork, params: Any, rows: LabeledPositions, symmetry: Int32[Array, " n"] | None
) -> dict[str, Float32[Array, ""]]:
    """Sums over rows, by name, and the sums of weights by which to divide them.

    `policy`: the policy loss; `predicted`: where the policy's best action is the most likely target; `value`: the value
    loss; `value_squared`, `value_absolute`: errors of the value in the range it learns; `policies`, `values`: weights.
    """
    config = network.config
    outputs, value = network.outputs(params, network.inputs(rows.position, symmetry))
    policy, mask = jnp.asarray(rows.policy, jnp.float32), jnp.asarray(rows.mask)
    if symmetry is not None:
        actions = jnp.stack([jnp.asarray(one.actions) for one in network.game.symmetries])[symmetry]
        policy, mask = (jnp.take_along_axis(x, actions, axis=1) for x in (policy, mask))
    weights = weights_of(config, rows, jnp)
    sums = {name: jnp.sum(weight) for name, weight in weights.items()}

    def add(name: str, errors: Array, weight: Array) -> None:
        sums[name] = jnp.sum(errors * weight)

    target = (jnp.asarray(rows.value) / network.game.max_reward, value / network.game.max_reward)
    if config.value_range == "unit":
        target = ((target[0] + 1) / 2, (target[1] + 1) / 2)
    for name, error in ERRORS.items():
        add(f"value_{name}", error(target[1] - target[0]), weights["values"])
    sums["value"] = sums[f"value_{config.value_loss}"]
    if config.head:
        wanted = network.policy_targets(policy, rows.position)
        add("policy", jnp.sum(ERRORS[config.policy_loss](outputs - wanted), axis=1), weights["policies"])
    else:
        log_policy = jax.nn.log_softmax(jnp.where(mask, outputs.astype(jnp.float32), -1e9), axis=1)
        if config.policy_loss == "cross_entropy":
            errors = -jnp.where(mask, policy * log_policy, 0)
        else:
            errors = ERRORS[config.policy_loss](jnp.where(mask, jnp.exp(log_policy), 0) - policy)
        add("policy", jnp.sum(errors, axis=1), weights["policies"])
    best = network.chosen(outputs, rows.position, mask)
    likely = jnp.take_along_axis(policy, best[:, None], axis=1)[:, 0] >= jnp.max(policy, axis=1)
    add("predicted", likely.astype(jnp.float32), weights["policies"])
    return sums


def weights_of(config: ImitationConfig, rows: LabeledPositions, of: Any = np) -> dict[str, Any]:
    """How much the `policies` and the `values` of rows count, as arrays of NumPy or of JAX."""
    weights = {"policies": of.asarray(rows.policy_weight), "values": of.asarray(rows.value_weight)}
    if not config.counts:
        weights = {name: (weight > 0).astype(of.float32) for name, weight in weights.items()}
    if config.learns in ("value", "policy"):
        unused = "policies" if config.learns == "value" else "values"
        weights[unused] = of.zeros_like(weights[unused])
    return weights


def metrics_of(network: ImitationNetwork, sums: dict[str, Array]) -> dict[str, Array]:
    """The means of `weighted_sums`, and `loss`, which is minimized: that of the policy plus that of the value."""
    config = network.config
    means: dict[str, Array] = {}
    policies, values = (jnp.maximum(sums[name], 1e-9) for name in ("policies", "values"))
    loss = jnp.float32(0)
    if config.learns != "value":
        means |= {"policy_loss": sums["policy"] / policies, "predicted": sums["predicted"] / policies}
        loss += means["policy_loss"]
    if config.learns != "policy":
        means |= {name: sums[name] / values for name in ("value_squared", "value_absolute")}
        loss += config.value_weight * sums["value"] / values
    return {"loss": loss, **means}


# The learner.

CHUNK = 4096
"""Positions measured at once."""


class ImitationState(NamedTuple):
    """The state of a training. `training` are the rows to learn from, in the order in which they are learned;
    `updates` counts the updates.
    """

    params: Any
    optimizer: Any
    training: LabeledPositions
    updates: Int32[Array, ""]


class ImitationCheckpoint(NamedTuple):
    """All that a training needs to continue with the same bits, except the data: weights, optimizer, updates made, the
    lowest validation loss so far, how many measurements ago it was.
    """

    params: Any
    optimizer: Any
    updates: Any
    best: Any
    since_best: Any


@dataclasses.dataclass(frozen=True)
class ImitationLearner:
    """Supervised learning of moves and results. Raises `ValueError` for settings that do not fit the game."""

    game: Game
    config: ImitationConfig

    @property
    def network(self) -> ImitationNetwork:
        """The network that learns."""
        return ImitationNetwork(self.game, self.config)

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """The optimizer, with a cosine schedule over the whole training."""
        config = self.config
        share = config.last_step_size / config.step_size
        schedule = optax.cosine_decay_schedule(config.step_size, config.steps, share)
        return {
            "adamw": lambda: optax.adamw(schedule, weight_decay=config.weight_decay),
            "adam": lambda: optax.adam(schedule),
            "sgd": lambda: optax.sgd(schedule),
            "momentum": lambda: optax.sgd(schedule, momentum=0.9, nesterov=True),
        }[config.optimizer]()

    def init(self, key: Key[Array, ""], training: LabeledPositions) -> ImitationState:
        """First weights. The rows are learned in their order, again and again: shuffle them before."""
        checks.key(key)
        checks.kind("training", training, LabeledPositions)
        params = self.network.init(key)
        rows = copied(training)  # so that states can be donated
        return ImitationState(params, self.optimizer.init(params), rows, jnp.int32(0))

    def update(self, state: ImitationState, key: Key[Array, ""]) -> tuple[ImitationState, dict[str, Array]]:
        """A step on the next minibatch. Metrics are means over it, before the step."""
        checks.kind("state", state, ImitationState)
        checks.key(key)
        number = len(state.training.game)
        # The first row of a minibatch in 32 bits: updates x minibatch may be more than they hold.
        start = _times_modulo(state.updates, self.config.minibatch % number, number)
        rows = (start + jnp.arange(self.config.minibatch, dtype=jnp.int32) % number) % number
        batch = jax.tree.map(lambda x: x[rows], state.training)
        symmetry = None
        if self.config.symmetries and len(self.game.symmetries) > 1:
            drawn = random_bits(key, (self.config.minibatch,)) % jnp.uint32(len(self.game.symmetries))
            symmetry = drawn.astype(jnp.int32)

        def loss(params):
            metrics = metrics_of(self.network, weighted_sums(self.network, params, batch, symmetry))
            return metrics["loss"], metrics

        gradient, metrics = jax.grad(loss, has_aux=True)(state.params)
        with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
            updates, optimizer = self.optimizer.update(gradient, state.optimizer, state.params)
        params = optax.apply_updates(state.params, updates)
        return ImitationState(params, optimizer, state.training, state.updates + 1), metrics

    def evaluate(self, params: Any, rows: LabeledPositions) -> dict[str, float]:
        """Metrics of a network on positions, without symmetries. Raises `ValueError` if there are none."""
        totals: dict[str, float] = {}
        number = len(rows.game)
        if number == 0:
            raise ValueError("rows: no positions to measure: expected one or more")
        size = min(CHUNK, number)
        for start in range(0, number, size):
            part = np.arange(start, start + size)
            batch = take(rows, np.minimum(part, number - 1))
            inside = (part < number).astype(np.float32)
            batch = batch._replace(policy_weight=batch.policy_weight * inside, value_weight=batch.value_weight * inside)
            for name, value in jax.device_get(_sums(self, params, batch)).items():
                totals[name] = totals.get(name, 0.0) + float(value)
        return {name: float(value) for name, value in metrics_of(self.network, totals).items()}  # type: ignore[arg-type]


def make_learner(game: Game, config: ImitationConfig | None = None) -> ImitationLearner:
    """The learner of a game. See `ImitationLearner`; raises `ValueError` for settings that do not fit the game."""
    config = ImitationConfig() if config is None else checks.kind("config", config, ImitationConfig)
    learner = ImitationLearner(a_game(game), config)
    _ = learner.network
    return learner


def checkpoint_shapes(learner: ImitationLearner) -> ImitationCheckpoint:
    """The shapes of a checkpoint."""
    params = jax.eval_shape(learner.network.init, jax.random.key(0))
    optimizer = jax.eval_shape(learner.optimizer.init, params)
    return ImitationCheckpoint(params, optimizer, np.int64(0), np.float64(0), np.int64(0))


def load_network(run: Run, game: Game, step: int | None = None) -> tuple[Any, ImitationNetwork]:
    """The weights that a run plays with, those of its lowest validation loss or of checkpoint `step`, and its network.

    Raises `ValueError` if the run holds none.
    """
    settings = run.config["learner"]
    try:
        learner = make_learner(game, ImitationConfig.from_json(settings))
    except ValueError as error:
        raise ValueError(f"{run.path}/config.json: {error}") from None
    options = run.config["options"]
    if dataclasses.replace(type(game)(), **options) != game:
        raise ValueError(f"{run.path} learned {game.id} with options {options or 'as usual'}, not {game}")
    shapes = checkpoint_shapes(learner)
    params = run.load_best(shapes.params)[1] if step is None else run.restore(shapes, step)[1].params
    return params, learner.network


def _times_modulo(number: Int32[Array, ""], factor: int, modulus: int) -> Int32[Array, ""]:
    """`number * factor % modulus` even if the product overflows; both factors below 2^31, the modulus below 2^30."""
    result, place = jnp.int32(0), jnp.int32(factor % modulus)
    for bit in range(31):
        result = jnp.where((number >> bit) & 1 == 1, (result + place) % modulus, result)
        place = (2 * place) % modulus
    return result


@partial(jax.jit, static_argnums=0)
def _sums(learner: ImitationLearner, params: Any, rows: LabeledPositions) -> dict[str, Array]:
    return weighted_sums(learner.network, params, rows, None)
