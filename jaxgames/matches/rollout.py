"""Rollouts: what a position is worth, by games that a player plays from it, without the luck of the dice.

Luck is what a roll brings beyond the mean of all rolls, both by the player's own values. Its mean is 0, so subtracting
it does not bias the result, but removes much variance (D. Montgomery, *Variance reduction*, 2000; GNU Backgammon).
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.expectimax import after_chance
from jaxgames.envs.checks import one_state
from jaxgames.envs.core import Game, State, position_text
from jaxgames.ops import checks
from jaxgames.ops.pytrees import equal, select, take
from jaxgames.players import Player

BATCH = 1_024
"""Trials played at once."""
MOST_TRIALS, MOST_PLIES = 10**8, 10_000


@dataclasses.dataclass(frozen=True)
class RolloutResult:
    """Expected points of the player to act in `position`, without a cube.

    `equity` is the mean over trials of the result minus its luck, with its standard error. `plain_equity` is the mean
    of the results alone; its variance is `variance_factor` times as large (None if there is no variance). Rates are
    shares of the trials. `truncated` is the share of trials that were not played to the end: their result is what the
    player expects there. As usual gammons include backgammons.
    """

    game: str
    position: str
    player: str
    trials: int
    seed: int
    truncate: int | None
    equity: float
    standard_error: float
    plain_equity: float
    plain_standard_error: float
    variance_factor: float | None
    win_rate: float
    gammon_rate: float
    backgammon_rate: float
    gammon_loss_rate: float
    backgammon_loss_rate: float
    truncated: float
    plies: float

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)


class _Trials(NamedTuple):
    """Games in progress: positions before chance; all numbers are seen by the player to act at the start."""

    positions: Any
    sign: Float32[Array, " trials"]  # 1 where that player is to act, -1 where the other one is
    luck: Float32[Array, " trials"]
    result: Float32[Array, " trials"]
    running: Bool[Array, " trials"]
    plies: Int32[Array, " trials"]
    number: Int32[Array, ""]  # plies so far


def rollout(
    player: Player,
    state: State,
    trials: int,
    seed: int = 0,
    truncate: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> RolloutResult:
    """Plays `trials` games from one state, both sides by the player.

    Args:
      player: one that takes the turn to the position with the best value, such as a run or `champion@1`.
      state: where the games begin; if its dice are rolled, the player plays that turn first.
      trials: how many games, at least 2.
      seed: of the dice.
      truncate: a game is stopped after so many plies, and its result is what the player expects there.
      progress: is called now and then with the number of games that are over.

    Raises `ValueError` for another kind of player, a state that is over or of another game, and numbers out of range.
    """
    if checks.kind("player", player, Player).value is None or player.plies != 1:
        raise ValueError(f"{player.name} does not value positions; roll out with a run or champion@1")
    if not player.game.outcome_probabilities:
        raise ValueError(f"{player.game.id} has no chance, so there is nothing to roll out")
    trials, seed = checks.whole("trials", trials, None), checks.seed(seed)
    truncate = None if truncate is None else checks.whole("truncate", truncate, None)
    if not 2 <= trials <= MOST_TRIALS:
        raise ValueError(f"trials {trials}: expected a number from 2 to {MOST_TRIALS:,}")
    if truncate is not None and not 1 <= truncate <= MOST_PLIES:
        raise ValueError(f"truncate {truncate}: expected a number of plies from 1 to {MOST_PLIES:,}")
    if bool(one_state(player.game, state).terminated):
        raise ValueError("the game is over there: nothing to roll out")
    size = min(BATCH, 1 << (trials - 1).bit_length())
    parts = []
    for first in range(0, trials, size):
        key = jax.random.fold_in(jax.random.key(seed), first)
        parts.append(jax.device_get(_play(player, state._position, key, size, jnp.int32(truncate or MOST_PLIES))))
        if progress is not None:
            progress(min(first + size, trials))
    results, luck, running, plies = (np.concatenate(x)[:trials] for x in zip(*parts, strict=True))
    results, luck = results.astype(np.float64), luck.astype(np.float64)
    adjusted = results - luck
    ended = np.where(running, 0, results)
    variances = results.var(ddof=1), adjusted.var(ddof=1)
    return RolloutResult(
        game=player.game.id,
        position=position_text(state),
        player=player.name,
        trials=trials,
        seed=seed,
        truncate=truncate,
        equity=float(adjusted.mean()),
        standard_error=float((variances[1] / trials) ** 0.5),
        plain_equity=float(results.mean()),
        plain_standard_error=float((variances[0] / trials) ** 0.5),
        variance_factor=float(variances[0] / variances[1]) if variances[1] > 1e-12 else None,
        win_rate=float((ended > 0).mean()),
        gammon_rate=float((ended > 1).mean()),
        backgammon_rate=float((ended > 2).mean()),
        gammon_loss_rate=float((ended < -1).mean()),
        backgammon_loss_rate=float((ended < -2).mean()),
        truncated=float(running.mean()),
        plies=float(plies.mean()),
    )


@functools.partial(jax.jit, static_argnames="size")
def _play(
    player: Player, position: Any, key: Key[Array, ""], size: int, truncate: Int32[Array, ""]
) -> tuple[Array, ...]:
    """The results of trials, their luck, which were truncated, and their plies."""
    game, value = player.game, player.turn.make_value(player.params)

    def ply(trials: _Trials) -> _Trials:
        outcomes, scores = game.best_turn(after_chance(game, trials.positions), value)
        bits = jax.random.bits(jax.random.fold_in(key, trials.number), (size,), jnp.uint32)
        drawn = game.draw_outcome(bits)
        place = drawn * size + jnp.arange(size, dtype=jnp.int32)
        outcome = take(outcomes, place)
        mean = jnp.asarray(game.outcome_probabilities, jnp.float32) @ scores.reshape(-1, size)
        luck = jnp.where(trials.running, trials.sign * (scores[place] - mean), 0)
        ends = trials.running & outcome.over
        return _Trials(
            positions=outcome.position,
            sign=jnp.where(outcome.turn_passes, -trials.sign, trials.sign),
            luck=trials.luck + luck,
            result=jnp.where(ends, trials.sign * outcome.reward, trials.result),
            running=trials.running & ~outcome.over,
            plies=trials.plies + trials.running.astype(jnp.int32),
            number=trials.number + 1,
        )

    begun = _start(game, position, value, size)
    before = begun.plies[0]  # 1 if the state had a roll, which is played by now
    trials = jax.lax.while_loop(
        lambda trials: jnp.any(trials.running) & (trials.number + before < truncate), ply, begun
    )
    expected = trials.sign * value(trials.positions)
    return jnp.where(trials.running, expected, trials.result), trials.luck, trials.running, trials.plies


def _start(game: Game, position: Any, value: Any, size: int) -> _Trials:
    """All trials at the position or, if its dice are rolled, after the turn that the player takes there."""
    batch = jax.tree.map(lambda x: jnp.broadcast_to(x, (size, *x.shape)), position)
    awaits = ~equal(jax.vmap(lambda one: game.chance(one, jnp.int32(0)))(batch), batch)
    outcome, _ = game.best_turn(batch, value)

    running = awaits | ~outcome.over
    result = jnp.where(running, 0, outcome.reward)
    none = jnp.zeros(size, jnp.float32)
    return _Trials(
        positions=select(awaits, batch, outcome.position),
        sign=jnp.where(awaits | ~outcome.turn_passes, jnp.float32(1), -1.0).astype(jnp.float32),
        luck=none,
        result=result,
        running=running,
        plies=(~awaits).astype(jnp.int32),
        number=jnp.int32(0),
    )
