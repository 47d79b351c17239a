"""Challenges: games in a row without help, counted once and for good, and what somebody has scored in them."""

import time

import pytest

from jaxgames.web.kept_games import ChallengeGame, KeptGames
from jaxgames.web.seats import standing, standings
from tests.web.pages import PERSON, RANDOM, page, serving

ANN = "a" * 48
SEATS = [PERSON, RANDOM]
REFUSED = {
    "undo": {}, "redo": {}, "hint": {}, "new": {}, "swap": {}, "match": {"games": 0}, "curve": {},
    "analysis": {"on": True}, "seat": {"seat": 0, "to": RANDOM}, "load": {"text": "123"},
}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    return tmp_path / "games.db"


def scored(page_):
    return page_.ask("challenges", owner=ANN)["players"]


def test_games_of_a_challenge_are_counted_once_and_for_good(file, monkeypatch):
    monkeypatch.setattr("jaxgames.web.lobby.GAMES", 2)
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", SEATS, challenge=True, owner=ANN)
        assert [(one["spec"], one["games"], one["open"]) for one in scored(ann)] == [("random", 0, 1)]
        for kind, fields in REFUSED.items():
            assert "allows no help" in ann.refuse(kind, **fields), kind
        assert not any(ann.state["can"][name] for name in ("undo", "hint", "swap"))
        ann.do("speed", seconds=0)
        ann.do("resign")  # also before the first move
        ann.wait(lambda s: s["match"]["played"] == 1)
        assert "allows no help" in ann.refuse("new")  # between two games, too
        ann.wait(lambda s: s["over"] is None and s["to_move"] in s["you"]["seats"])
        ann.do("resign")
        ann.wait(lambda s: s["match"]["played"] == 2)
        ann.do("undo")  # the challenge is over: the last game may be played on, and counts as it did
        assert ann.wait(lambda s: s["over"] is None) and scored(ann)[0]["games"] == 2
        ann.do("resign")
        facts = {"games": 2, "open": 0, "won": 0, "lost": 2, "points": -2, "mean": -1.0}
        assert scored(ann)[0].items() >= facts.items()
        assert scored(ann)[0]["rating"]["elo"] < 0
    with serving(keep=file) as (_, http), page(http) as ann:  # it stays, though its games are deleted
        for game in ann.ask("games", owner=ANN)["games"]:
            ann.ask("forget", owner=ANN, session=game["session"], number=game["number"])
        assert scored(ann)[0]["games"] == 2
        assert ann.ask("challenges", owner="b" * 48)["players"] == []


def test_a_result_that_is_taken_back_before_the_disk_is_free_counts(file, monkeypatch):
    put = KeptGames._put
    monkeypatch.setattr(KeptGames, "_put", lambda *given: [time.sleep(0.3), put(*given)])
    monkeypatch.setattr("jaxgames.web.lobby.GAMES", 1)
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", SEATS, challenge=True, owner=ANN)
        ann.do("resign")
        ann.do("undo")
        assert ann.wait(lambda s: s["over"] is None) and scored(ann)[0]["lost"] == 1


def test_a_challenge_goes_on_after_a_restart(file):
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", SEATS, challenge=True, owner=ANN)
        ann.do("turn", text="5")
        session, token = ann.welcome["session"], ann.welcome["token"]
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.welcome = ann.ask("open", owner=ANN, session=scored(ann)[0]["goes_on"])
        assert (ann.welcome["session"], ann.welcome["token"]) == (session, token) and ann.until("state")
        assert "allows no help" in ann.refuse("hint")
        assert (ann.state["match"]["games"], scored(ann)[0]["games"], scored(ann)[0]["open"]) == (10, 0, 1)


def test_a_challenge_goes_on_with_its_newest_game(file):
    """The next game may begin after the list was asked for."""
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", SEATS, challenge=True, owner=ANN)
        ann.do("turn", text="5")  # the first game is kept with a turn of its own
        ann.do("resign")
        listed = scored(ann)[0]["goes_on"]
        ann.wait(lambda s: s["match"]["played"] == 1 and s["over"] is None)
        assert "none of your games" in ann.refuse("open", owner="b" * 48, session=listed)
        assert ann.ask("open", owner=ANN, session=listed)["session"] == listed == ann.welcome["session"]
        ann.until("state")
        assert (ann.state["match"]["played"], ann.state["over"]) == (1, None)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"seats": [PERSON, PERSON]}, "one person against one player"),
        ({"seats": [RANDOM, RANDOM]}, "one person against one player"),
        ({"seats": SEATS, "position": "X../.../..."}, "usual rules and start"),
        ({"seats": SEATS, "options": {"rows": 3}, "game": "connect_four"}, "usual rules and start"),
    ],
)
def test_what_is_no_challenge(file, fields, says):
    with serving(keep=file) as (_, http), page(http) as ann:
        assert says in ann.refuse("create", **{"game": "tic_tac_toe", "challenge": True, "owner": ANN, **fields})
        assert scored(ann) == []


def test_a_server_that_keeps_nothing_counts_nothing():
    with serving() as (_, http), page(http) as ann:
        assert "keeps no games" in ann.refuse("create", game="tic_tac_toe", seats=SEATS, challenge=True, owner=ANN)
        assert "keeps no games" in ann.refuse("challenges", owner=ANN)


def test_scores_and_ratings():
    even = standing("tic_tac_toe", "random", [1, -1, 0, None, 1, -1])
    assert (even["games"], even["open"], even["won"], even["drawn"], even["lost"]) == (5, 1, 2, 1, 2)
    assert even["mean"] == 0 and even["low"] == pytest.approx(-even["high"]) and abs(even["rating"]["elo"]) < 1e-9
    better = standing("tic_tac_toe", "random", [1, 1, 1, -1] * 10)
    assert 0 < better["low"] < better["mean"] == 0.5 < better["high"] < 1
    assert better["rating"]["elo"] == pytest.approx(186, abs=8)  # odds of 3 to 1 are 191, less for the virtual draws
    assert better["rating"]["low"] < better["rating"]["elo"] < better["rating"]["high"]
    gammons = standing("backgammon", "pubeval", [2, -1, 1, 3])
    assert gammons["points"] == 5 and gammons["low"] < 1.25 < gammons["high"]
    assert standing("backgammon", "pubeval", [2, 2])["low"] is None
    rows = [("checkers", "a", 1, 10), ("go", "a", 1, 1), ("checkers", "b", None, 2), ("checkers", "a", 0, 9)]
    games = [ChallengeGame("s", number, ANN, game, spec, points) for game, spec, points, number in rows]
    found = [(one["spec"], one["games"], one["open"], one["goes_on"]) for one in standings(games)]
    assert found == [("a", 2, 0, None), ("b", 0, 1, "s")]
    assert standings(games[3:])[0]["goes_on"] == "s"  # left before the tenth had begun
