"""Wrong arguments of games, of their methods, and of what plays many games at once."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.envs import count_positions, divide, perft
from tests.arguments.kinds import (
    DICE,
    GAME,
    KEY,
    NEEDED_KEY,
    NO_GAME,
    ONE_STATE,
    ROLLED,
    SEED,
    STATE,
    STATE_BATCH,
    STATES,
    Row,
    Wrong,
    function,
    number,
    one_of,
    setting,
    text,
    whole,
    without,
)

TORN_POSITION = jax.tree.unflatten(
    jax.tree.structure(STATE._position),
    [x[0] if number else x for number, x in enumerate(jax.tree.leaves(STATES._position))],
)
NO_ACTION = {**whole("action"), "None": (None, TypeError, "action None: expected one whole number")}
NAMED_ACTION = {**setting("action", None), "out of range": (99, ValueError, "action 99 is no column")}
OTHER_BOARD = {
    "too long": ("4x", ValueError, "character 2"),
    "of another": ("XO./.../..X", ValueError, "character 1"),
}


def policy_of(actions):
    """A policy that gives this, whatever the states."""
    return lambda key, states: actions


def actions(value, error, found) -> tuple:
    """A policy that gives what are no actions, and its line."""
    return policy_of(value), error, f"the policy's actions {found}: expected whole numbers, int32[4]"


POLICY: Wrong = {
    **function("policy"),
    "gives one action": actions(jnp.int32(3), ValueError, "int32[]"),
    "gives too few": actions(jnp.zeros(3, jnp.int32), ValueError, "int32[3]"),
    "gives floats": actions(jnp.zeros(4), ValueError, "float32[4]"),
    "gives bools": actions(jnp.zeros(4, bool), ValueError, "bool[4]"),
    "gives logits": actions(jnp.zeros((4, 7)), ValueError, "float32[4, 7]"),
    "gives a list": actions([1, 2, 3, 4], TypeError, "a list"),
    "gives a text": actions("4453", TypeError, "'4453'"),
    "gives None": actions(None, TypeError, "None"),
}
MASK: Wrong = {
    "list": ([True] * 7, TypeError, "expected states, or a mask bool[..., actions]"),
    "None": (None, TypeError, "expected states, or a mask bool[..., actions]"),
    "text": ("4453", TypeError, "expected states, or a mask bool[..., actions]"),
    "floats": (jnp.ones(7), ValueError, "float32[7]: expected states, or a mask bool[..., actions]"),
    "NaN": (jnp.full(7, jnp.nan), ValueError, "float32[7]: expected states, or a mask bool[..., actions]"),
    "one flag": (np.bool_(True), ValueError, "bool[]: expected states, or a mask bool[..., actions]"),
    "no flags": (np.zeros((4, 0), bool), ValueError, "bool[4, 0]: expected states, or a mask bool[..., actions]"),
}
OPTION: Wrong = {
    "unknown": ({"rings": 3}, ValueError, "unknown option 'rings' of connect_four; available: rows, cols, connect"),
    "text": ({"rows": "6"}, ValueError, "rows='6': expected a whole number"),
    "float": ({"rows": 6.0}, ValueError, "rows=6.0: expected a whole number"),
    "flag": ({"rows": True}, ValueError, "rows=True: expected a whole number from 2 to 10"),
    "too many": ({"rows": 99}, ValueError, "rows=99: expected a whole number from 2 to 10"),
}

GAMES = {
    "Game.init": Row(GAME.init, {"key": SEED}, {"key": NEEDED_KEY}),
    "Game.step": Row(
        GAME.step, {"state": STATE, "action": 3, "key": SEED}, {"state": ONE_STATE, "action": NO_ACTION, "key": KEY}
    ),
    "Game.apply": Row(GAME.apply, {"state": STATE, "action": 3}, {"state": ONE_STATE, "action": NO_ACTION}),
    "Game.resolve": Row(
        GAME.resolve, {"state": STATE, "outcome": 0}, {"state": ONE_STATE, "outcome": whole("outcome")}
    ),
    "Game.resolve with dice": Row(
        lambda outcome: DICE.resolve(ROLLED, outcome), {"outcome": 20}, {"outcome": one_of("outcome", 20)}
    ),
    "Game.observe": Row(
        GAME.observe, {"state": STATE, "player_id": 0}, {"state": ONE_STATE, "player_id": one_of("player_id", 1)}
    ),
    "Game.state": Row(
        GAME.state,
        {"position": STATES._position, "current_player": np.array([0, 1, 1, 0])},
        {
            "position": {
                "state": (STATES, TypeError, "position a State: expected a position of connect_four, state._position"),
                "of another game": (ROLLED._position, TypeError, "expected a position of connect_four"),
                "torn": (TORN_POSITION, ValueError, "position: a part is []: expected [4]"),
            },
            "current_player": {
                "share": (1.7, ValueError, "current_player 1.7: expected one whole number"),
                "nobody": (2, ValueError, "current_player 2: expected one whole number from 0 to 1"),
                "one is nobody": (np.arange(4), ValueError, "expected whole numbers, int32[4] from 0 to 1"),
                "too few": (np.zeros(3, int), ValueError, "expected whole numbers, int32[4]"),
                "text": ("0", TypeError, "current_player '0': expected one whole number"),
            },
        },
    ),
    "Game.from_string": Row(
        GAME.from_string,
        {"text": "4453", "current_player": 1},
        {"text": {**text("position"), **OTHER_BOARD}, "current_player": setting("current_player", 0)},
    ),
    "Game.to_string": Row(GAME.to_string, {"state": STATE}, {"state": ONE_STATE}),
    "Game.action_to_string": Row(
        GAME.action_to_string, {"state": STATE, "action": 3}, {"state": ONE_STATE, "action": NAMED_ACTION}
    ),
    "Game.string_to_action": Row(
        GAME.string_to_action, {"state": STATE, "text": "4"}, {"state": ONE_STATE, "text": text("action")}
    ),
    "Game.board_text": Row(GAME.board_text, {"state": STATE}, {"state": ONE_STATE}),
    "Game.legal_turns": Row(GAME.legal_turns, {"state": STATE}, {"state": ONE_STATE}),
    "Game.turn_to_string": Row(
        GAME.turn_to_string,
        {"state": STATE, "actions": (3,)},
        {"state": ONE_STATE, "actions": {"text": ("4", TypeError, "action '4': expected a whole number")}},
    ),
    "Game.string_to_turn": Row(
        GAME.string_to_turn, {"state": STATE, "text": "4"}, {"state": ONE_STATE, "text": text("turn")}
    ),
    "Game.turn_to": Row(
        GAME.turn_to,
        {"state": STATE, "target": jax.jit(GAME.apply)(STATE, 3)._position},
        {"state": ONE_STATE},
        free=("target",),
    ),
    "Game.string_to_outcome": Row(GAME.string_to_outcome, {}, {"text": text("outcome")}, tried=False),
    "Game.outcome_to_string": Row(GAME.outcome_to_string, {"outcome": 0}, {"outcome": setting("outcome", 0)}),
    "Game.to_svg": Row(
        GAME.to_svg,
        {"state": STATES, "theme": "dark"},
        {
            "state": {name: ONE_STATE[name] for name in ("list", "None", "text", "of another game")},
            "theme": {**text("theme"), "unknown": ("blue", ValueError, "unknown theme 'blue'; available: light, dark")},
        },
    ),
    "make": Row(
        lambda game_id, options: jaxgames.make(game_id, **options),
        {"game_id": "connect_four", "options": {"rows": 5}},
        {
            "game_id": {
                **text("game"),
                "unknown": ("go", ValueError, "unknown game 'go'; available: "),
            },
            "options": OPTION,
        },
    ),
    "available_games": Row(jaxgames.available_games, {}, {}),
    "check_game": Row(
        jaxgames.check_game,
        {"game": GAME, "num_games": 4, "seed": 0, "max_actions": 5},
        {
            "game": NO_GAME,
            "num_games": {**setting("num_games"), "too few": (3, ValueError, "num_games 3 is too few; at least 4")},
            "seed": setting("seed", 0),
            "max_actions": setting("max_actions"),
        },
        tried=False,
    ),
    "random_action": Row(jaxgames.random_action, {"key": SEED, "states": STATES}, {"key": NEEDED_KEY, "states": MASK}),
    "rollout": Row(
        jaxgames.rollout,
        {
            "game": GAME,
            "states": STATES,
            "key": SEED,
            "num_steps": 3,
            "policy": jaxgames.random_action,
            "games_at_once": 4,
            "keep": lambda transition: transition.rewards,
        },
        {
            "game": NO_GAME,
            "states": STATE_BATCH,
            "key": NEEDED_KEY,
            "num_steps": setting("num_steps", 0),
            "policy": POLICY,
            "games_at_once": {
                **{kind: wrong for kind, wrong in setting("games_at_once").items() if kind != "None"},
                "no divisor": (3, ValueError, "games_at_once 3 must divide the batch of 4 games"),
            },
            "keep": function("keep"),
        },
        free=("auto_reset",),
    ),
    "save_svg_animation": Row(
        jaxgames.save_svg_animation,
        {"states": STATES, "filename": "games.svg", "theme": "light", "frame_duration_seconds": 0.2},
        {
            "states": {
                "None": (None, TypeError, "states None: expected a list of states"),
                "text": ("4453", TypeError, "states '4453': expected a list of states"),
                "array": (jnp.zeros(4), TypeError, "states float32[4]: expected a list of states"),
                "list of other things": ([STATE, 3], TypeError, "states[1] 3: expected what game.init(key) returns"),
                "one": (STATE, ValueError, "one state is no animation"),
                "none": ([], ValueError, "there are no boards to draw"),
            },
            "filename": text("filename"),
            "theme": {"text": ("blue", ValueError, "unknown theme 'blue'")},
            "frame_duration_seconds": number("frame_duration_seconds", "a number above 0", 0),
        },
        tried=False,
    ),
    **{
        count.__name__: Row(
            count,
            {"game": GAME, "depth": 1, "state": STATE, "size": 512},
            {
                "game": {"int": (5, TypeError, "game 5: expected a game or its name")},
                "depth": setting("depth", least),
                "state": without(ONE_STATE, "None"),
                "size": setting("size"),
            },
            free=("distinct", "report"),
            tried=False,
        )
        for count, least in ((perft, 0), (divide, 1), (count_positions, 0))
    },
    "auto_reset": Row(
        jaxgames.auto_reset,
        {"step": GAME.step, "init": GAME.init},
        {"step": function("step"), "init": function("init")},
        free=("with_final",),
    ),
    "auto_reset's step": Row(
        jaxgames.auto_reset(GAME.step, GAME.init),
        {"state": STATE, "action": 3, "key": SEED},
        {"state": ONE_STATE, "action": NO_ACTION, "key": KEY},
    ),
    "time_limit": Row(
        jaxgames.time_limit,
        {"step": GAME.step, "max_steps": 9},
        {"step": function("step"), "max_steps": setting("max_steps")},
    ),
}
