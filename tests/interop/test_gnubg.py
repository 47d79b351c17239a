"""GNU Backgammon's external-player protocol, and its Python package as a player."""

import socket
import struct
import threading
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import cli, players
from jaxgames.envs.backgammon import make_position
from jaxgames.envs.backgammon.board import to_plain
from jaxgames.interop import gnubg
from jaxgames.players.player import Player
from jaxgames.sessions.session import Session
from tests.oracles import oracle

GAME = jaxgames.make("backgammon")
# As gnubg 1.07 sent them: the opening, and a board with a point of three, a stacked one and blots.
NAMES, SETTINGS = "board:us:them:0:0:0:", ":1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
OPENING = f"{NAMES}0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:2:1:2:1{SETTINGS}"
LATER = f"{NAMES}-2:1:2:2:2:0:3:0:0:0:0:1:-4:3:-1:0:0:-3:0:-5:0:0:0:0:1:0:-1:1:4:1:4{SETTINGS}"


def fields(line, **changes):
    """A board with some fields changed: dice, doubled, and on which side of the board the player is."""
    parts = line.split(":")
    for place, value in changes.items():
        parts[int(place[1:])] = str(value)
    return ":".join(parts)


def test_boards_are_read():
    board = gnubg.parse(OPENING + "\n\0")
    start = to_plain(jax.device_get(GAME.init_position(jax.random.key(0))))
    assert (list(board.own), list(board.opponent)) == start[:2] and board.dice == (2, 1) and not board.doubled
    later = gnubg.parse(LATER)
    assert later.own[24] == 2 and later.opponent[24] == 0 and sum(later.own) == sum(later.opponent) == 15
    assert later.opponent[0] == 1 and later.own[24 - 12] == 4  # points of the two numberings
    other = gnubg.parse(fields(LATER, f32=1))  # the board is drawn for one player, and the turn says who is asked
    assert (other.own, other.opponent) == (later.opponent, later.own)
    assert gnubg.parse(fields(OPENING, f33=0, f34=0)).dice is None and gnubg.parse(fields(OPENING, f40=1)).doubled


def test_a_board_seen_from_the_other_side():
    """Colours and directions exchanged: the same position."""
    parts = LATER.split(":")
    mirrored = [*parts[:6], *[str(-int(text)) for text in reversed(parts[6:32])], *parts[32:]]
    line = fields(":".join(mirrored), f32=1, f41=-1, f42=1)
    assert gnubg.parse(line) == gnubg.parse(LATER)


@pytest.mark.parametrize("line", ["", "board:us", "x" + OPENING, OPENING.replace(":5:", ":five:")])
def test_other_texts_are_refused(line):
    with pytest.raises(ValueError, match="is no FIBS board"):
        gnubg.parse(line)


@pytest.mark.parametrize("die", [7, -1])
def test_other_dice_are_refused(die):
    with pytest.raises(ValueError, match="is no FIBS board: dice are 1 to 6"):
        gnubg.parse(fields(OPENING, f34=die))


def test_cube_and_roll():
    player = players.make("champion@1", GAME)
    assert gnubg.answer(player, fields(OPENING, f33=0, f34=0)) == "roll"
    assert gnubg.answer(player, fields(OPENING, f40=1)) == "take"
    lost = ["0"] * 26
    lost[1], lost[24] = "-1", "15"
    hopeless = ":".join([*OPENING.split(":")[:6], *lost, *OPENING.split(":")[32:]])
    assert gnubg.answer(player, fields(hopeless, f32=1, f40=1)) == "drop"


@pytest.mark.parametrize(("worth", "said"), [(0.8, "drop"), (0.4, "take"), (-0.8, "take")])
def test_a_double_is_taken_by_what_the_other_one_may_expect(worth, said):
    """Who is about to roll; a double is dropped that costs more than a point."""
    player = SimpleNamespace(game=GAME, params=None, value=lambda params: lambda positions: np.float32([worth]))
    assert gnubg.answer(player, fields(OPENING, f40=1)) == said


def test_the_last_turn_of_a_won_game():
    """As gnubg sent it: two checkers on the ace point, 6-1, and the other player on the bar."""
    board = "-2:2:0:0:0:0:0:0:0:0:0:0:-4:0:0:0:0:-4:0:-5:0:0:0:0:0:0"
    line = fields(":".join([*OPENING.split(":")[:6], board, *OPENING.split(":")[32:]]), f32=1, f33=6, f34=1)
    assert gnubg.answer(players.make("random", GAME), line) == "1/off 1/off"
    state = after = GAME.state(jax.device_get(gnubg.from_plain(*gnubg.parse(line)[:3])))
    actions = GAME.string_to_turn(state, "1/off(2)")
    for action in actions:
        after = GAME.apply(after, action)
    assert GAME.turn_to(state, jax.device_get(after._position)) == actions  # and as single actions leave it


