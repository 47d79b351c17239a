import json
import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from jaxgames.envs.checkers import drawing, notation, plain_board
from jaxgames.envs.checkers.plain_board import START, Board, check_board, row_and_column, square_at
from jaxgames.envs.svg import THEMES, document, grid_svg
from tests.envs.checkers import reference

SVG = "{http://www.w3.org/2000/svg}"


def board_of(position):
    return Board(*reference.plain(position))


TWO_WAYS = notation.parse("W:W22:B9,10,17,18")
DIAMOND = ("........", "........", ".b.b....", "........", ".b.b....", "..w.....", "........", "........")


@pytest.fixture(scope="module")
def positions():
    """Positions of random games, several of them within a move, pieces strewn at random, and jumps in a circle."""
    draw = random.Random(7)
    found = [position for game in reference.random_games(draw, 25) for position in game]
    found += [reference.random_position(draw, draw.randint(1, 12)) for _ in range(1500)]
    found.append(reference.Position(DIAMOND, "w"))
    found.append(reference.Position(tuple(row.replace("w", "W") for row in DIAMOND), "w"))
    found.append(reference.Position(tuple(row[::-1].translate(str.maketrans("bw", "wb")) for row in DIAMOND[::-1])))
    assert sum(position.jumper is not None for position in found) > 30
    return found


def outcomes(position):
    """What every legal whole move leads to, by its squares."""
    return {squares: after for _, squares, after in reference.whole_moves(position)}


# The rules


def fast_perft(board, depth):
    found = plain_board.legal_moves(board)
    return len(found) if depth == 1 else sum(fast_perft(played(board, move.actions), depth - 1) for move in found)


def played(board, actions):
    for action in actions:
        board, passed = plain_board.apply_action(board, action)
    assert passed
    return board


def test_perft(data_dir):
    published = json.loads((data_dir / "checkers" / "perft.json").read_text())
    assert notation.unparse(START) == published["start_fen"]
    assert board_of(reference.START) == START
    counts, divides = published["perft_duplicates_counted"], published["divide"]
    for depth in (1, 2, 4):
        assert reference.perft(reference.START, depth) == fast_perft(START, depth) == counts[depth]
    for depth in (3, 5, 6):
        slow = {"-".join(map(str, names)): after for _, names, after in reference.whole_moves(reference.START)}
        assert {name: reference.perft(after, depth - 1) for name, after in slow.items()} == divides[str(depth)]
        fast = {move.text: played(START, move.actions) for move in plain_board.legal_moves(START)}
        assert {name: fast_perft(board, depth - 1) for name, board in fast.items()} == divides[str(depth)]
        assert sum(divides[str(depth)].values()) == counts[depth]


def test_actions_are_those_of_the_rule_book(positions):
    for position in positions:
        board, legal = board_of(position), reference.legal(position)
        assert plain_board.legal_actions(board) == sorted(legal)
        for action in legal:
            after = reference.apply(position, action)
            assert plain_board.apply_action(board, action) == (board_of(after), after.mover != position.mover)


def test_whole_moves_are_those_of_the_rule_book(positions):
    several = 0
    for position in positions:
        board = board_of(position)
        found = plain_board.legal_moves(board)
        expected = {actions: (squares, board_of(after)) for actions, squares, after in reference.whole_moves(position)}
        assert [move.actions for move in found] == sorted(expected)
        for move in found:
            squares, after = expected[move.actions]
            assert move.squares == squares and played(board, move.actions) == after
            taken = {square for square in range(1, 33) if board.squares[square - 1] and not after.squares[square - 1]}
            assert len(move.captured) == len(set(move.captured)) and set(move.captured) == taken - {squares[0]}
            several += len(move.captured) > 1
    assert several > 100


def test_the_crown_ends_a_move():
    board = notation.parse("W:W11:B7,8,6")  # after 11x2 a king could take 6
    assert [move.text for move in plain_board.legal_moves(board)] == ["11x4", "11x2"]
    after, passed = plain_board.apply_action(board, notation.parse_action(board, "11x2"))
    assert passed and notation.unparse(after) == "B:WK2:B6,8"


def test_a_king_may_return_to_where_it_began():
    board = notation.parse("W:WK22:B9,10,17,18")
    assert sorted(move.text for move in plain_board.legal_moves(board)) == ["22x13x6x15x22", "22x15x6x13x22"]
    after = played(board, plain_board.move_to_actions(board, "22x22"))  # both ways take the same pieces
    assert notation.unparse(after) == "B:WK22:B"


