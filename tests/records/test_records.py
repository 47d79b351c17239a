"""Game records: what is written is read again, other programs' files are read, broken files are pointed at."""

import dataclasses
import errno
import json
import os
import time
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import records
from jaxgames.envs import registry
from jaxgames.sessions.session import Session
from tests.algos.small_games import Heap, Nim

START = "4HPwATDgc/ABMA"
FORMATS = [
    ("tic_tac_toe", {}, "txt"),
    ("connect_four", {}, "txt"),
    ("connect_four", {"rows": 5, "cols": 4, "connect": 3}, "txt"),
    ("checkers", {}, "pdn"),
    ("checkers", {"draw_after": 10, "max_moves": 200}, "pdn"),
    ("backgammon", {}, "mat"),
    ("backgammon", {}, "sgf"),
    ("backgammon", {}, "json"),
    ("checkers", {"draw_after": 10}, "json"),
    ("connect_four", {"cols": 8}, "json"),
]


def played(name, options, seed, turns, start=None, names=("Ada", "Bob [2]")):
    """A game of so many random turns, resigned if it is not over then and `turns` is odd."""
    session, random = Session(jaxgames.make(name, **options), start, seed), np.random.default_rng(seed)
    while not session.over and len(session.turns) < turns:
        legal = session.game.legal_turns(session.state)
        session.play(legal[random.integers(len(legal))])
    if turns % 2 and not session.over:
        session.resign(points=session.game.max_reward)
    return session.record(names)


def ended(name, start, *turns, points=None, reason="", names=("Ada", "Bob"), options=None, tags=None):
    """A record of these turns, with a result by a word."""
    session = Session(jaxgames.make(name, **(options or {})), start, rolls=False)
    for turn in turns:
        session.play(turn)
    record = session.record(names, tags)
    return record if session.end else dataclasses.replace(record, points=points, reason=reason)


def same(one, other):
    """Equal but for where the first roll stands: in the start position or before the first turn."""

    def plain(record):
        start, _, roll = record.start.partition(":") if record.game == "backgammon" else (record.start, "", "")
        rolls = (
            [record.turns[0].chance or roll[:2], *(turn.chance for turn in record.turns[1:])] if record.turns else []
        )
        texts = [turn.text for turn in record.turns]
        fields = (record.game, dict(record.options), record.points, record.players, dict(record.tags))
        return start, rolls, texts, fields

    return plain(one) == plain(other)


@pytest.mark.parametrize(("name", "options", "form"), FORMATS)
def test_what_is_written_is_read_again(name, options, form, tmp_path):
    games = [played(name, options, seed, turns) for seed, turns in ((1, 300), (2, 9), (3, 6), (4, 0))]
    if form == "mat":
        games = games[:3]  # nothing tells a game without turns from a heading
    path = tmp_path / f"games.{form}"
    records.save(path, games)
    found = records.load(path, name)
    assert len(found) == len(games)
    for one, other in zip(games, found, strict=True):
        assert same(one, other), (one, other)
        assert one.reason == other.reason
    assert any(game.points for game in games) and any(game.points is None for game in games)


@pytest.mark.parametrize(
    ("name", "form", "start"),
    [
        ("backgammon", "sgf", "sGfwATDgc/ABMA:52"),
        ("backgammon", "json", "m+0EABWHPUECRg:21"),
        ("checkers", "pdn", "W:W18,24,K30:B5,9,K12"),
        ("connect_four", "txt", "4453"),
        ("tic_tac_toe", "txt", "X../.O./..."),
    ],
)
def test_games_from_other_starts(name, form, start):
    for turns in (3, 4):
        games = [played(name, {}, 5, turns, start), played(name, {}, 5, turns)]
        for game, found in zip(games, records.loads(records.dumps(games, form), form), strict=True):
            assert same(game, found), (game, found)


def test_names_and_results_of_pdn_are_those_of_the_colours():
    """Whoever moves first in the start position: other programs read the names and the result by colour."""
    for start, black, result in ((None, "Ada", "1-0"), ("W:W18:B9,1", "Bob", "0-1")):
        text = records.dumps([ended("checkers", start, points=1.0, reason="resigned")], "pdn")
        assert f'[Black "{black}"]' in text and f'[Result "{result}"]' in text, text
    reasons = [game.reason for game in records.loads("1. 11-15 1/2-1/2 1. 11-15 1-0", "pdn")]
    assert reasons == ["draw agreed", "resigned"]