@pytest.mark.parametrize(
    ("board", "dice", "moves"),
    [
        ({24: 1, 1: -1, 18: -2, 20: -2, 14: -2}, (6, 5), "24/13"),  # one checker with both dice
        ({2: 1, 24: -1}, (6, 5), "2/off"),  # the other die is not played
        ({25: 2, 24: -2, 20: -2, 1: -1}, (2, 1), "bar/23"),  # nor here, where it cannot be
        ({25: 2, 24: -2, 23: -2, 1: -1}, (2, 1), "pass"),
    ],
)
def test_each_checker_moves_by_itself(board, dice, moves):
    """gnubg takes a move that stands for two, `24/13` with 6-5, and one with a pass for illegal, and says nothing."""
    places = [str(board.get(place, 0)) for place in range(26)]
    line = ":".join([*OPENING.split(":")[:6], *places, *OPENING.split(":")[32:]])
    text = gnubg.answer(players.make("random", GAME), fields(line, f32=1, f33=dice[0], f34=dice[1]))
    state = GAME.state(jax.device_get(gnubg.from_plain(*gnubg.parse(fields(line, f32=1))[:2], dice)))
    assert all(part.count("/") == 1 and "[" not in part and "(" not in part for part in text.split())
    assert len(text.split()) == sum(action != 0 for action in GAME.string_to_turn(state, moves))


def test_every_move_is_legal_and_is_the_player_s():
    """A served player plays the same games as one that sits at the board."""
    player = players.make("random", GAME)
    session, moves = Session(GAME, seed=5, players=(player, player)), 0
    while not session.over and moves < 40:
        own, opponent, dice = to_plain(session.state._position)
        board = ["0"] * 26
        for place in range(25):
            board[place + 1] = str(own[place]) if own[place] else board[place + 1]
            if opponent[place]:
                board[24 - place] = str(-opponent[place])
        roll = {"f32": 1, "f33": dice[0], "f34": dice[1]}
        line = fields(":".join([*OPENING.split(":")[:6], *board, *OPENING.split(":")[32:]]), **roll)
        text = gnubg.answer(player, line, bits=moves)
        session.play(text)
        moves += 1
    assert moves == 40 or session.over


def served(connections):
    """A server that ends after so many connections: its thread, its port, and what it says."""
    player, said, ready = players.make("random", GAME), [], threading.Event()

    def say(line):
        said.append(line)
        ready.set()

    settings = {"say": say, "connections": connections}
    server = threading.Thread(target=gnubg.serve, args=(player, 0), kwargs=settings, daemon=True)
    server.start()
    assert ready.wait(30)
    return server, int(said[0].rpartition(":")[2]), said


def test_a_server_outlives_a_connection_that_is_lost():
    server, port, said = served(connections=2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends by a reset
        connection.sendall(b"rubbish")
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, connection.makefile("r") as answers:
        connection.sendall((fields(OPENING, f33=0, f34=0) + "\n").encode())
        assert answers.readline() == "roll\n"
    server.join(30)
    assert not server.is_alive() and said[1:] == ["the connection is lost: Connection reset by peer"]


def test_the_server_answers_line_by_line():
    server, port, said = served(connections=1)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, connection.makefile("r") as answers:
        for line, begins in ((fields(OPENING, f33=0, f34=0), "roll"), ("rubbish", "Error: 'rubbish' is no FIBS board")):
            connection.sendall((line + "\n\0").encode())
            assert answers.readline().startswith(begins)
    server.join(30)
    assert not server.is_alive() and len(said) == 2


def test_a_port_that_is_taken_gets_one_line(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert cli.main(["serve-gnubg", "random", "--port", str(taken.getsockname()[1])]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and "Address already in use" in said.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("serve-gnubg random --port 70000", "--port 70000: expected a number from 0 to 65535"),
        ("serve-gnubg alphabeta:3", "alphabeta plays games without chance, not backgammon"),
    ],
)
def test_bad_servers_get_one_line(capsys, command, message):
    assert cli.main(command.split()) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err == f"jaxgames: {message}\n"


@pytest.mark.parametrize(
    ("own", "roll", "turn"), [({4: 2}, (5, 4), "4/off(2)"), ({4: 1, 6: 1}, (6, 5), "6/off 4/off"), ({2: 2}, (1, 1), "")]
)
def test_gnubg_bears_off(own, roll, turn):
    """Its package names no checker that leaves the board."""
    oracle("gnubg")
    state = make_position([own.get(point, 0) for point in range(1, 26)], [8, *[0] * 24], roll)
    move = players.make("gnubg:0", GAME).turn.move(state)
    after = [gnubg._after(state, actions) for actions in (move, GAME.string_to_turn(state, turn or "2/off(2)"))]
    assert after[0] == after[1]


def test_gnubg_chooses_its_best_move():
    """The move of its package, as actions of ours; the published best plays of opening rolls."""
    oracle("gnubg")
    player = gnubg.gnubg_player(GAME, "0")
    assert isinstance(player, Player) and player.name == "gnubg:0"
    for roll, play in {(3, 1): "8/5 6/5", (4, 2): "8/4 6/4", (6, 1): "13/7 8/7"}.items():
        session = Session(GAME, rolls=False)
        state = GAME.state(jax.device_get(gnubg.from_plain(*to_plain(session.state._position)[:2], roll)))
        actions = gnubg.choose_turn(player, state, 0)
        assert GAME.turn_to_string(state, actions) == play
    with pytest.raises(ValueError, match="player 'gnubg:9': plies '9': expected a whole number from 1 to 4"):
        gnubg.gnubg_player(GAME, "9")
    assert np.isfinite(gnubg._worth(players.make("champion@1", GAME), gnubg.parse(LATER)))
