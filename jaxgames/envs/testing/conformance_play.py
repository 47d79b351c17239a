"""What `check_game` sees while it plays: every step of random games, and whole turns."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Key, UInt32

from jaxgames.envs.core import Game, Outcome, State, action_from_bits

TOLERANCE = 1e-4


class ConformanceError(AssertionError):
    """A game breaks a contract of `Game` or `State`; the message names the contract."""


class Report(NamedTuple):
    """What `check_game` has played: games, how many of them ended, and actions in all."""

    games: int
    ended: int
    actions: int


def require(game: Game, condition: Any, fault: str) -> None:
    """Raise `ConformanceError` with this fault of the game unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{getattr(game, 'id', type(game).__name__)} {fault}")


def jit(function: Callable) -> Callable:
    """As `jax.jit`, but compiled without most optimizations, since each of these programs runs only once."""
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return jax.jit(function, compiler_options=options if jax.default_backend() == "cpu" else None)


FAULTS = (
    "has a current player who is not 0 or 1",
    "has an observation that is not finite",
    "has no legal action",
    "has an ended game with a mask that is not all true",
    "has a `legal_action_mask` that is not what `is_legal` says of each action",
    "draws an action in `draw_action` that is not legal",
    "finds an action legal that is out of range",
    "steps otherwise than `resolve(apply(state, action), outcome)`",
    "changes a state that awaits no chance in `resolve`",
    "gives rewards that do not sum to zero",
    "gives rewards before the end, or more than `max_reward`",
    "changes an ended game, or rewards it again",
    "does not end with -1 and +1 at an illegal action",
    "is truncated at other times than `step_limit` says",
)


def _faults(
    game: Game, state: State, key: Key[Array, ""], words: UInt32[Array, "4"]
) -> tuple[State, Bool[Array, " faults"]]:
    """One random action of one game, and which of `FAULTS` it shows."""
    position, mask, player = state._position, state.legal_action_mask, state.current_player
    numbers = jnp.arange(game.num_actions, dtype=jnp.int32)
    outside = jnp.array([-1, game.num_actions, -(2**31), 2**31 - 1], jnp.int32)
    legal = jax.vmap(lambda action: game.is_legal(position, action))(jnp.concatenate([numbers, outside]))
    action = action_from_bits(words[0], mask)
    after, again = game.step(state, action, key), game.apply(state, action)
    resolved = after
    if game.outcome_probabilities:
        again = game.resolve(again, game.draw_outcome(jax.random.bits(key)))
        resolved = game.resolve(after, game.draw_outcome(words[1]))
    wrong = game.apply(state, jnp.where(mask.all(), game.num_actions, action_from_bits(words[2], ~mask | mask.all())))
    ended, now_ended = state.terminated | state.truncated, after.terminated | after.truncated
    signs = jnp.where(numbers[:2] == player, -1.0, 1.0).astype(jnp.float32)
    kept = _same(after._position, position) & (after.current_player == player) & now_ended
    reward = jnp.abs(after.rewards).max()
    drawn = game.draw_action(position, words[3])
    cut = state.truncated
    if game.step_limit is not None:
        cut |= ~ended & ~after.terminated & (state._step_count + 1 >= game.step_limit)
    faults = (
        (after.current_player != 0) & (after.current_player != 1),
        ~jnp.isfinite(state.observation.astype(jnp.float32)).all(),
        ~mask.any(),
        ended & ~mask.all(),
        ~ended & (mask != legal[: game.num_actions]).any(),
        ~ended & ~game.is_legal(position, drawn),
        legal[game.num_actions :].any(),
        ~_same(after, again),
        ~_same(after, resolved),
        after.rewards.sum() != 0,
        (~now_ended & (reward != 0)) | (reward > game.max_reward),
        ended & (~kept | (after.rewards != 0).any() | (wrong.rewards != 0).any()),
        ~ended & (~wrong.terminated | (wrong.rewards != signs).any()),
        after.truncated != cut,
    )
    return after, jnp.stack(faults)


def _same(one: Any, other: Any) -> Bool[Array, ""]:
    """Whether two trees of arrays are equal."""
    return jnp.stack([(x == y).all() for x, y in zip(*map(jax.tree.leaves, (one, other)), strict=True)]).all()


def check_play(
    game: Game, states: State, key: Key[Array, ""], seed: int, max_actions: int
) -> tuple[State, State, Report]:
    """Whole games. Gives one state of each that had not ended, drawn uniformly from its length, and its last one."""

    def play(carry):
        states, _, sample, key, first, where, number, actions = carry
        key, step_key, word_key = jax.random.split(key, 3)
        ended = states.terminated | states.truncated
        keys, words = jax.random.split(step_key, len(ended)), jax.random.bits(word_key, (len(ended), 5))
        after, faults = jax.vmap(partial(_faults, game))(states, keys, words[:, :4])
        keep = ~ended & (words[:, 4] % (number + 1).astype(jnp.uint32) == 0)
        sample = jax.tree.map(lambda new, old: jax.vmap(jnp.where)(keep, new, old), states, sample)
        news = faults.any(axis=0) & (first < 0)
        first = jnp.where(news, number, first)
        where = jnp.where(news, jnp.argmax(faults, axis=0).astype(jnp.int32), where)
        actions += jnp.sum(~ended, dtype=jnp.int32)
        return after, ended.all(), sample, key, first, where, number + 1, actions

    def go_on(carry):
        return ~carry[1] & (carry[6] < max_actions)

    none = jnp.full(len(FAULTS), -1, jnp.int32)
    start = (states, jnp.bool_(False), states, key, none, none, jnp.int32(0), jnp.int32(0))
    last, _, sample, _, first, where, _, actions = jit(lambda carry: lax.while_loop(go_on, play, carry))(start)
    num_games = len(states.terminated)
    for fault, number, index in zip(FAULTS, first.tolist(), where.tolist(), strict=True):
        require(game, number < 0, f"{fault} (game {index} of {num_games}, seed {seed}, after {number} actions)")
    ended = int((last.terminated | last.truncated).sum())
    require(game, ended, f"ends none of {num_games} games in {max_actions} actions; allow more of them")
    return sample, last, Report(num_games, ended, int(actions))