def test_a_match_in_which_the_right_player_begins():
    text = """ ; [Site "somewhere"]
 7 point match

 Game 1
 alice : 0                            bob : 0
  1)                                  31: 8/5 6/5
  2) 62: 24/18 13/11                  41: 24/23 13/9
                                      Wins 2 points

 Game 2
 alice : 0                            bob : 2
  1) 43: 24/20 13/10                  11: 8/7(2) 6/5(2)
      Wins 1 point and the match
"""
    first, second = records.loads(text, "mat")
    assert first.players == ("bob", "alice") and first.points == 2 and first.reason == "resigned"
    assert [turn.text for turn in first.turns] == ["8/5 6/5", "24/18 13/11", "24/23 13/9"]
    assert second.players == ("alice", "bob") and second.points == 1 and second.turns[1].chance == "11"


def test_sgf_of_gnubg_with_variations_and_comments():
    text = (
        "(;FF[4]GM[6]AP[GNU Backgammon:1.07]PW[gnubg]PB[me \\] you]RE[B+1R]\n"
        ";B[31qtst]C[a \\] comment];W[62xrmk](;B[65lrlq])(;B[11qrqrstst]))"
    )
    (game,) = records.loads(text, "sgf")
    assert game.players == ("me ] you", "gnubg") and game.points == 1.0
    assert [(turn.chance, turn.text) for turn in game.turns][:2] == [("31", "8/5 6/5"), ("62", "24/18 13/11")]
    assert len(game.turns) == 3 and game.turns[2].chance == "65"


def test_a_draw_of_checkers_that_went_on_longer_than_our_rule():
    moves = ["1-5", "32-28", "5-1", "28-32"] * 30
    text = '[SetUp "1"]\n[FEN "B:WK32:BK1"]\n' + " ".join(moves) + " 1/2-1/2\n"
    (game,) = records.loads(text, "pdn")
    assert len(game.turns) == 120 and game.points == 0 and game.options == {"draw_after": 120}


def test_a_game_that_went_on_after_our_draw_and_then_captured():
    moves = ["1-5", "32-28", "5-1", "28-32"] * 25 + ["1-6", "32-27", "6-10", "27-23", "10-15", "23-18", "15x22"]
    text = '[SetUp "1"]\n[FEN "B:WK32:BK1"]\n' + " ".join(moves) + " 1-0\n"
    (game,) = records.loads(text, "pdn")
    assert len(game.turns) == 107 and game.points == 1 and game.options == {"draw_after": 107}


ROLL = START + ":31"
TURN = "8/5 6/5"


@pytest.mark.parametrize(
    ("form", "game"),
    [
        ("sgf", partial(ended, "backgammon", ROLL, TURN, points=0.0, reason="draw agreed")),
        ("sgf", partial(ended, "backgammon", ROLL, TURN, points=2.0, reason="time forfeit")),
        ("sgf", partial(ended, "backgammon", ROLL, TURN, points=-3.0, reason="forfeit")),
        ("sgf", partial(ended, "backgammon", START + ":4444", "24/20(2) 13/9(2)")),
        ("mat", partial(ended, "backgammon", START + ":4444", "24/20(2) 13/9(2)")),
        ("pdn", partial(ended, "checkers", None, "11-15", options={"max_moves": 3})),
        ("pdn", partial(ended, "checkers", None, "11-15", "22-17", "15-19", options={"max_moves": 3})),
        ("pdn", partial(ended, "checkers", None, "11-15", reason="adjourned", tags={"Event": "Open"})),
        ("txt", partial(ended, "connect_four", None, "4", points=0.0, reason="both gone")),
        ("txt", partial(ended, "connect_four", None, "4", reason="adjourned")),
        ("txt", partial(ended, "connect_four", None, "4", points=-1.0, reason="lost on time")),
    ],
)
def test_how_a_game_ended_is_read_again(form, game):
    game = game()
    (found,) = records.loads(records.dumps([game], form), form)
    assert same(game, found) and found.reason == game.reason, (game, found)


