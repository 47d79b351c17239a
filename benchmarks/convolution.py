"""Learning a network of convolutions within a loop: our convolutions beside those of flax.linen.

Both are the same tower of residual blocks with the same loss. Some steps of gradient descent are one `lax.scan`, as in
a jitted update. The limit is single steps outside of a loop, for which XLA:CPU has fast code in both cases.
"""

import sys
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from _common import begin, compiled, finish, numbers, one_line_errors, parsed, parser, rate
from _figures import Comparison, Figure, Report
from _games_timing import in_turn

import jaxgames
from jaxgames.nets import convolution

TITLE = "Learning a network of convolutions in a loop"
OURS, PEER, LIMIT = "jaxgames", "flax", "steps one by one"
STEPS, BLOCKS, CHANNELS = 8, 3, 32
AT_LEAST = 10.0
"""Times the peer's steps."""


class Tower(nn.Module):
    """Residual blocks with a value for each board."""

    convolve: Callable[..., Any] | None

    @nn.compact
    def __call__(self, boards: jax.Array) -> jax.Array:
        def conv(x):
            return nn.Conv(CHANNELS, (3, 3), use_bias=False, conv_general_dilated=self.convolve)(x)

        x = conv(boards)
        for _ in range(BLOCKS):
            x += conv(nn.relu(conv(nn.relu(x))))
        return jnp.tanh(nn.Dense(1)(x.reshape(len(x), -1)))[:, 0]


class Learning:
    """Steps in a loop, or one by one, after as many that do not count."""

    def __init__(self, by: str, batch: int):
        self.by = by
        game = jaxgames.make("connect_four")
        boards = jnp.asarray(
            jax.random.bernoulli(jax.random.key(0), 0.3, (batch, *game.observation_shape)), jnp.float32
        )
        tower = Tower(convolution if by == OURS else None)

        def step(params: Any, wanted: jax.Array) -> Any:
            gradient = jax.grad(lambda params: jnp.mean((tower.apply(params, boards) - wanted) ** 2))(params)
            return jax.tree.map(lambda x, y: x - 0.001 * y, params, gradient)

        def in_loop(params: Any, wanted: jax.Array) -> Any:
            return jax.lax.scan(lambda params, wanted: (step(params, wanted), None), params, wanted)[0]

        self.wanted = jax.random.normal(jax.random.key(1), (STEPS, batch))
        self.params = jax.jit(tower.init)(jax.random.key(2), boards)
        shapes = self.params, self.wanted[0] if by == LIMIT else self.wanted
        self.program, self.compile_seconds = compiled(step if by == LIMIT else in_loop, *shapes)
        self.run()

    def run(self) -> tuple[int, None]:
        """How many steps that were."""
        for wanted in self.wanted if self.by == LIMIT else [self.wanted]:
            self.params = self.program(self.params, wanted)
        jax.block_until_ready(self.params)
        return STEPS, None


def main() -> int:
    """All batch sizes."""
    options = parser(TITLE, repeats=3)
    options.add_argument("--batch", type=numbers, default=[64, 512], help="boards of a step (default 64,512)")
    options = parsed(options)
    if options.quick:
        options.batch, options.repeats = [2], 1
    begin()
    report = Report("convolution", TITLE)
    for batch in options.batch:
        row = f"residual {BLOCKS} x {CHANNELS}, {batch} boards a step, {STEPS} steps in a loop"
        runners = [Learning(by, batch) for by in (LIMIT, OURS, PEER)]
        figures: dict[str, Figure] = {}
        for runner, (timings, _) in zip(runners, in_turn(runners, options.repeats), strict=True):
            figures[runner.by] = report.add(
                rate(row, runner.by, "steps/s", timings, compile_seconds=runner.compile_seconds)
            )
        report.comparisons.append(Comparison(row, figures[OURS], figures[PEER]))
        times = tuple(a / b for a, b in zip(figures[OURS].values, figures[PEER].values, strict=True))
        report.add(Figure(f"{row}: times the peer", OURS, "x", times, at_least=AT_LEAST, form=".1f"))
    return finish(report, options, ("flax",))


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
