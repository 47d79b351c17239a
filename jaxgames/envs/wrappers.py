"""Wrappers of a step of one game: a new game when it is over, a limit of steps. `jax.vmap` them like the step."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32, Key

from jaxgames.envs.checks import a_state
from jaxgames.envs.core import State
from jaxgames.ops import checks
from jaxgames.ops.pytrees import select

Step = Callable[..., State]


def auto_reset(step: Step, init: Callable[[Key[Array, ""]], State], with_final: bool = False) -> Callable[..., Any]:
    """The step that begins a new game after the last move of the old one: `(state, action, key) -> state`.

    As in pgx, the new game's state keeps `rewards`, `terminated` and `truncated` of the old one for this step; mask and
    observation are those of the new game. With `with_final` the step returns `(state, final)`, where `final` is the
    state before the reset, with its observation and its rewards. It costs nothing where it is not read.

    Raises `TypeError` for what is no function, and for a key that is none; the step raises `ValueError` without a key.
    """
    checks.function("step", step, "(state, action, key) -> state, such as game.step")
    checks.function("init", init, "(key) -> state, such as game.init")

    def step_or_reset(state: State, action: Int32[Array, ""], key: Key[Array, ""] | None = None) -> Any:
        if key is None:
            raise ValueError("a step with auto_reset draws new games: call it with (state, action, key)")
        a_state(state)
        checks.key(key)
        step_key, init_key = jax.random.split(key)
        running = state.replace(
            rewards=jnp.zeros_like(state.rewards),
            terminated=jnp.zeros_like(state.terminated),
            truncated=jnp.zeros_like(state.truncated),
        )
        final = step(running, action, step_key)
        new = init(init_key).replace(rewards=final.rewards, terminated=final.terminated, truncated=final.truncated)
        ended = final.terminated | final.truncated
        state = select(ended, new, final)
        return (state, final) if with_final else state

    return step_or_reset


def time_limit(step: Step, max_steps: int) -> Step:
    """The step that truncates a game that has not ended after `max_steps` actions; `step` may be batched.

    The state stays as it is, with `truncated` set. Raises `ValueError` for a limit below 1.
    """
    checks.function("step", step, "(state, action, key) -> state, such as game.step")
    max_steps = checks.whole("max_steps", max_steps)

    def limited(state: State, *arguments: Any) -> State:
        state = step(a_state(state), *arguments)
        return state.replace(truncated=state.truncated | (~state.terminated & (state._step_count >= max_steps)))

    return limited