@pytest.mark.parametrize(
    ("said", "reason"), [({}, ""), ({"points": 1}, "resigned"), ({"points": 1, "reason": "time"}, "time")]
)
def test_json_of_a_game_that_was_given_up(said, reason):
    line = {"game": "tic_tac_toe", "start": ".../.../...", "turns": ["1", "4"], **said}
    (game,) = records.loads(json.dumps(line), "json")
    assert (game.points, game.reason) == (said.get("points"), reason)


@pytest.mark.parametrize("form", ["json", "txt"])
def test_a_game_that_is_over_has_its_result(form):
    game = ended("connect_four", None, *"1212121")
    text = "\ufeff" + records.dumps(iter([dataclasses.replace(game, points=None)]), form)  # as Windows writes it
    (found,) = records.loads(text, form)
    assert found == game and game.points == 1


@pytest.mark.parametrize(
    ("said", "points", "reason"),
    [
        ("0", 0, "draw agreed"),
        ("Draw", 0, "draw agreed"),
        ("B+", -1, "resigned"),
        ("B+R", -1, "resigned"),
        ("W+F", 1, "forfeit"),
        ("B+2T", -2, "time forfeit"),
        ("?", None, ""),
    ],
)
def test_results_of_sgf(said, points, reason):
    (game,) = records.loads(f"(;GM[6]PW[a\\\nb]RE[{said}];W[31hefe])", "sgf")
    assert (game.points, game.reason, game.players[0]) == (points, reason, "ab")


def test_the_score_of_two_players_of_one_name():
    games = [ended("backgammon", ROLL, TURN, points=points, names=("td", "td")) for points in (2.0, 1.0, -3.0, 1.0)]
    games.append(ended("backgammon", ROLL, TURN, points=1.0, names=("Bob", "td")))
    heads = [line.split() for line in records.dumps(games, "mat").splitlines() if " td : " in line]
    assert [[head[2], head[-1]] for head in heads] == [["0", "0"], ["2", "0"], ["3", "0"], ["3", "3"], ["0", "4"]]


@pytest.mark.parametrize(
    ("name", "form", "names"),
    [
        ("backgammon", "mat", ("runs/" + "a-very-long-name-of-a-training" * 3, "Bob")),
        ("connect_four", "txt", ("Ada", "")),
        ("connect_four", "txt", ("", "")),
        ("connect_four", "txt", ("", "Bob")),
    ],
)
def test_long_names_and_empty_ones_are_read_again(name, form, names):
    (found,) = records.loads(records.dumps([played(name, {}, 1, 3, names=names)], form), form)
    assert found.players == names


