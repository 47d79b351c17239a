"""Draughts programs by the Hub protocol: lines, positions, moves; programs that die, hang or cheat; ours as one."""

import io
import shlex
import sys
from types import SimpleNamespace

import jax
import pytest

import jaxgames
from jaxgames import cli, players
from jaxgames.envs.checkers.board import to_plain
from jaxgames.envs.checkers.plain_board import START
from jaxgames.interop import hub
from jaxgames.matches import match

GAME = jaxgames.make("checkers")
START_TEXT = "B" + "b" * 12 + "e" * 8 + "w" * 12
# Two ways to capture: 22x15x8 takes 18 and 11, 22x13 takes 17.
JUMPS = "W:W22,K30:B11,18,17"


def board_of(text):
    return to_plain(GAME.from_string(text)._position)


def test_lines():
    line = hub.parse_line(' param name=variant  value="" type=enum values="normal bt" flag \n')
    assert line == ("param", {"name": "variant", "value": "", "type": "enum", "values": "normal bt", "flag": ""})
    assert hub.format_line("level", move_time="1.5") == "level move-time=1.5"
    text = hub.format_line("error", message='a "b" = c', empty="")
    assert hub.parse_line(text) == ("error", {"message": "a 'b' = c", "empty": ""})
    with pytest.raises(ValueError, match="is no line of the protocol"):
        hub.parse_line('id name="Scan')


def test_positions():
    assert hub.format_position(START) == START_TEXT and hub.parse_position(START_TEXT) == START
    board = board_of(JUMPS)
    text = hub.format_position(board)
    assert text[0] == "W" and text[30] == "W" and text[22] == "w" and text[11] == "b"
    assert hub.parse_position(text) == board
    for wrong in (START_TEXT[:-1], START_TEXT.replace("e", "x"), START_TEXT[1:] + "B"):
        with pytest.raises(ValueError, match="expected W or B, and 32 letters"):
            hub.parse_position(wrong)


def test_moves_name_all_captured_squares():
    board = board_of(JUMPS)
    move = hub.parse_move(board, "22x8x18x11")
    assert move.text == "22x15x8" and hub.format_move(move) == "22x8x11x18"
    assert hub.parse_move(board, "22x13x17").text == "22x13"
    for wrong in ("22x8", "22x8x18", "22-13", "22x15x18", "rubbish"):
        with pytest.raises(ValueError, match=r"is no legal move in W.*; legal: 22x"):
            hub.parse_move(board, wrong)


@pytest.fixture
def program(tmp_path):
    """Writes a program of the protocol, without JAX; `reply` is what it does when it has to move."""

    def make(reply, hello="", ready="print('ready', flush=True)"):
        file = tmp_path / "program.py"
        file.write_text(f"""
import sys, time
position = level = None
for line in sys.stdin:
    command = line.split()[0]
    if command == "hub":
        {hello or "pass"}
        print("id name=test"); print("wait", flush=True)
    elif command == "init":
        {ready}
    elif command == "pos":
        position = line.split("pos=")[1].strip()
    elif command == "level":
        level = line.strip()
    elif command == "set-param":
        variant = line.strip()
    elif command == "go":
        print("info depth=1 pv=11-15", flush=True)
        {reply}
""")
        return f"{sys.executable} {shlex.quote(str(file))}"

    return make


