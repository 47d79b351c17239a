"""`check_game` plays a game, ours or anybody's, and checks the contracts that every game must keep."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Key, UInt32

from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game, Outcome, State, action_from_bits
from jaxgames.envs.rollout import random_action
from jaxgames.ops import checks
from jaxgames.ops.pytrees import as_bytes, select, take

GLOBAL_FLAGS = ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_debug_nans")
TOLERANCE = 1e-4


class ConformanceError(AssertionError):
    """A game breaks a contract of `Game` or `State`; the message names the contract."""


class ConformanceReport(NamedTuple):
    """What `check_game` has played: games, how many of them ended, and actions in all."""

    games: int
    ended: int
    actions: int


def check_game(game: Game, num_games: int = 64, seed: int = 0, max_actions: int = 2000) -> ConformanceReport:
    """Check that `game` keeps the contracts on which rollouts, learners, searches and players rely.

    Plays `num_games` random games at once (at least 4), each for at most `max_actions` actions, and checks at every
    step legal and illegal actions, rewards, chance and the end; on positions from these games, any batch rank, random
    draws, whole turns and, if the game has them, symmetries, notation and drawings. Raises `ConformanceError` naming
    the contract that is broken, and `ValueError` for fewer games; otherwise returns what was played.
    """
    a_game(game)
    seed = checks.seed(seed)
    max_actions = checks.whole("max_actions", max_actions)
    if checks.whole("num_games", num_games) < 4:
        raise ValueError(f"num_games {num_games} is too few; at least 4 are needed")
    flags = [getattr(jax.config, name) for name in GLOBAL_FLAGS]
    key, start_key, play_key, turn_key, rank_key, draw_key = jax.random.split(jax.random.key(seed), 6)
    _check_description(game)
    _check_types(game, key)
    states = _jit(jax.vmap(game.init))(jax.random.split(start_key, num_games))
    _check_start(game, states)
    _check_symmetries(game, key)
    sample, last, report = _check_play(game, states, play_key, seed, max_actions)
    _check_ranks(game, sample, rank_key)
    _check_draws(game, sample, draw_key)
    _check_turns(game, sample, turn_key)
    _check_apart(game, sample)
    _check_texts(game, sample)
    _check_ends(game, last)
    _require(game, flags == [getattr(jax.config, name) for name in GLOBAL_FLAGS], "changes a global flag of JAX")
    return report


def _check_description(game: Game) -> None:
    """Names, numbers, probabilities; a frozen value."""
    for name, kind in (("id", str), ("version", str), ("num_actions", int), ("observation_shape", tuple)):
        _require(game, isinstance(getattr(game, name, None), kind), f"has no `{name}` that is a {kind.__name__}")
    _require(game, game.num_players == 2, "is not for two players")
    _require(game, game.num_actions > 0, "has no actions")
    _require(game, game.max_reward > 0, "has no positive `max_reward`")
    copy = dataclasses.replace(game)
    _require(game, copy == game and hash(copy) == hash(game), "is not equal to its copy, so each copy is compiled anew")
    probabilities = np.asarray(game.outcome_probabilities, np.float64)
    if len(probabilities):
        _require(game, (probabilities > 0).all(), "has an outcome of chance that never happens")
        _require(game, abs(probabilities.sum() - 1) < 1e-6, f"has outcome probabilities with sum {probabilities.sum()}")
        words = jnp.arange(0, 2**32, 2**16, dtype=jnp.uint32)
        drawn = np.bincount(game.draw_outcome(words), minlength=len(probabilities)) / 2**16
        close = len(drawn) == len(probabilities) and np.abs(drawn - probabilities).max() < 2**-15
        _require(game, close, "draws outcomes with other probabilities than `outcome_probabilities`")


def _check_types(game: Game, key: Key[Array, ""]) -> None:
    """Shapes and dtypes of all attributes at batch rank 0, 1 and 2, with both kinds of keys, without running."""
    expected = {
        "current_player": ((), jnp.int32),
        "rewards": ((2,), jnp.float32),
        "terminated": ((), jnp.bool_),
        "truncated": ((), jnp.bool_),
        "legal_action_mask": ((game.num_actions,), jnp.bool_),
    }
    for kind, one_key in (("typed", key), ("legacy", jax.random.key_data(key))):
        init: Callable = game.init
        step: Callable = game.step
        for rank in range(3):
            keys = jax.ShapeDtypeStruct((2,) * rank + one_key.shape, one_key.dtype)
            actions = jax.ShapeDtypeStruct((2,) * rank, jnp.int32)
            state = jax.eval_shape(init, keys)
            after = jax.eval_shape(step, state, actions, keys)
            where = f"at batch rank {rank} with {kind} keys"
            _require(game, _types(state) == _types(after), f"steps to a state of other types than `init` gives {where}")
            seen = jax.eval_shape(lambda s: {name: getattr(s, name) for name in (*expected, "observation")}, state)
            for name, (shape, dtype) in expected.items():
                fits = seen[name].shape == (2,) * rank + shape and seen[name].dtype == dtype
                _require(game, fits, f"has `{name}` {seen[name].dtype}{list(seen[name].shape)} {where}")
            shape = seen["observation"].shape
            fits = shape == (2,) * rank + game.observation_shape
            _require(game, fits, f"has an observation of shape {shape} {where}; `observation_shape` is different")
            wide = [x.dtype for x in jax.tree.leaves((state, seen)) if x.dtype.itemsize > 4]
            _require(game, not wide, f"uses 64-bit numbers: {wide}")
            init, step = jax.vmap(init), jax.vmap(step)
    if game.outcome_probabilities:
        try:
            jax.eval_shape(game.step, jax.eval_shape(game.init, key), jnp.int32(0))
        except ValueError:
            return
        _require(game, False, "has chance, but steps without a key")


def _types(state: State) -> tuple:
    return jax.tree.structure(state), [(x.shape, x.dtype, x.weak_type) for x in jax.tree.leaves(state)]


def _check_start(game: Game, states: State) -> None:
    players = np.unique(states.current_player)
    _require(game, set(players) <= {0, 1}, f"has players {players}, not 0 and 1")
    _require(game, len(states.current_player) < 32 or len(players) == 2, "always lets the same player begin")
    _require(game, not states.terminated.any() and not states.truncated.any(), "has ended games at the start")
    _require(game, not states.rewards.any(), "gives rewards at the start")


def _check_ranks(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """The same results for one state, a batch, and a batch of batches; with typed and with legacy keys."""
    action_key, key = jax.random.split(key)
    keys = jax.random.split(key, 4)
    states = take(sample, slice(4))

    def look(state: State, step: Callable, *arguments: Any) -> tuple:
        return state.legal_action_mask, state.observation, step(state, *arguments)

    @_jit  # all in one program, which compiles much faster than each alone
    def looks(states: State, keys: Any) -> list:
        actions, legacy = random_action(action_key, states), jax.random.key_data(keys)
        squared = jax.tree.map(lambda x: x.reshape(2, 2, *x.shape[1:]), (states, actions, keys))
        square = look(squared[0], jax.vmap(jax.vmap(game.step)), *squared[1:])
        picked = [take((states, actions, keys), i) for i in range(2)]
        singles = [look(one[0], game.step, *one[1:]) for one in picked]
        return [
            look(states, jax.vmap(game.step), actions, keys),
            look(states, jax.vmap(game.step), actions, legacy),
            jax.tree.map(lambda *x: jnp.stack(x), *singles),
            jax.tree.map(lambda x: x.reshape(4, *x.shape[2:]), square),
        ]

    batch, legacy, single, square = jax.device_get(looks(states, keys))
    _require(game, _equal(batch, legacy), "steps otherwise with legacy keys than with typed ones")
    _require(game, _equal(take(batch, slice(2)), single), "plays a batch otherwise than its states")
    _require(game, _equal(batch, square), "plays a batch of batches otherwise than its states")


def _equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))


def _check_apart(game: Game, sample: State) -> None:
    """Players and records know a turn by the position that it leads to."""
    positions, masks = jax.device_get((sample._position, sample.legal_action_mask))
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    play = jax.vmap(jax.vmap(game.play, in_axes=(None, 0)), in_axes=(0, None))
    outcomes = jax.device_get(_jit(play)(take(positions, slice(16)), actions))
    for row, mask in enumerate(masks[:16]):
        before, led = as_bytes(take(positions, row)), dict[bytes, bytes]()
        for action in np.flatnonzero(mask):
            outcome = jax.tree.map(lambda x, at=(row, action): x[at], outcomes)
            after, over = as_bytes(outcome.position), bool(outcome.over)
            rest = as_bytes((over, outcome.reward if over else outcome.turn_passes))
            _require(game, not over or after != before, "ends at a legal action that changes nothing")
            same = led.setdefault(after, rest) == rest
            _require(game, same, "has legal actions that lead to one position, but not to the same end of the turn")


def _check_texts(game: Game, sample: State) -> None:
    """Notation and drawings, where the game has them."""
    look = _jit(lambda states: (states.legal_action_mask, states.observation))
    sample = take(jax.device_get(sample), slice(16))
    masks, views = jax.device_get(look(sample))
    states = [take(sample, i) for i in range(len(masks))]
    texts = [_if_there(game.to_string, state) for state in states]
    if None not in texts:
        again = [game.from_string(text, int(state.current_player)) for text, state in zip(texts, states, strict=True)]
        _require(game, texts == [game.to_string(state) for state in again], "writes a state otherwise once it was read")
        _require(game, not any(state.terminated for state in again), "reads a game in play as one that is over")
        new_masks, new_views = look(jax.tree.map(lambda *x: np.stack(x), *again))
        _require(game, _equal(masks, new_masks), "reads a state with other legal actions")
        _require(game, _equal(views, new_views), "reads a state that looks different")
        _require_error(game, lambda: game.from_string("?"), "reads '?' as a position")
    for state, mask in zip(states, masks, strict=True):
        actions = np.flatnonzero(mask).tolist()
        names = [_if_there(game.action_to_string, state, action) for action in actions]
        if None not in names:
            read = [game.string_to_action(state, name) for name in names]
            _require(game, read == actions, f"reads the names {names} of actions {actions} as {read}")
            _require_error(game, lambda state=state: game.string_to_action(state, "?"), "reads '?' as an action")
    for some in (states[0], take(sample, slice(2))):
        drawing = _if_there(some.to_svg)
        is_svg = drawing is None or drawing.lstrip().startswith("<svg")
        _require(game, is_svg, "draws something that is no SVG document")


def _check_ends(game: Game, last: State) -> None:
    """Final positions of games must also be over when they are read from their notation, if they can be read."""
    last = take(jax.device_get(last), np.flatnonzero(last.terminated)[:16])
    for index in range(len(last.terminated)):
        state = take(last, index)
        text = _if_there(game.to_string, state)
        if text is None:
            return
        try:
            again = game.from_string(text)
        except ValueError:  # a game may refuse to set up a position that nobody can play on
            continue
        _require(game, again.terminated, f"reads {text!r}, where a game has ended, as one in play")
        _require(game, not np.any(again.rewards), f"gives rewards for {text!r}, which nobody has played")


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
        again = game.resolve(again, game.draw_outcome(jax.random.bits(key, dtype=jnp.uint32)))
        resolved = game.resolve(after, game.draw_outcome(words[1]))
    wrong = game.apply(state, jnp.where(mask.all(), game.num_actions, action_from_bits(words[2], ~mask | mask.all())))
    ended, now_ended = state.terminated | state.truncated, after.terminated | after.truncated
    signs = jnp.where(jnp.arange(2, dtype=jnp.int32) == player, jnp.float32(-1), 1.0).astype(jnp.float32)
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


def _check_play(
    game: Game, states: State, key: Key[Array, ""], seed: int, max_actions: int
) -> tuple[State, State, ConformanceReport]:
    """Plays whole games. Gives one unfinished state of each, drawn uniformly from the game, and its last one."""

    def play(carry):
        states, _, sample, key, first, where, number, actions = carry
        key, step_key, word_key = jax.random.split(key, 3)
        ended = states.terminated | states.truncated
        keys, words = jax.random.split(step_key, len(ended)), jax.random.bits(word_key, (len(ended), 5), jnp.uint32)
        after, faults = jax.vmap(partial(_faults, game))(states, keys, words[:, :4])
        keep = ~ended & (words[:, 4] % (number + 1).astype(jnp.uint32) == 0)
        sample = select(keep, states, sample)
        news = faults.any(axis=0) & (first < 0)
        first = jnp.where(news, number, first)
        where = jnp.where(news, jnp.argmax(faults, axis=0).astype(jnp.int32), where)
        actions += jnp.sum(~ended, dtype=jnp.int32)
        return after, ended.all(), sample, key, first, where, number + 1, actions

    def go_on(carry):
        return ~carry[1] & (carry[6] < max_actions)

    none = jnp.full(len(FAULTS), -1, jnp.int32)
    start = (states, jnp.bool_(False), states, key, none, none, jnp.int32(0), jnp.int32(0))
    last, _, sample, _, first, where, _, actions = _jit(lambda carry: lax.while_loop(go_on, play, carry))(start)
    num_games = len(states.terminated)
    for fault, number, index in zip(FAULTS, first.tolist(), where.tolist(), strict=True):
        _require(game, number < 0, f"{fault} (game {index} of {num_games}, seed {seed}, after {number} actions)")
    ended = int((last.terminated | last.truncated).sum())
    _require(game, ended, f"ends none of {num_games} games in {max_actions} actions; allow more of them")
    return sample, last, ConformanceReport(num_games, ended, int(actions))


def _check_draws(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """`draw_action` draws each legal action about as often as any other."""
    number = 4096
    positions = take(sample._position, slice(16))
    words = jax.random.bits(key, (len(sample.terminated[:16]), number), jnp.uint32)

    @_jit
    def draw(positions: Any, words: Any) -> tuple[Any, Any]:
        draws = jax.vmap(lambda position, words: jax.vmap(lambda word: game.draw_action(position, word))(words))
        return draws(positions, words), jax.vmap(game.legal)(positions)

    for actions, legal in zip(*jax.device_get(draw(positions, words)), strict=True):
        expected = number * legal / legal.sum()
        far = np.abs(np.bincount(actions, minlength=game.num_actions) - expected)
        fair = (far <= 6 * np.sqrt(expected)).all()  # six standard deviations
        _require(game, fair, "draws some legal actions in `draw_action` more often than others")


def _check_symmetries(game: Game, key: Key[Array, ""]) -> None:
    """Every symmetry is a pair of index maps, and turned random play must show the turned boards of the original play.

    Only from openings that the symmetry leaves unchanged: other positions cannot be turned, only played to.
    """
    symmetries, inputs = game.symmetries, int(np.prod(game.observation_shape))
    for symmetry in symmetries:
        for indices, length in ((symmetry.actions, game.num_actions), (symmetry.elements, inputs)):
            whole = np.array_equal(np.sort(indices), np.arange(length))
            _require(game, whole, f"has a symmetry {symmetry.name!r} that is not an order of 0 to {length - 1}")
    still = symmetries and (np.diff(symmetries[0].actions) == 1).all() and (np.diff(symmetries[0].elements) == 1).all()
    _require(game, still, "has symmetries of which the first does not leave the board as it is")
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
            action = action_from_bits(jax.random.bits(word_key, dtype=jnp.uint32), one.legal_action_mask)
            pair = game.step(one, action, step_key), game.step(other, inverse[action], step_key)
            return pair, compare(pair, actions, elements)

        init_key, play_key = jax.random.split(key)
        start = (game.init(init_key), game.init(init_key))
        return compare(start, actions, elements), lax.scan(step, start, jax.random.split(play_key, 64))[1]

    actions, elements = (np.stack(maps) for maps in zip(*((s.actions, s.elements) for s in symmetries), strict=True))
    many = jax.vmap(jax.vmap(play, in_axes=(None, None, None, 0)), in_axes=(0, 0, 0, None))
    inverse, keys = np.argsort(actions, axis=1).astype(np.int32), jax.random.split(key, 8)
    begun, same = _jit(many)(actions, inverse, elements, keys)
    for symmetry, fits in zip(symmetries, np.asarray(~begun | same.all(axis=2)), strict=True):
        _require(game, fits.all(), f"has a symmetry {symmetry.name!r} after which it plays otherwise")


def _check_turns(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """`best_turn` is worth what it says, and nothing that `random_turn` draws is worth more."""
    weights = jax.random.normal(key, (int(np.prod(game.observation_shape)),), jnp.float32)

    def value(positions: Any) -> Float32[Array, " n"]:
        views = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        return game.max_reward * jnp.tanh(views.reshape(len(views), -1).astype(jnp.float32) @ weights * 0.1)

    def worth(outcome: Outcome) -> Float32[Array, " n"]:
        after = value(outcome.position)
        return jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, -after, after))

    @_jit
    def turns(positions: Any, words: Any) -> tuple[Any, Any, Any]:
        best, score = game.best_turn(positions, value)
        return score, worth(best), lax.map(lambda row: worth(game.random_turn(positions, row)), words)

    words = jax.random.bits(key, (16, len(sample.terminated)), jnp.uint32)
    score, best, others = turns(sample._position, words)
    score, best, others = jax.device_get((score, best, others))
    _require(game, np.abs(score - best).max() < TOLERANCE, "has a `best_turn` that is not worth the value it gives")
    _require(game, (others <= best[None] + TOLERANCE).all(), "has a `best_turn` that is worse than a random turn")


def _if_there(function: Callable, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except NotImplementedError:
        return None


def _require_error(game: Game, function: Callable, fault: str) -> None:
    try:
        function()
    except ValueError:
        return
    _require(game, False, fault)


def _require(game: Game, condition: Any, fault: str) -> None:
    """Raise `ConformanceError` with this fault of the game unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{getattr(game, 'id', type(game).__name__)} {fault}")


def _jit(function: Callable) -> Callable:
    """As `jax.jit`, but compiled without most optimizations, since each of these programs runs only once."""
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return jax.jit(function, compiler_options=options if jax.default_backend() == "cpu" else None)
