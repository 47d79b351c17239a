"""What is minimized: errors of the policy and of the value, with the metrics of both."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32

from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.algos.imitation.network import ImitationNetwork

ERRORS = {"squared": jnp.square, "absolute": jnp.abs}


def weighted_sums(
    network: ImitationNetwork, params: Any, rows: LabeledPositions, symmetry: Int32[Array, " n"] | None
) -> dict[str, Float32[Array, ""]]:
    """Sums over rows, by name, and the sums of weights they are to be divided by.

    `policy`: the policy loss; `predicted`: where the policy's best action is the most likely target; `value`: the value
    loss; `value_squared`, `value_absolute`: errors of the value in the range it learns; `policies`, `values`: weights.
    """
    config = network.config
    outputs, value = network.outputs(params, network.inputs(rows.position, symmetry))
    policy, mask = jnp.asarray(rows.policy, jnp.float32), jnp.asarray(rows.mask)
    if symmetry is not None:
        actions = jnp.stack([jnp.asarray(one.actions) for one in network.game.symmetries])[symmetry]
        policy, mask = (jnp.take_along_axis(x, actions, axis=1) for x in (policy, mask))
    weights = {"policies": jnp.asarray(rows.policy_weight), "values": jnp.asarray(rows.value_weight)}
    if not config.counts:
        weights = {name: (weight > 0).astype(jnp.float32) for name, weight in weights.items()}
    if config.learns in ("value", "policy"):
        unused = "policies" if config.learns == "value" else "values"
        weights[unused] = jnp.zeros_like(weights[unused])
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


def metrics_of(network: ImitationNetwork, sums: dict[str, Array]) -> dict[str, Array]:
    """The means of `weighted_sums`, and `loss`, which is minimized: that of the policy plus that of the value."""
    config = network.config
    found: dict[str, Array] = {}
    policies, values = (jnp.maximum(sums[name], 1e-9) for name in ("policies", "values"))
    loss = jnp.float32(0)
    if config.learns != "value":
        found |= {"policy_loss": sums["policy"] / policies, "predicted": sums["predicted"] / policies}
        loss += found["policy_loss"]
    if config.learns != "policy":
        found |= {name: sums[name] / values for name in ("value_squared", "value_absolute")}
        loss += config.value_weight * sums["value"] / values
    return {"loss": loss, **found}
