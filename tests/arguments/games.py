"""Wrong arguments of the functions of games."""

from tests.arguments.kinds import (
    GAME,
    KEY,
    NEEDED_KEY,
    ONE_STATE,
    SEED,
    STATE,
    Row,
    whole,
)

NO_ACTION = {**whole("action"), "None": (None, TypeError, "action None: expected one whole number")}
OF_DICE = {name: wrong for name, wrong in ONE_STATE.items() if "another" not in name and name != "too few"}

GAMES = {
    "Game.init": Row(GAME.init, {"key": SEED}, {"key": NEEDED_KEY}),
    "Game.step": Row(
        GAME.step, {"state": STATE, "action": 3, "key": SEED}, {"state": ONE_STATE, "action": NO_ACTION, "key": KEY}
    ),
    "Game.apply": Row(GAME.apply, {"state": STATE, "action": 3}, {"state": ONE_STATE, "action": NO_ACTION}),
    "Game.resolve": Row(
        GAME.resolve, {"state": STATE, "outcome": 0}, {"state": ONE_STATE, "outcome": whole("outcome")}
    ),
    "Game.observe": Row(
        GAME.observe, {"state": STATE, "player_id": 0}, {"state": ONE_STATE, "player_id": whole("player_id")}
    ),
}