@pytest.mark.parametrize(
    ("form", "text", "place", "reason"),
    [
        ("pdn", "1. 11-15 22-18\n2. 16-20 *", "line 2, column 4", "no piece"),
        ("txt", "# game connect_four\n44444441 *", "line 2, column 7", "full"),
        ("txt", "4x", "line 1, column 2", "column"),
        ("txt", "44 1-1", "line 1, column 4", "no result"),
        ("txt", "1212121 0-1", "line 1, column 9", "ends 1-0"),
        ("txt", "# game chess\n1", "line 1, column 1", "no game"),
        ("mat", " a : 0   b : 0\n  1) 31: 8/5 6/4", "line 2, column 6", "6/4"),
        ("mat", " a : 0   b : 0\n  1) 31: 8/5 6/5  Doubles => 2", "line 2, column 6", "understood"),
        ("mat", " a : 0   b : 0\n  1) Doubles => 2", "line 2, column 5", "cube"),
        ("mat", " a : 0   b : 0\n nonsense", "line 2, column 1", "nonsense"),
        ("mat", "  1) 31: 8/5 6/5", "line 1, column 1", "names"),
        ("sgf", "(;GM[6]\n;W[31hewx])", "line 2, column 2", "lower"),
        ("sgf", "(;GM[6]\n;W[double])", "line 2, column 2", "cube"),
        ("sgf", "(;GM[6];W[31hefe]\n;W[31hefe])", "line 2, column 2", "other player"),
        ("sgf", "(;GM[1];B[aa])", "line 1, column 3", "GM"),
        ("sgf", "(;GM[6];W[31hefe]", "line 1, column 18", "missing"),
        ("sgf", "(;GM[6]\n;W)", "line 2, column 2", "W has no value"),
        ("sgf", "(;FF[4]GM)", "line 1, column 8", "GM has no value"),
        ("sgf", "(;GM[6]PL[nobody])", "line 1, column 8", "'nobody' is nobody to move"),
        ("sgf", "(;GM[6]PL[])", "line 1, column 8", "'' is nobody to move"),
        ("sgf", "(;GM[6];W[31hefe]\n;AE[a:y]AW[a]PL[B])", "line 2, column 2", "middle of a game"),
        ("sgf", "(;GM[6]RE[0];W[31hefe])(;GM[6]RE[W+2]AE[a:y]AW[a]AB[x];W[31az])", "line 1, column 31", "with 1 p"),
        ("pdn", '1. 11-15 *\n[DrawAfter "0"]\n1. 11-15 *', "line 2, column 1", "draw_after=0: expected a whole"),
        ("pdn", '[MaxMoves "1234567890"]\n1. 11-15 *', "line 1, column 1", "MaxMoves is '1234567890'; expected"),
        (
            "json",
            '{"game": "tic_tac_toe", "start": "", "turns": [], "options": {"game_id": 1}}',
            "line 1",
            "unknown op",
        ),
        ("json", '{"game": "tic_tac_toe"\n "start"', "line 2, column 2", "JSON"),
        ("json", '\n{"game": "tic_tac_toe", "start": ".../.../...", "turns": ["1", "1"]}', "line 2", "turn 2"),
        ("json", '{"game": "chess", "start": "", "turns": []}', "line 1", "unknown game"),
        ("json", '{"game": "checkers", "start": 3, "turns": []}', "line 1", "start"),
        ("json", "[1]", "line 1", "object"),
        ("json", '{"game": "connect_four", "start": "", "turns": [], "points": NaN}', "line 1", "points are nan"),
        ("json", '{"game": "connect_four", "start": "", "turns": [], "points": -3}', "line 1", "worth at most 1"),
        ("json", f'{{"game": "checkers", "start": "", "turns": [], "points": {10**400}}}', "line 1", "worth at"),
        ("json", '{"game": "connect_four", "start": "", "turns": [], "tags": {"Round": 3}}', "line 1", "are texts"),
    ],
)
def test_a_broken_file_is_pointed_at(form, text, place, reason, tmp_path):
    path = tmp_path / f"broken.{form}"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason) as error:
        records.load(path)
    assert str(error.value).startswith(f"{path}, {place}") and "\n" not in str(error.value)


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    path, game = tmp_path / "games.json", played("tic_tac_toe", {}, 1, 3)
    records.save(path, [game])
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as error:
        records.save(path, [game, game])
    assert error.value.filename == str(path)
    assert records.load(path) == [game] and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("form", "game", "reason"),
    [
        ("mat", partial(ended, "backgammon", ROLL, TURN, points=0.0, reason="draw agreed"), "MAT knows wins of 1 to 3"),
        ("mat", partial(ended, "backgammon", ROLL, TURN, points=0.5), "0.5 points; MAT knows wins of 1 to 3"),
        ("sgf", partial(ended, "backgammon", ROLL, TURN, points=0.5), "SGF cannot say that a game has 0.5 points"),
        (
            "pdn",
            partial(ended, "checkers", None, "11-15", points=0.5),
            r"\+0.5 points cannot be written here, only 1-0, 0-1",
        ),
        (
            "txt",
            partial(ended, "connect_four", None, "4", points=2.0),
            r"\+2 points cannot be written here, only 1-0, 0-1",
        ),
        (
            "mat",
            partial(ended, "backgammon", START + ":44", "24/20 13/9"),
            "game 1 begins at .*:44; MAT begins at .*: save it as JSON",
        ),
        ("sgf", partial(ended, "backgammon", START + ":444", "24/20 13/9(2)"), "SGF cannot say that some dice .*:444"),
        (
            "mat",
            partial(ended, "backgammon", ROLL, TURN, names=("Wins 3 points", "Bob")),
            "'Wins 3 points' and 'Bob' must be",
        ),
        ("mat", partial(ended, "backgammon", ROLL, TURN, names=("a : 0  b", "Bob")), "must be texts of one line"),
        ("mat", partial(ended, "backgammon", ROLL, TURN, names=("x" * 990, "Bob")), "must be texts of one line"),
        ("mat", partial(ended, "backgammon", ROLL, TURN, names=("a\rb", "Bob")), "must be texts of one line"),
        *(
            ("txt", partial(ended, "connect_four", None, "4", names=(f"a{end}b", "Bob")), "must be a text of one line")
            for end in "\n\r\x85\u2028"
        ),
        ("txt", partial(ended, "connect_four", None, "4", names=("a|b", "Bob")), "one line without"),
        (
            "txt",
            partial(ended, "connect_four", None, "4", reason="lost\non time"),
            "the reason .* must be a text of one line",
        ),
    ],
)
def test_a_record_that_could_not_be_read_again_is_not_written(form, game, reason):
    with pytest.raises(ValueError, match=reason) as error:
        records.dumps([game()], form)
    assert "\n" not in str(error.value)