def test_illegal_actions():
    board = notation.parse("B:W9,13:B5,1,8")
    for action, message in [
        (128, "action 128 moves no piece; actions are 0 to 127"),
        (-1, "action -1 moves no piece"),
        (4, "action 4 is not legal: there is no piece on 2"),
        (48, "action 48 is not legal: the piece on 13 is not Black's, who is to move"),
        (28, "action 28 is not legal: a capture is forced: 5x14"),
    ]:
        for function in (plain_board.apply_action, notation.action_name):
            with pytest.raises(ValueError, match=message):
                function(board, action)


# Positions as text


def test_positions_are_read_back(positions):
    for position in positions:
        board = board_of(position)
        if not any(board.squares):
            continue
        text = notation.unparse(board)
        assert notation.parse(text) == board
        assert text.count("K") == sum(abs(piece) == 2 for piece in board.squares)


@pytest.mark.parametrize(
    "text",
    [
        "B:W21-32:B1-12",
        "B:B1-12:W21-32",
        "B:W32,31,21-30:B1,2-11,12.",
        "B:W21-32:B1-12:H0:F1",
        "B:B12-12,1-11:W21-32:F7",
    ],
)
def test_forms_of_a_position(text):
    assert notation.parse(text) == START


def test_canonical_text():
    text = "W:WK30,22,21:BK7-8,1:H12"
    board = notation.parse(text)
    assert notation.unparse(board) == "W:W21,22,K30:B1,K7,K8:H12"
    assert board.white_to_move and board.quiet == 12
    assert [board.squares[square - 1] for square in (21, 22, 30, 1, 7, 8)] == [-1, -1, -2, 1, 2, 2]
    jumping = notation.parse("W:W18:B14,6:J18")
    assert jumping.jumper == 18 and notation.unparse(jumping) == "W:W18:B6,14:J18"
    assert notation.unparse(notation.parse("W:W:B1")) == "W:W:B1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position '' ends too early: first stands who is to move, B or W"),
        ("x:W21:B1", r"character 1 \('x'\): first stands who is to move"),
        ("B", "ends too early: then stand the squares of both sides, for example B:W21-32:B1-12"),
        ("B:", "ends too early: a list of squares begins with its colour"),
        ("B:W21", "ends too early: then stand the squares of both sides"),
        ("B:21:B1", r"character 3 \('2'\): a list of squares begins with its colour, W or B"),
        ("B:W21:W22", r"character 7 \('W'\): the squares of White are given twice"),
        ("B:W21,:B1", r"character 7 \(':'\): a square 1 to 32 is expected"),
        ("B:WX:B1", r"character 4 \('X'\): a square 1 to 32 is expected"),
        ("B:W33:B1", r"character 4 \('3'\): 33 is no square; squares are 1 to 32"),
        ("B:W21,K0:B1", r"character 8 \('0'\): 0 is no square"),
        ("B:W21-40:B1", r"character 7 \('4'\): 40 is no square"),
        ("B:W21-20:B1", r"character 7 \('2'\): a range goes up; 20 is below 21"),
        ("B:W21,21:B1", r"character 7 \('2'\): square 21 is given twice"),
        ("B:W21-25:B1,K24", r"character 14 \('2'\): square 24 is given twice"),
        ("B:W4:B1", r"character 4 \('4'\): on 4, its king row, a man of White must be a king: K4"),
        ("B:W21:B1,30", r"character 10 \('3'\): on 30, its king row, a man of Black must be a king: K30"),
        ("B:W20-32:B1", r"character 4 \('2'\): White has more than 12 pieces"),
        ("B:W21:B1-12,K20", r"character 14 \('2'\): Black has more than 12 pieces"),
        ("B:W21:B1 W", r"character 9 \(' '\): expected a comma before a square, or a colon"),
        ("B:W21:B1:", "ends too early: expected H"),
        ("B:W21:B1:Q1", r"character 10 \('Q'\): expected H .* J"),
        ("B:W21:B1:H", "ends too early: a number stands after H"),
        ("B:W21:B1:H16777216", r"character 11 \('1'\): at most 16777215 moves are counted"),
        ("B:W21:B1:H1:H2", r"character 13 \('H'\): H is given twice"),
        ("B:W21:B1:J1", r"character 11 \('1'\): the piece on 1 cannot go on jumping"),
        ("B:W21:B1:J21", r"character 11 \('2'\): on 21 there is no piece of Black, who is to move"),
        ("B:W21:B1:J0", r"character 11 \('0'\): the piece that must go on jumping is on a square from 1"),
        ("B:W21:B1:J33", r"character 11 \('3'\): the piece that must go on jumping is on 33; squares are 1 to 32"),
        (
            "W:W18:B14:J18:H2",
            r"character 16 \('2'\): a piece that must go on jumping has just captured; the count is 0",
        ),
        ("B:W:B", "there is no piece on the board; one side at least has pieces"),
    ],
)
def test_bad_positions_point_at_the_character(text, message):
    with pytest.raises(ValueError, match=message) as error:
        notation.parse(text)
    assert "\n" not in str(error.value)