def check_draws(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """`draw_action` draws each legal action about as often as any other."""
    number = 4096
    positions = jax.tree.map(lambda x: x[:16], sample._position)
    words = jax.random.bits(key, (len(sample.terminated[:16]), number))

    @jit
    def draw(positions: Any, words: Any) -> tuple[Any, Any]:
        draws = jax.vmap(lambda position, words: jax.vmap(lambda word: game.draw_action(position, word))(words))
        return draws(positions, words), jax.vmap(game.legal)(positions)

    for actions, legal in zip(*jax.device_get(draw(positions, words)), strict=True):
        expected = number * legal / legal.sum()
        far = np.abs(np.bincount(actions, minlength=game.num_actions) - expected)
        fair = (far <= 6 * np.sqrt(expected)).all()  # six standard deviations
        require(game, fair, "draws some legal actions in `draw_action` more often than others")


def check_symmetries(game: Game, key: Key[Array, ""]) -> None:
    """Every symmetry is a pair of index maps, and random play that it turns stays what it makes of the original.

    Only from openings that it leaves as they are, as no position can be turned but by playing.
    """
    symmetries, inputs = game.symmetries, int(np.prod(game.observation_shape))
    for symmetry in symmetries:
        for indices, length in ((symmetry.actions, game.num_actions), (symmetry.elements, inputs)):
            whole = np.array_equal(np.sort(indices), np.arange(length))
            require(game, whole, f"has a symmetry {symmetry.name!r} that is not an order of 0 to {length - 1}")
    still = symmetries and (np.diff(symmetries[0].actions) == 1).all() and (np.diff(symmetries[0].elements) == 1).all()
    require(game, still, "has symmetries of which the first does not leave the board as it is")
    if len(symmetries) == 1:
        return

    def compare(pair: tuple[State, State], actions: Any, elements: Any) -> Bool[Array, ""]:
        one, other = pair
        same = (one.observation.reshape(-1)[elements] == other.observation.reshape(-1)).all()
        same &= (one.legal_action_mask[actions] == other.legal_action_mask).all()
        return same & (one.terminated == other.terminated) & (one.rewards == other.rewards).all()

    def play(actions: Any, inverse: Any, elements: Any, key: Any) -> tuple[Any, Any]:
        def step(pair, key):
            word_key, step_key = jax.random.split(key)
            one, other = pair
            action = action_from_bits(jax.random.bits(word_key), one.legal_action_mask)
            pair = game.step(one, action, step_key), game.step(other, inverse[action], step_key)
            return pair, compare(pair, actions, elements)

        start = (game.init(key), game.init(key))
        return compare(start, actions, elements), lax.scan(step, start, jax.random.split(key, 64))[1]

    actions, elements = (np.stack(maps) for maps in zip(*((s.actions, s.elements) for s in symmetries), strict=True))
    many = jax.vmap(jax.vmap(play, in_axes=(None, None, None, 0)), in_axes=(0, 0, 0, None))
    inverse, keys = np.argsort(actions, axis=1).astype(np.int32), jax.random.split(key, 8)
    begun, same = jit(many)(actions, inverse, elements, keys)
    for symmetry, fits in zip(symmetries, np.asarray(~begun | same.all(axis=2)), strict=True):
        require(game, fits.all(), f"has a symmetry {symmetry.name!r} after which it plays otherwise")


def check_turns(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """`best_turn` is worth what it says, and nothing that `random_turn` draws is worth more."""
    weights = jax.random.normal(key, (int(np.prod(game.observation_shape)),))

    def value(positions: Any) -> Float32[Array, " n"]:
        views = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        return game.max_reward * jnp.tanh(views.reshape(len(views), -1).astype(jnp.float32) @ weights * 0.1)

    def worth(outcome: Outcome) -> Float32[Array, " n"]:
        after = value(outcome.position)
        return jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, -after, after))

    @jit
    def turns(positions: Any, words: Any) -> tuple[Any, Any, Any]:
        best, score = game.best_turn(positions, value)
        return score, worth(best), lax.map(lambda row: worth(game.random_turn(positions, row)), words)

    words = jax.random.bits(key, (16, len(sample.terminated)))
    score, best, others = turns(sample._position, words)
    score, best, others = jax.device_get((score, best, others))
    require(game, np.abs(score - best).max() < TOLERANCE, "has a `best_turn` that is not worth the value it gives")
    require(game, (others <= best[None] + TOLERANCE).all(), "has a `best_turn` that is worse than a random turn")