def test_a_program_is_asked_and_its_move_is_played(program):
    """It is told the position and the level, and which game; a name that it has for it."""
    hello = """print('param name=variant value=normal type=enum values="normal american"')"""
    good = f"position == {START_TEXT!r} and level == 'level move-time=0.5' and 'american' in variant"
    command = program(f"print('done move=' + ('9-14' if {good} else '1-1'), flush=True)", hello)
    player = players.make(f"hub:{command},time=0.5", GAME)
    assert player.turn.move(GAME.init(jax.random.key(0))) == GAME.string_to_turn(GAME.init(jax.random.key(0)), "9-14")
    with pytest.raises(ValueError, match="piece on 15 has jumped already"):
        player.turn.move(GAME.from_string("W:WK15:B11,10:J15"))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("sys.exit(3)", "HubError: it has ended with status 3"),
        ("time.sleep(9); print('done move=9-14', flush=True)", "HubError: it has not answered in time"),
        ("print('done move=1-5', flush=True)", "'1-5' is no legal move in "),
        ("print('done', flush=True)", "HubError: it is done without a move"),
        ("""print('error message="no idea"', flush=True)""", "HubError: it says: no idea"),
    ],
)
def test_a_program_that_fails_loses_each_game_for_that_reason(program, monkeypatch, reply, reason):
    """And is asked again in the next one: it plays on where it can."""
    monkeypatch.setattr(hub, "PATIENCE", 0.3)
    player = players.make(f"hub:{program(reply)},time=0.1", GAME)
    result = match(player, players.make("random", GAME), 4)
    assert result.ppg == -1 and sum(result.forfeits.values()) == 4
    assert all(reason in text and text.startswith("hub:") for text in result.forfeits)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program", "'no-such-program' cannot be started: "),
        (f"{sys.executable} -c pass", "it has ended with status 0"),
        (f"{sys.executable} -c 'print(\"param name=variant values=normal\")'", "plays normal, not english draughts"),
    ],
)
def test_a_program_that_cannot_play_gets_one_line(capsys, command, message):
    assert cli.main(["match", f"hub:{command}", "random", "--game", "checkers"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and message in said.err


def test_other_games_and_numbers_get_one_line():
    for spec, game, message in (
        ("hub:x", "connect_four", "hub plays checkers, not connect_four"),
        ("hub:x,depth=0", "checkers", "depth '0': expected a whole number from 1 to 100"),
        ("hub:x,time=-1", "checkers", "time '-1': expected a number from 0"),
        ("hub", "checkers", "hub needs the command that starts a program"),
    ):
        with pytest.raises(ValueError, match=message):
            players.make(spec, jaxgames.make(game))


def served(player, *lines):
    answers = io.StringIO()
    hub.serve(player, lines, answers)
    return answers.getvalue().splitlines()


def test_our_player_as_a_program():
    player = players.make("alphabeta:3,ties=first", GAME)
    text = hub.format_position(board_of(JUMPS))
    setting = "set-param name=variant value=english"
    said = served(player, "hub", setting, "init", "", "ping", f"pos pos={text}", "level infinite", "go think")
    assert said[0].startswith('id name="jaxgames alphabeta:3') and "name=variant value=english" in said[1]
    assert said[2:] == ["wait", "ready", "pong", "done move=22x8x11x18"]
    after = served(player, f'pos pos={START_TEXT} moves="11-15 22-18"', "go analyze")
    assert after == ["done move=15x22x18"]
    assert served(player, "quit", "ping") == []


def test_each_move_has_bits_of_its_own(monkeypatch):
    seen = set()
    monkeypatch.setattr(hub, "choose_turn", lambda player, state, bits: seen.add(bits) or GAME.legal_turns(state)[0])
    served(players.make("random", GAME), f"pos pos={START_TEXT}", *["go think"] * 6)
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"pos pos={START_TEXT[:-1]}", "expected W or B"),
        (f"pos pos={START_TEXT} moves=1-5", "'1-5' is no legal move"),
        ("set-param name=variant value=frisian", "variant frisian: expected english"),
        ('pos pos="', "is no line of the protocol"),
    ],
)
def test_our_program_says_what_is_wrong(line, message):
    said = served(players.make("random", GAME), line)
    assert len(said) == 1 and said[0].startswith("error message=") and message in said[0]


def test_no_move_where_there_is_none():
    player = players.make("random", GAME)
    assert "the game is over" in served(player, f"pos pos=W{'e' * 31}B", "go think")[0]
    assert len(served(player, "pos pos=wrong", "go think")) == 1  # not a move of the position before


@pytest.mark.slow
def test_they_play_each_other():
    """Two of our programs by the protocol play the game that the same players play at one board."""
    command = f"hub:{sys.executable} -m jaxgames serve-hub 'alphabeta:2,ties=first'"
    a, b = players.make(f"{command},time=2", GAME), players.make("alphabeta:2,ties=first", GAME)
    games = [match(x, y, 2, most_plies=60) for x, y in ((a, b), (b, b))]
    assert games[0].forfeits == {} and games[0].plies_per_game == games[1].plies_per_game
    assert games[0].ppg == games[1].ppg


def test_a_program_is_told_how_long_or_how_deep(monkeypatch):
    told = []
    started = SimpleNamespace(start=int)
    monkeypatch.setattr(hub, "HubProgram", lambda command, level, patience: told.append(level) or started)
    for options in ({}, {"time": 0.25}, {"depth": 3}):
        hub.hub_player(jaxgames.make("checkers"), "x", **options)
    assert told == ["level move-time=1", "level move-time=0.25", "level depth=3"]