def with_pieces(**changes):
    squares = [0] * 32
    for name, piece in changes.items():
        squares[int(name[1:]) - 1] = piece
    return tuple(squares)


@pytest.mark.parametrize(
    ("board", "message"),
    [
        (Board((1,) * 12), "the board has 12 squares; there must be 32"),
        (Board(with_pieces(s1=3)), "square 1 holds 3; expected 1, 2"),
        (Board(with_pieces(s1=0.5)), "square 1 holds 0.5"),
        (Board((1,) * 13 + (0,) * 19), "Black has 13 pieces; there are at most 12"),
        (Board(with_pieces(s2=-1)), "a man of White is on 2, its king row"),
        (Board(with_pieces(s31=1)), "a man of Black is on 31, its king row"),
        (Board((0,) * 32), "there is no piece on the board"),
        (START._replace(jumper=12), "the piece on 12 cannot go on jumping"),
        (START._replace(jumper=-1), "on -1; squares are 1 to 32"),
        (START._replace(quiet=-1), "quiet is -1; it counts single moves without capture, from 0 to 16777215"),
        (Board(with_pieces(s18=-1, s14=1), True, 18, 5), "quiet is 5; it must be 0 where a piece that has captured"),
    ],
)
def test_impossible_boards(board, message):
    for function in (check_board, notation.unparse, drawing.board_text):
        with pytest.raises(ValueError, match=message):
            function(board)


# Names of actions and of moves


def test_actions_have_names_that_are_read_back(positions):
    for position in positions:
        board, legal = board_of(position), reference.legal(position)
        names = {notation.action_name(board, action): action for action in legal}
        assert len(names) == len(legal)
        for name, action in names.items():
            start, over, end = legal[action]
            squares = [str(reference.pdn_square(place, position.mover)) for place in (start, end)]
            assert name == ("x" if over else "-").join(squares)
            assert notation.parse_action(board, name) == action
            assert notation.parse_action(board, name.replace("x", "-") + "!?") == action


def test_moves_are_read_back_in_full_and_short(positions):
    shortened = ambiguous = 0
    for position in positions:
        board, results = board_of(position), outcomes(position)
        for move in plain_board.legal_moves(board):
            text = plain_board.move_to_string(board, move.actions)
            assert text == move.text == ("x" if move.captured else "-").join(map(str, move.squares))
            assert tuple(plain_board.move_to_actions(board, text)) == move.actions
            if len(move.squares) > 2:
                short = f"{move.squares[0]}x{move.squares[-1]}"
                same = {
                    after
                    for squares, after in results.items()
                    if squares[:: len(squares) - 1] == move.squares[:: len(move.squares) - 1]
                }
                direct = results.get((move.squares[0], move.squares[-1]))  # one jump with the same ends
                if direct or len(same) == 1:
                    same = {direct} if direct else same
                    assert played(board, plain_board.move_to_actions(board, short)) == board_of(*same)
                    shortened += 1
                else:
                    with pytest.raises(ValueError, match=f"move '{short}' is ambiguous; it may be .*{text}"):
                        plain_board.move_to_actions(board, short)
                    ambiguous += 1
    assert shortened > 100 and ambiguous > 0


@pytest.mark.parametrize(
    ("text", "squares"),
    [
        ("22x13x6", (22, 13, 6)),
        ("22-15-6", (22, 15, 6)),
        ("22:15:6", (22, 15, 6)),
        (" 22x15x6!! ", (22, 15, 6)),
        ("22X13X6(?)", (22, 13, 6)),
    ],
)
def test_forms_of_a_move(text, squares):
    actions = tuple(plain_board.move_to_actions(TWO_WAYS, text))
    assert {move.actions: move.squares for move in plain_board.legal_moves(TWO_WAYS)}[actions] == squares


