"""Players by their names, wherever one is asked for."""

import pytest

import jaxgames
from jaxgames import players
from jaxgames.envs.testing.perft import perft
from jaxgames.matches import every_line, knockout, match
from jaxgames.players import as_players, available_players, make
from jaxgames.sessions import Session
from tests.players.dash import GAME

TTT = jaxgames.make("tic_tac_toe")
RANDOM = make("random", TTT)
BACKGAMMON = jaxgames.make("backgammon")


def test_names_stand_for_games_and_players():
    assert make("random", "tic_tac_toe") == RANDOM
    assert available_players("tic_tac_toe") == available_players(TTT)
    assert perft("tic_tac_toe", 1) == [1, 9]
    assert as_players("random", RANDOM) == as_players("random", "random", game="tic_tac_toe") == (RANDOM, RANDOM)
    assert [player.game.id for player in as_players("pubeval", "random")] == ["backgammon"] * 2
    assert match("random", RANDOM, 8).to_dict()["a"] == "random"
    assert Session("tic_tac_toe", players=["random", None]).seats == [RANDOM, None]
    assert match("random", "random", games=8, game="tic_tac_toe").game == "tic_tac_toe"


REFUSED = {
    "swapped": (lambda: make("connect_four", "random"), "player comes first, .* make.'random', 'connect_four'"),
    "swapped game": (lambda: make(TTT, "random"), "player comes first, .* make.'random', 'tic_tac_toe'"),
    "no game": (lambda: make("random", 3), "game 3: expected a game or its name, such as 'connect_four'"),
    "a class": (lambda: make("random", type(TTT)), "game TicTacToe itself, uncalled: expected a game or its name"),
    "unknown game": (lambda: make("random", "chekers"), "unknown game 'chekers'; available: tic_tac_toe"),
    "a player": (lambda: make(RANDOM, TTT), "player a Player: expected a text, such as 'random'"),
    "nothing names a game": (lambda: match("uct:50", "random", 10), "no game is named for 'uct:50', 'random': say wh"),
    "no player": (lambda: match(RANDOM, 3, 10), "player 3: expected a player or its name, such as 'random'"),
    "a game as player": (lambda: match(RANDOM, TTT, 10), "player a TicTacToe: expected a player or its name"),
    "another game": (lambda: match(RANDOM, "random", 10, game="checkers"), "random plays tic_tac_toe, the game is che"),
    "games as text": (lambda: match(RANDOM, RANDOM, "10"), "games '10': expected a whole number"),
    "half a game": (lambda: match(RANDOM, RANDOM, 1.5), "games 1.5: expected a whole number"),
    "a knock-out of names": (lambda: knockout(["random", "random"]), "no game is named for 'random', 'random': say wh"),
    "lines of a name": (lambda: every_line("random"), "no game is named for 'random': say which"),
    "lines of random": (lambda: every_line("random", game="tic_tac_toe"), "random draws its turns"),
    "a session of nothing": (lambda: Session(3), "game 3: expected a game or its name"),
    "perft": (lambda: perft("checkers", 1, TTT.from_string(".../.../...")), "is of tic_tac_toe, this game is checkers"),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_what_names_nothing(call, words):
    with pytest.raises((TypeError, ValueError), match=words) as refused:
        call()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gnu", "unknown player 'gnu'; expected the folder of a training, or one of: random, pubeval, simple:1, "),
        ("", "unknown player ''; "),
        ("a" * 5000, "unknown player 'aaa"),
        ("runs/none-here", "unknown player 'runs/none-here'; expected the folder of a training"),
        ("simple", "simple players are simple:1, simple:2 and simple:3, not 'simple'"),
        ("simple:4", "simple players are simple:1, simple:2 and simple:3, not 'simple:4'"),
        ("simple:", "simple players are simple:1, simple:2 and simple:3, not 'simple:'"),
        ("random:2", "random has no options: write random, not 'random:2'"),
        ("pubeval:", "pubeval has no options: write pubeval, not 'pubeval:'"),
    ],
)
def test_specs_that_name_nobody(spec, message):
    with pytest.raises(ValueError) as error:
        players.make(spec, BACKGAMMON)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["pubeval", "simple:3"])
def test_players_of_another_game(spec):
    with pytest.raises(ValueError, match=f"{spec.partition(':')[0]} plays backgammon, not dash"):
        players.make(spec, GAME)