def test_what_a_format_cannot_say_is_refused():
    game = played("backgammon", {}, 1, 3, "sGfwATDgc/ABMA:52")
    with pytest.raises(ValueError, match="SGF or JSON"):
        records.dumps([game], "mat")
    with pytest.raises(ValueError, match="names .* of one line"):
        records.dumps([played("backgammon", {}, 1, 3, names=("Ada\nof London", "Bob"))], "mat")
    with pytest.raises(ValueError, match="hold games of checkers"):
        records.dumps([game], "pdn")
    with pytest.raises(ValueError, match=r"end in \.mat or \.sgf or \.json"):
        records.format_for("game.pdn", "backgammon")
    for call in (lambda: records.loads("", "gif"), lambda: records.dumps([], "gif")):
        with pytest.raises(ValueError, match="^format 'gif': expected one of pdn, mat, sgf, txt, json$"):
            call()


@pytest.mark.parametrize(
    ("form", "begins", "piece"),
    [
        ("mat", "0 point match", " "),
        ("mat", "", "a : 0  b "),
        ("mat", "", " \n"),
        ("mat", " a : 0  b : 0\n 1) ", "11:"),
        ("sgf", "(;GM[6]", " "),
        ("sgf", "(;GM[6]()", "(()"),
        ("sgf", "(;GM[6]", "AW[a]"),
        ("sgf", "(;GM[6]C[", "\\]"),
        ("pdn", "1. ", "1 "),
        ("pdn", "1. ", "1-"),
        ("pdn", "[", " "),
        ("pdn", '[A "', "\\"),
        ("pdn", "", "1"),
        ("txt", "# game connect_four", " a=1"),
        ("txt", "# ", " "),
        ("txt", "", "1"),
        ("json", "", " "),
        ("json", "", "["),
        ("json", "", "1"),
        ("json", "", '{"a":'),
    ],
)
def test_four_times_the_text_takes_no_more_than_four_times_as_long(form, begins, piece):
    def seconds(size):
        text, took = begins + piece * (size // len(piece)), []
        for _ in range(3):
            begun = time.thread_time()
            try:
                records.loads(text, form)
            except ValueError as error:
                assert "\n" not in str(error) and "Exceeds the limit" not in str(error)
            took.append(time.thread_time() - begun)
        return min(took)

    assert seconds(32_000) < 8 * seconds(8_000) + 0.02  # a square would be 16 times, and a second for most of these


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{"game": "tic_tac_toe", "start": ".../.../...", "turns": ["1"]}\n' * 3),
        ("txt", "# game tic_tac_toe\n1\n2\n3\n"),
        ("pdn", "1. 11-15 *\n" * 3),
        ("sgf", "(;GM[6])" * 3),
        ("mat", " a : 0  b : 0\n" * 3),
    ],
)
def test_whoever_reads_may_bound_the_games_before_they_are_played(form, text):
    asked = []

    def two(game, options):
        asked.append((game, options))
        if len(asked) > 2:
            raise ValueError("two are enough")

    with pytest.raises(ValueError, match="two are enough"):
        records.loads(text, form, two)
    assert len(asked) == 3 and len({game for game, _ in asked}) == 1


def test_options_that_are_tuples_come_back_as_such(tmp_path, monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Heaps(Nim):
        heaps: tuple[int, ...] = (3, 4)

        def parse(self, text):
            return Heap(jnp.int32(text))

        def unparse(self, position):
            return str(position.left)

    monkeypatch.setitem(registry.GAMES, "nim", Heaps)
    session = Session(Heaps((2, 2)), "4")
    session.play("0")
    records.save(tmp_path / "a.json", [session.record()])
    assert records.load(tmp_path / "a.json", "nim") == [session.record()]
