"""Self-play and learning as people write it for pgx and mctx; `test_pgx_mctx.py` runs it with other imports.

Every position is searched by Gumbel MuZero with the state as embedding; games are reset when they end; a small network
learns the searches' action weights and the results of the games.
"""

import jax
import jax.numpy as jnp
import mctx
import optax
import pgx
from pgx.experimental.wrappers import auto_reset

BATCH, SIMULATIONS, STEPS, ITERATIONS, HIDDEN = 8, 16, 12, 2, 32


def init_params(key, env):
    inputs = 1
    for length in env.observation_shape:
        inputs *= length
    keys = jax.random.split(key, 3)
    return {
        "hidden": jax.random.normal(keys[0], (inputs, HIDDEN)) / jnp.sqrt(inputs),
        "policy": jax.random.normal(keys[1], (HIDDEN, env.num_actions)) / jnp.sqrt(HIDDEN),
        "value": jax.random.normal(keys[2], (HIDDEN,)) / jnp.sqrt(HIDDEN),
    }


def forward(params, observation):
    x = observation.reshape(observation.shape[0], -1).astype(jnp.float32)
    x = jnp.tanh(x @ params["hidden"])
    return x @ params["policy"], jnp.tanh(x @ params["value"])


def train(env_id, seed=0):
    env = pgx.make(env_id)
    init, step = jax.vmap(env.init), jax.vmap(env.step)
    step_or_reset = jax.vmap(auto_reset(env.step, env.init))
    optimizer = optax.sgd(0.1)

    def recurrent_fn(params, key, action, state):
        del key
        player = state.current_player
        state = step(state, action)
        logits, value = forward(params, state.observation)
        logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min)
        output = mctx.RecurrentFnOutput(
            reward=state.rewards[jnp.arange(BATCH), player],
            discount=jnp.where(state.terminated, 0.0, -1.0),
            prior_logits=logits,
            value=jnp.where(state.terminated, 0.0, value),
        )
        return output, state

    def play(params, state, key):
        search_key, step_key = jax.random.split(key)
        logits, value = forward(params, state.observation)
        result = mctx.gumbel_muzero_policy(
            params,
            search_key,
            mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
            recurrent_fn,
            SIMULATIONS,
            invalid_actions=~state.legal_action_mask,
        )
        summary = result.search_tree.summary()
        after = step_or_reset(state, result.action, jax.random.split(step_key, BATCH))
        return after, {
            "observation": state.observation,
            "mask": state.legal_action_mask,
            "action": result.action,
            "weights": result.action_weights,
            "visits": summary.visit_counts,
            "values": summary.value,
            "reward": after.rewards[jnp.arange(BATCH), state.current_player],
            "over": after.terminated,
        }

    def loss(params, data, target):
        observation = data["observation"].reshape(-1, *env.observation_shape)
        logits, value = forward(params, observation)
        policy_loss = optax.softmax_cross_entropy(logits, data["weights"].reshape(logits.shape)).mean()
        return policy_loss + jnp.mean((value - target.reshape(value.shape)) ** 2)

    @jax.jit
    def iterate(params, optimizer_state, state, key):
        state, data = jax.lax.scan(lambda state, key: play(params, state, key), state, jax.random.split(key, STEPS))

        def back(result, step):
            result = jnp.where(step["over"], step["reward"], -result)
            return result, result

        _, target = jax.lax.scan(back, jnp.zeros(BATCH), data, reverse=True)
        value, gradient = jax.value_and_grad(loss)(params, data, target)
        updates, optimizer_state = optimizer.update(gradient, optimizer_state)
        return optax.apply_updates(params, updates), optimizer_state, state, data | {"target": target, "loss": value}

    key, init_key, param_key = jax.random.split(jax.random.PRNGKey(seed), 3)
    params = init_params(param_key, env)
    optimizer_state, state = optimizer.init(params), jax.jit(init)(jax.random.split(init_key, BATCH))
    history = []
    for _ in range(ITERATIONS):
        key, subkey = jax.random.split(key)
        params, optimizer_state, state, data = iterate(params, optimizer_state, state, subkey)
        history.append(data)
    return params, history


if __name__ == "__main__":
    print([float(data["loss"]) for data in train("connect_four")[1]])