def test_squares_between_may_be_left_out():
    board = notation.parse("W:WK32:B27,18,9")  # one way of three jumps
    for text in ("32x23x14x5", "32x5", "32x14x5", "32x23x5"):
        assert len(plain_board.move_to_actions(board, text)) == 3
    with pytest.raises(ValueError, match="from 32 there is 32x23x14x5"):
        plain_board.move_to_actions(board, "32x14x23x5")


@pytest.mark.parametrize(
    ("board", "text", "message"),
    [
        (START, "11+15", r"'11\+15' is not understood; write the squares, for example 11-15, 22x15 or 22x15x8"),
        (START, "11", "is not understood"),
        (START, "11-33", "33 is no square; squares are 1 to 32"),
        (START, "11x15", "nothing is captured; write 11-15"),
        (START, "13-17", "there is no piece on 13"),
        (START, "22-18", "the piece on 22 is not Black's, who is to move"),
        (START, "1-5", "the piece on 1 cannot move"),
        (START, "11-19", "from 11 there is 11-15 or 11-16"),
        (notation.parse("B:W32:B6,10"), "6-10", "10 is occupied; from 6 there is 6-9"),
        (notation.parse("W:W22,32:B9,10,17,18"), "32-28", "a capture is forced: 22x15x6 or 22x13x6"),
        (notation.parse("W:W18,32:B14,6:J18"), "32-28", "the piece on 18 must go on jumping: 18x9x2"),
        (notation.parse("W:W:B1"), "1-5", "the game is over: White cannot move"),
    ],
)
def test_bad_moves_and_actions(board, text, message):
    for function, what in ((plain_board.move_to_actions, "move"), (notation.parse_action, "action")):
        with pytest.raises(ValueError, match=f"^{what} .*{message}") as error:
            function(board, text)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("22x6", "is ambiguous; it may be 22x15x6 or 22x13x6$"),
        ("22x15", "the piece on 15 must go on jumping: 22x15x6$"),
        ("22x15x6x1", "from 22 there is 22x15x6 or 22x13x6$"),
    ],
)
def test_bad_moves(text, message):
    with pytest.raises(ValueError, match=message):
        plain_board.move_to_actions(TWO_WAYS, text)


def test_moves_are_no_actions():
    for text in ("22x15x6", "22x6"):
        with pytest.raises(ValueError, match="is a move of several actions; move_to_actions reads it"):
            notation.parse_action(TWO_WAYS, text)
    assert notation.parse_action(TWO_WAYS, "22x15") == plain_board.move_to_actions(TWO_WAYS, "22x15x6")[0]


def test_only_whole_moves_are_written():
    first, second = plain_board.move_to_actions(TWO_WAYS, "22x15x6")
    assert plain_board.move_to_string(TWO_WAYS, [first, second]) == "22x15x6"
    with pytest.raises(ValueError, match="22x15 is not a whole move: the piece on 15 must go on jumping"):
        plain_board.move_to_string(TWO_WAYS, [first])
    with pytest.raises(ValueError, match="are more than one move; the turn passes before 0"):
        plain_board.move_to_string(TWO_WAYS, [first, second, 0])
    with pytest.raises(ValueError, match="there is no action"):
        plain_board.move_to_string(TWO_WAYS, [])
    with pytest.raises(ValueError, match="action 0 is not legal: there is no piece on 32"):
        plain_board.move_to_string(TWO_WAYS._replace(squares=with_pieces(s22=-1, s18=1)), [0])


# Pictures


def read_text(text):
    """The squares that `board_text` shows."""
    squares = [0] * 32
    rows = [line for line in text.splitlines() if line.startswith(" |")]
    for row, line in enumerate(rows):
        cells, numbers = line[3:18:2], line.split("|")[2].split()
        assert numbers == [str(square_at(row, column)) for column in range(8) if square_at(row, column)]
        for column, cell in enumerate(cells):
            if square := square_at(row, column):
                squares[square - 1] = {".": 0, "b": 1, "B": 2, "w": -1, "W": -2}[cell]
            else:
                assert cell == " "
    return tuple(squares)


