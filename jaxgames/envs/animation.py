"""Games as moving pictures: SVG documents that show one board after the other, over and over."""

from collections.abc import Sequence
from pathlib import Path

import jax

from jaxgames.envs.checks import a_state
from jaxgames.envs.state import State
from jaxgames.envs.svg import animation_svg
from jaxgames.ops import checks


def save_svg_animation(
    states: Sequence[State] | State, filename: str | Path, theme: str = "light", frame_duration_seconds: float = 0.2
) -> None:
    """Writes an SVG file that shows states one after the other, each for so many seconds, and begins again.

    Browsers and most viewers of pictures play it; others show the first board.

    Args:
        states: a list of states, batches of which are drawn as grids; or states with an axis of steps in front, such as
            `transitions.states` of a `rollout`.
        filename: the file, which is replaced if it is there.
        theme: `light` or `dark`.
        frame_duration_seconds: how long each is seen, above 0.

    Raises `TypeError` for what are no states, and `ValueError` for no states, an unknown theme or other seconds.
    """
    seconds = checks.number(
        "frame_duration_seconds", frame_duration_seconds, "a number above 0", lambda number: 0 < number < float("inf")
    )
    if isinstance(states, State):
        if a_state(states, "states").terminated.ndim == 0:
            raise ValueError("one state is no animation: give a list of states, or states of shape [steps, ...]")
        states = [jax.tree.map(lambda x, step=step: x[step], states) for step in range(len(states.terminated))]
    if not isinstance(states, list | tuple):
        raise TypeError(f"states {checks.describe(states)}: expected a list of states")
    if not isinstance(filename, Path):
        checks.text("filename", filename)
    boards = [a_state(state, f"states[{number}]").to_svg(theme) for number, state in enumerate(states)]
    Path(filename).write_text(animation_svg(boards, seconds, theme), "utf-8")
