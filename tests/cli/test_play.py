"""`jaxgames play` by a pipe: moves in the notation of games, undo, hints, files; errors are one line, no more."""

import io
import json
import re
import sys

import pytest

import jaxgames
from jaxgames.cli import main
from jaxgames.cli.terminal import TerminalGame
from jaxgames.players import make
from jaxgames.sessions.session import Session

PERFECT = "alphabeta:9,ties=first"


@pytest.fixture
def play(monkeypatch, capsys):
    def run(lines, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        status = main(["play", *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_a_script_plays_a_whole_game(play):
    status, out, err = play("1 4 2 5 3".split(), "tic_tac_toe", "--against", "person")
    assert (status, err) == (0, "") and "\x1b" not in out
    assert out.rstrip().endswith("first wins: the person") and out.count("---+---+---") == 2 * 6
    assert " X | X | X " in out


def test_every_game_takes_its_own_notation(play):
    for game, moves, shown in (
        ("backgammon", ["8/5 6/5"], "4HPwATDgc/ABMA:31"),
        ("checkers", ["11-15", "24-20", "8-11"], None),
        ("connect_four", ["4", "4", "5"], "445"),
    ):
        start = ["--from", shown] if shown else []
        record = json.loads(play(moves, game, "--against", "person", "--json", "--seed", "1", *start)[1])
        texts = [turn if isinstance(turn, str) else turn[1] for turn in record["turns"]]
        assert texts == moves and record["points"] is None and record["game"] == game
    status, out, _ = play(
        ["6/3", "22x15x8", "help"], "backgammon", "--against", "person", "--from", "4HPwATDgc/ABMA:31"
    )
    errors = [line for line in out.splitlines() if line.startswith("error:")]
    assert status == 0 and len(errors) == 2 and "undo" in out


def test_a_player_answers_and_undo_takes_back_both(play):
    lines = ["1", "undo", "5", "moves", "position", "quit", "9"]
    _, out, _ = play(lines, "tic_tac_toe", "--against", PERFECT, "--seed", "3")
    assert sys.stdin.read() == "9\n"
    answers = [line for line in out.splitlines() if line.startswith(PERFECT)]
    assert len(answers) == 2 and all("(second): " in line for line in answers)
    position = next(line for line in out.splitlines() if len(line) == 11 and line.count("/") == 2)
    assert position.count("X") == position.count("O") == 1 and position[5] == "X"
    _, out, _ = play(["quit"], "tic_tac_toe", "--against", PERFECT, "--seat", "second")
    assert f"{PERFECT} (first): " in out


def test_hints_and_resigning(play):
    _, out, _ = play(["hint", "resign"], "tic_tac_toe", "--against", PERFECT, "--from", "XX./OO./...")
    assert f"{PERFECT} would play 3" in out and f"second wins: {PERFECT} (resigned)" in out
    _, out, _ = play(["hint"], "tic_tac_toe", "--against", "person")
    assert "error: nobody" in out
    _, out, _ = play(["resign 4", "resign 2"], "backgammon", "--against", "person")
    assert "error: a game of backgammon is worth 1 to 3" in out and "second wins 2 points" in out


def test_files_are_saved_and_gone_on_with(play, tmp_path):
    file = tmp_path / "game.txt"
    _, out, _ = play(["1", "2", f"save {file}", "save", "save x.pdn"], "tic_tac_toe", "--against", "person")
    assert f"saved {file}" in out and out.count("error:") == 2
    _, out, _ = play([f"load {file}", "3", "undo", "undo", "redo", "position"], "tic_tac_toe", "--against", "person")
    assert out.rstrip().splitlines()[-1] == "XO./.../..."
    file.write_text("# game tic_tac_toe\n11 *\n")
    _, out, _ = play([f"load {file}"], "tic_tac_toe", "--against", "person")
    assert "line 2, column 2" in out and out.count("error:") == 1


def test_sides_and_colours():
    game = jaxgames.make("tic_tac_toe")
    said = []
    table = TerminalGame(Session(game, "XO./.../...", players=(None, make(PERFECT, game))), said.append, colour=True)
    table.go_on()
    assert "\x1b[1;33mX\x1b[0m" in said[0] and "\x1b[7" not in said[0] and table.prompt == "your move> "
    table.take("swap")
    assert said[1].startswith(f"{PERFECT} (first)") and table.session.seat == 1
    assert said[2].count("\x1b[7") == 1 and "\x1b[7;1;33mX\x1b[0m" in said[2]  # the last move, in reverse


@pytest.mark.parametrize(
    ("game", "start", "turn", "marked"),
    [
        ("tic_tac_toe", None, "5", [" 4 |[X]| 6"]),
        ("connect_four", "44", "1", ["[X]. . X"]),
        ("checkers", "B:W18:B15,1", "15x22", ["[.]  .   |  13", "[.]  .   . |  17", ".  [b]  .   .   |  21"]),
        ("backgammon", "4HPwATDgc/ABMA:31", "8/5 6/5", ["|[ ] ", "[ ]   |", "X [X]", "X [X]"]),
    ],
)
def test_the_last_move_is_marked_without_colours_too(game, start, turn, marked):
    said, session = [], Session(game, start)
    table = TerminalGame(session, said.append, colour=False, width=80)
    table.take("board")
    table.take(turn)
    assert "[" not in said[0]
    lines = [line for line in said[1].splitlines() if "[" in line]
    assert len(lines) == len(marked) and all(map(str.__contains__, lines, marked)), lines
    assert [line.translate({91: 32, 93: 32})[1:] for line in said[1].splitlines()] == session.game.board_text(
        session.state
    ).splitlines()


def test_lines_end_between_words():
    said = []
    table = TerminalGame(Session("backgammon", "4HPwATDgc/ABMA:31"), said.append, colour=False, width=40)
    table.take("moves")
    table.take("help")
    table.take("21/1")
    lines = "\n".join(said).splitlines()
    assert max(map(len, lines)) <= 40
    assert set(", ".join(said[0].splitlines()).replace(",,", ",").split(", ")) == set(table.session.legal_turns())


@pytest.fixture
def at_a_terminal(monkeypatch, tmp_path):
    """`jaxgames play` by somebody who types these lines; an exception is a key such as Ctrl-C."""

    def run(lines, *arguments):
        typed = iter(lines)

        def read(prompt):
            line = next(typed, EOFError)
            if isinstance(line, str):
                return line
            raise line

        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", read)
        return main(["play", *arguments])

    return run


def test_ctrl_c_asks_and_keeps_the_game(at_a_terminal, capsys):
    person = ("checkers", "--against", "person")
    lines = ["11-15", KeyboardInterrupt, "no", "22-18", KeyboardInterrupt, "yes", "never read"]
    assert at_a_terminal(lines, *person) == 130
    assert "the game is kept" in capsys.readouterr().out
    assert at_a_terminal(["load", "15x22", KeyboardInterrupt, KeyboardInterrupt], *person) == 130
    capsys.readouterr()
    assert at_a_terminal(["load", "moves", "resign"], *person) == 0
    out = capsys.readouterr().out
    assert "26x17, 25x18" in out and "first wins" in out and "kept" not in out  # it has ended


def test_a_kept_game_goes_on_with_its_dice_and_sides_and_is_kept_no_more_at_its_end(at_a_terminal, capsys, tmp_path):
    start, first = "4HPwATDgc/ABMA:31", "8/5 6/5"
    session = Session("backgammon", start, seed=1)
    session.play(first)
    second, file = next(iter(session.legal_turns())), tmp_path / "game.json"
    positions = [jaxgames.make("backgammon").to_string(session.state)]
    session.play(second)
    positions += [jaxgames.make("backgammon").to_string(session.state)]
    game = ("backgammon", "--against", "person")
    lines = [first, f"save {file}", f"load {file}", "position", KeyboardInterrupt, "yes"]
    at_a_terminal(lines, *game, "--from", start, "--seed", "1")
    assert positions[0] in capsys.readouterr().out.splitlines()  # the same roll
    at_a_terminal(["load", "position", second, "position"], *game, "--seed", "2")
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.count(":") == 1 and "/" in line and line in positions] == positions
    game = ("tic_tac_toe", "--against", PERFECT)
    at_a_terminal(["5", "2", "quit"], *game, "--seat", "second")
    at_a_terminal(["load", "resign", "load"], *game)
    out = capsys.readouterr().out
    assert f"first wins: {PERFECT} (resigned)" in out and out.rstrip().endswith("error: write: load FILE")


def test_files_that_cannot_be_are_said_in_words_and_records_have_dates(play, tmp_path):
    (tmp_path / "folder.pdn").mkdir()
    lines = ["11-15", f"save {tmp_path}/no/a.pdn", f"save {tmp_path}/folder.pdn", f"load {tmp_path}/b.pdn", "load"]
    lines += ["save ~nobody-of-this-name/a.pdn", "load ~nobody-of-this-name/a.pdn"]
    file = tmp_path / "a.pdn"
    _, out, _ = play([*lines, f"save {file}"], "checkers", "--against", "person")
    errors = [line for line in out.splitlines() if line.startswith("error")]
    assert errors == [
        f"error: there is no folder {tmp_path}/no: make it first, or name another one",
        f"error: {tmp_path}/folder.pdn: Is a directory; expected a file",
        f"error: there is no file {tmp_path}/b.pdn",
        "error: write: load FILE",
        "error: there is no folder ~nobody-of-this-name: make it first, or name another one",
        "error: there is no file ~nobody-of-this-name/a.pdn",
    ]
    assert re.search(r'\[Date "20[0-9]{2}\.[01][0-9]\.[0-3][0-9]"\]', file.read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess"], "unknown game"),
        (["tic_tac_toe", "--against", "nobody"], "unknown player"),
        (["tic_tac_toe", "--from", "XXX/OO./..."], "the game is over"),
        (["tic_tac_toe", "--from", "XX"], "ends after 2 characters"),
        (["connect_four", "--set", "rows=99", "--against", "random"], "rows=99"),
        (["checkers", "--set", "draw=x"], "unknown option 'draw' of checkers; available: "),
    ],
)
def test_bad_input_gets_one_line(play, arguments, message):
    status, out, err = play([], *arguments)
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1


def test_a_match_goes_on_until_one_side_has_the_points(play, tmp_path):
    """Two people at tic-tac-toe: they begin in turn, drawn games count for nobody, sides stay."""
    won, drawn = "1 4 2 5 3".split(), "1 2 3 5 4 7 6 9 8".split()
    file = tmp_path / "match.json"
    lines = [*won, *drawn, *won, "swap", "1", "resign", f"save {file}", *won, "undo"]
    status, out, _ = play(lines, "tic_tac_toe", "--against", "person", "--points", "3")
    said = [line for line in out.splitlines() if line.startswith(("game ", "person", "error"))]
    assert status == 0 and said == [
        "person 1 1, person 2 0, to 3 points",
        "game 2: person 2 begins",
        "person 1 1, person 2 0, to 3 points",
        "game 3: person 1 begins",
        "person 1 2, person 2 0, to 3 points",
        "game 4: person 2 begins",
        "error: in a match sides are not changed",
        "person 1 2, person 2 1, to 3 points",
        "game 5: person 1 begins",
        "person 1 wins the match: person 1 3, person 2 1",
        "error: the match is over: its games count",
    ]
    saved = [json.loads(line) for line in file.read_text().splitlines()]
    assert [game["points"] for game in saved] == [1, 0, 1, 1, None]
    assert [game["players"][0][-1] for game in saved] == ["1", "2", "1", "2", "1"]


def test_the_last_game_of_a_match_counts_once_also_if_ctrl_c_was_not_meant(at_a_terminal, capsys, tmp_path):
    file, game = tmp_path / "match.json", ("tic_tac_toe", "--against", "person", "--points")
    lines = ["resign", KeyboardInterrupt, "no", f"save {file}"]
    assert at_a_terminal(lines, *game, "1") == 0 and file.read_text().count("\n") == 1
    out = capsys.readouterr().out
    assert out.count("person 2 wins the match: person 2 1, person 1 0") == 2
    at_a_terminal(["5"], *game, "2")
    assert "without --points `load` goes on with it" in capsys.readouterr().out


def test_gammons_count_and_the_dice_say_who_begins(play):
    arguments = ("backgammon", "--against", "random", "--points", "12", "--json", "--seed", "3")
    match = json.loads(play(["resign 2", "resign 3"] * 3, *arguments)[1])
    assert match["over"] and match["score"] == {"person": 0, "random": 12} and match["points"] == 12
    assert len({game["players"][0] for game in match["games"]}) == 2 and len(match["games"]) == 5
    assert len({game["start"] for game in match["games"]}) > 1  # other dice in each game
    for arguments, message in (
        (("--points", "0"), "a match to 0 points: expected 1 to 1000"),
        (("--points", "3", "--from", "4HPwATDgc/ABMA:31"), "a match begins at the usual start"),
    ):
        status, _, err = play([], "backgammon", "--against", "person", *arguments)
        assert status == 2 and message in err and err.count("\n") == 1