def read_svg(svg, theme):
    """The squares that the picture shows: discs, some of them with a crown; and the frames around squares."""
    root = ElementTree.fromstring(svg)
    place = {
        (drawing.LEFT + (column + 0.5) * drawing.FIELD, drawing.TOP + (row + 0.5) * drawing.FIELD): square
        for square, (row, column) in ((square, row_and_column(square)) for square in range(1, 33))
    }
    signs = {piece.fill: sign for piece, sign in zip(THEMES[theme].pieces, (-1, 1), strict=True)}
    squares, frames = [0] * 32, []
    for circle in root.iter(f"{SVG}circle"):
        if float(circle.get("r")) == drawing.RADIUS:
            squares[place[float(circle.get("cx")), float(circle.get("cy"))] - 1] = signs[circle.get("fill")]
    for crown in root.iter(f"{SVG}polygon"):
        corners = [tuple(map(float, corner.split(","))) for corner in crown.get("points").split()]
        square = min(place, key=lambda middle: sum(abs(x - middle[0]) + abs(y - middle[1]) for x, y in corners))
        squares[place[square] - 1] *= 2
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("stroke") == THEMES[theme].ink:
            middle = tuple(
                float(rect.get(at)) + float(rect.get(side)) / 2 for at, side in (("x", "width"), ("y", "height"))
            )
            frames.append(place[middle])
    return tuple(squares), frames


def words(svg):
    return [label.text for label in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_boards_can_be_read_from_text_and_picture(positions):
    for index, position in enumerate(positions[::25]):
        board = board_of(position)
        if any(board.squares):
            assert read_text(drawing.board_text(board)) == board.squares
            theme = ("light", "dark")[index % 2]
            frames = [board.jumper] if board.jumper else []
            assert read_svg(document(drawing.board_picture(board, theme), theme), theme) == (board.squares, frames)


def test_a_board_as_text():
    assert drawing.board_text(notation.parse("W:W26,K14:B3,K23,6:H4"), player=1).splitlines() == [
        " W:WK14,26:B3,6,K23:H4",
        " +-----------------+",
        " |   .   .   b   . |   1   2   3   4",
        " | .   b   .   .   |   5   6   7   8",
        " |   .   .   .   . |   9  10  11  12",
        " | .   W   .   .   |  13  14  15  16",
        " |   .   .   .   . |  17  18  19  20",
        " | .   .   B   .   |  21  22  23  24",
        " |   .   w   .   . |  25  26  27  28",
        " | .   .   .   .   |  29  30  31  32",
        " +-----------------+",
        " White (player 1) to move",
    ]


@pytest.mark.parametrize(
    ("text", "lines", "said"),
    [
        ("B:W21:B1:H9", ["Black (player 1) to move"], ["to move"]),
        ("B:W21:B1:H10", ["Black (player 1) draws", "White (player 0) draws"], ["draws", "draws"]),
        ("W:W18:B14:J18", ["White (player 1) jumps on from 18"], ["jumps on from 18"]),
        ("W:W5:B1", ["Black (player 0) wins"], ["wins"]),
        ("B:WK5:B", ["White (player 0) wins"], ["wins"]),
    ],
)
def test_what_is_to_do(text, lines, said):
    board = notation.parse(text)
    assert [line.strip() for line in drawing.board_text(board, 1, draw_after=10).splitlines()[11:]] == lines
    svg = document(drawing.board_picture(board, player=1, draw_after=10))
    labels = words(svg)
    assert [label for label in labels if label in said] == said
    black_first = ["player 0", "player 1"] if board.white_to_move else ["player 1", "player 0"]
    assert [label.split(" · ")[0] for label in labels if label.startswith("player")] == black_first


def test_pictures_say_what_they_show():
    board = notation.parse("W:W26,K14,K5:B3,K23:H4")
    svg = document(drawing.board_picture(board, "dark", 0), "dark", 300)
    assert ElementTree.fromstring(svg).get("width") == "300"
    assert [label for label in words(svg) if not label.isdigit()] == [
        "Black", "player 1 · 1 man, 1 king", "White", "player 0 · 1 man, 2 kings", "to move",
    ]  # fmt: skip
    assert Counter(re.findall(r">([0-9]+)</text>", svg)) == Counter(str(square) for square in range(1, 33))
    assert "<title>Checkers W:WK5,K14,26:B3,K23:H4: White to move</title>" in svg
    both = grid_svg([drawing.board_picture(board, "dark"), drawing.board_picture(START, "dark")], 2, "dark")
    assert both.count(">Black<") == 2
    assert document(drawing.board_picture(board, "dark"), "dark") != document(drawing.board_picture(board, "light"))


def test_bad_pictures():
    with pytest.raises(ValueError, match="unknown theme 'blue'; available: light, dark"):
        drawing.board_picture(START, "blue")
    for function in (drawing.board_text, drawing.board_picture):
        with pytest.raises(ValueError, match="player 2 must be 0 or 1"):
            function(START, player=2)
