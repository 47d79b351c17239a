import itertools
import random
from xml.etree import ElementTree

import numpy as np
import pytest

import jaxgames
from jaxgames.envs.connect_four import drawing, notation
from jaxgames.envs.svg import THEMES, document, grid_svg
from tests.envs.connect_four import reference as rules

SVG = "{http://www.w3.org/2000/svg}"
SIZES = [(6, 7, 4), (6, 7, 8), (10, 10, 4), (10, 10, 8), (2, 10, 3), (10, 2, 8), (4, 5, 3), (2, 2, 3)]


def text_of(columns):
    return "".join("123456789a"[column] for column in columns)


def line_cells(board, connect):
    """Every stone of a line, by looking at all lines."""
    found = set()
    for line in rules.lines(len(board), len(board[0]), connect):
        colours = {board[row][column] for row, column in line}
        if len(colours) == 1 and colours != {0}:
            found.update(line)
    return sorted(found)


@pytest.mark.parametrize(("rows", "cols", "connect"), SIZES)
def test_games_of_every_size_are_read_and_written(rows, cols, connect):
    rng = random.Random(f"{rows} {cols} {connect}")
    for _ in range(6):
        moves = rules.random_game(rng, rows, cols, connect)
        for end in (len(moves), rng.randint(0, len(moves))):
            expected = rules.play(moves[:end], rows, cols)
            board = notation.parse(text_of(moves[:end]), rows, cols, connect)
            assert board.dtype == np.int8 and board.tolist() == expected
            assert notation.winning_cells(board, connect) == line_cells(expected, connect)
            written = notation.unparse(board, connect)
            # `parse` refuses moves after a win; the rule book says which board they lead to.
            assert notation.parse(written, rows, cols, connect).tolist() == expected
            assert rules.play(rules.moves_of(written), rows, cols) == expected
            assert notation.unparse(notation.parse(written, rows, cols, connect), connect) == written


@pytest.mark.parametrize(("rows", "cols", "connect"), [(3, 3, 3), (2, 4, 3), (4, 3, 3)])
def test_exactly_the_boards_of_play_are_written(rows, cols, connect):
    reachable, todo = set(), [rules.empty(rows, cols)]
    while todo:
        board = todo.pop()
        key = tuple(map(tuple, board))
        if key not in reachable:
            reachable.add(key)
            todo += [rules.drop(board, column) for column in rules.legal_columns(board, connect)]
    stacks = [(0,) * (rows - n) + stack for n in range(rows + 1) for stack in itertools.product((1, 2), repeat=n)]
    written = set()
    for columns in itertools.product(stacks, repeat=cols):
        board = np.array(columns, np.int8).T
        if np.count_nonzero(board == 1) - np.count_nonzero(board == 2) not in (0, 1):
            continue
        try:
            text = notation.unparse(board, connect)
        except ValueError as error:
            assert str(error).startswith("no order of moves leads to the board")
            continue
        written.add(tuple(map(tuple, board.tolist())))
        assert rules.play(rules.moves_of(text), rows, cols) == board.tolist()
    assert written == reachable


def test_the_order_of_equal_boards_is_not_seen():
    written = {notation.unparse(notation.parse(text, 6, 7, 4), 4) for text in ("12345", "34125", "52143")}
    assert len(written) == 1
    assert notation.parse("", 6, 7, 4).shape == (6, 7) and notation.unparse(np.zeros((6, 7), np.int8), 4) == ""


@pytest.fixture
def search_limit(monkeypatch):
    """Sets how many stones the search for an order may weigh before it fails."""
    weigh = notation._urgency

    def limit(most):
        left = iter(range(most))

        def counted(stones):
            assert next(left, None) is not None, f"the search weighed more than {most} stones"
            return weigh(stones)

        monkeypatch.setattr(notation, "_urgency", counted)

    return limit


def test_orders_are_found_without_going_back(search_limit):
    search_limit(100 * 100 * 10)  # games, stones in each, columns
    rng = random.Random(1)
    for _ in range(100):
        board, heights = np.zeros((10, 10), np.int8), [0] * 10
        for move in range(100):
            column = rng.choice([column for column in range(10) if heights[column] < 10])
            heights[column] += 1
            board[10 - heights[column], column] = 1 + move % 2
        columns = ["".join(".XO"[x] for x in column[::-1]) for column in board.T]
        assert len(notation._alternating_order(columns, iter(range(100)))) == 100


def test_dead_ends_are_remembered(search_limit):
    search_limit(10_000)  # millions otherwise
    stacks = ["OOXXOOOXOX", "OXOOOXXOOX", "OXXXOOXOXX", "XXXXOXOOOX"]
    assert notation._alternating_order(stacks, itertools.count()) is None


def test_a_board_that_is_too_hard_is_refused_after_so_many_steps(search_limit):
    search_limit(10 * notation.MOST_STEPS)  # without a bound nobody has waited for its end
    stacks = ["XXXOXXOOX", "XXXXXOXOXX", "OXOOOOOOX", "OXOXXXOOXX", "OOXXXOXXX"]
    stacks += ["XXXOOOOOX", "OOOXXX", "OOXOXOOOOX", "OOXOXOOX", "OOXOOXOOXX"]
    board = np.array([[".XO".index(stone) for stone in stack.ljust(10, ".")] for stack in stacks], np.int8).T[::-1]
    with pytest.raises(ValueError, match=f"found in {notation.MOST_STEPS} steps: give the moves instead"):
        notation.unparse(board, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?", "position '?', character 1 ('?'): no such column; columns are 1 to 7"),
        ("448", "position '448', character 3 ('8'): no such column; columns are 1 to 7"),
        ("40", "character 2 ('0'): no such column"),
        ("4a", "character 2 ('a'): no such column"),
        ("4 4", "character 2 (' '): no such column"),
        ("4444445444", "character 8 ('4'): column 4 is full; it holds 6 stones"),
        ("12121212", "position '12121212', character 8 ('2'): X has already won; a line of 4 ends the game"),
        ("312121214", "character 9 ('4'): O has already won"),
    ],
)
def test_wrong_moves(text, message):
    with pytest.raises(ValueError) as error:
        notation.parse(text, 6, 7, 4)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_tenth_column():
    assert notation.parse("a9", 6, 10, 4)[5].tolist() == [0] * 8 + [2, 1]
    with pytest.raises(ValueError, match="no such column; columns are 1 to a"):
        notation.parse("b", 6, 10, 4)


def board_of(*rows):
    return np.array([[".XO".index(stone) for stone in row] for row in rows], np.int8)


@pytest.mark.parametrize(
    ("board", "message"),
    [
        (np.zeros(7, np.int8), "the board has shape (7,); expected rows and 1 to 10 columns"),
        (np.zeros((2, 11), np.int8), "the board has shape (2, 11)"),
        (np.full((1, 2), 3, np.int8), "row 1 of column 1 is 3; expected 0 (free), 1 (X) or 2 (O)"),
        (board_of("...", ".X.", "..."), "a stone in column 2 lies above a free cell"),
        (board_of("XX."), "2 X and 0 O; X begins, so there must be as many X as O or one more"),
        (board_of("X..", "O.."), "no order of moves leads to the board: "),
        (board_of("XXX", "OOO"), "no order of moves leads to the board: "),
        (board_of("OO..", "XXXO"), "no order of moves leads to the board: "),  # O has moved after X's line
    ],
)
def test_wrong_boards(board, message):
    with pytest.raises(ValueError) as error:
        notation.unparse(board, 3)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_actions():
    board = notation.parse("1212", 2, 10, 3)
    assert [notation.action_name(action, 10) for action in range(10)] == list("123456789a")
    assert [notation.parse_action(board, name) for name in "3456789a"] == list(range(2, 10))
    assert notation.parse_action(board, " a ") == 9
    with pytest.raises(ValueError, match="^column 2 is full; it holds 2 stones$"):
        notation.parse_action(board, "2")
    for text in ("", "0", "10", "?", "b"):
        with pytest.raises(ValueError, match="is no column; columns are 1 to a"):
            notation.parse_action(board, text)
    with pytest.raises(ValueError, match="'8' is no column; columns are 1 to 7"):
        notation.parse_action(np.zeros((6, 7), np.int8), "8")
    for action in (-1, 10):
        with pytest.raises(ValueError, match=f"action {action} is no column"):
            notation.action_name(action, 10)


def test_text_of_a_board():
    assert drawing.board_text(notation.parse("44534", 4, 7, 4)).split("\n") == [
        ". . . . . . .",
        ". . . X . . .",
        ". . . O . . .",
        ". . O X X . .",
        "1 2 3 4 5 6 7",
    ]
    assert drawing.board_text(np.zeros((2, 10), np.int8)).endswith("\n1 2 3 4 5 6 7 8 9 a")


def read_svg(root, shape, theme, player):
    """The stones and the marked ones of a picture, as numbers on boards; colours are the players'."""
    places = {drawing._centre(row, column): (row, column) for row in range(shape[0]) for column in range(shape[1])}
    sides = {piece.fill: side for side, piece in enumerate(THEMES[theme].pieces)}
    holes, stones, marked = 0, {}, set()
    for circle in root.iter(f"{SVG}circle"):
        place = places.get((float(circle.get("cx")), float(circle.get("cy"))))
        if place is None:
            continue
        holes += circle.get("fill") == THEMES[theme].field
        if circle.get("fill") in sides:
            assert place not in stones
            stones[place] = sides[circle.get("fill")]
        if circle.get("stroke") == THEMES[theme].accent:
            marked.add(place)
    began = player if len(stones) % 2 == 0 else 1 - player
    board = np.zeros(shape, np.int8)
    for place, side in stones.items():
        board[place] = 1 if side == began else 2
    assert holes == board.size
    return board, sorted(marked)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("text", "size", "status"),
    [
        ("", (6, 7, 4), "to play"),
        ("44534", (6, 7, 4), "to play"),
        ("1212121", (6, 7, 4), "wins"),
        ("31212121", (4, 10, 4), "wins"),
        ("a19a28", (10, 10, 5), "to play"),
        ("1122", (2, 2, 3), "draw"),
        ("11223", (2, 3, 3), "wins"),
    ],
)
def test_the_board_can_be_read_off_the_picture(text, size, status, theme, player):
    rows, cols, connect = size
    board = notation.parse(text, *size)
    root = ElementTree.fromstring(document(drawing.board_picture(board, connect, theme, player), theme))
    shown, marked = read_svg(root, (rows, cols), theme, player)
    assert shown.tolist() == board.tolist() and marked == line_cells(board.tolist(), connect)
    assert bool(marked) == (status == "wins")
    labels = [label.text for label in root.iter(f"{SVG}text")]
    assert labels[:cols] == list("123456789a"[:cols]) and labels[cols] == status
    notes = [f"move {len(text) + 1}" if status == "to play" else f"{len(text)} moves"]
    assert labels[cols + 1 :] == (notes if cols > 3 else [])
    side = {"to play": player, "wins": 1 - player, "draw": None}[status]
    small = [circle.get("fill") for circle in root.iter(f"{SVG}circle") if circle.get("r") == "7"]
    assert small == ([] if side is None else [THEMES[theme].pieces[side].fill])
    name = "Connect Four" if size == (6, 7, 4) else f"Connect {connect} on {rows} by {cols}"
    caption = status if side is None else f"{('light', 'dark')[side]} {status}"
    assert root.find(f"{SVG}title").text == f"{name} after {len(text)} moves: {caption}"
    assert not any(child.get("id") for child in root.iter())
    width, height = (float(number) for number in root.get("viewBox").split()[2:])
    for circle in root.iter(f"{SVG}circle"):
        x, y, radius = (float(circle.get(key)) for key in ("cx", "cy", "r"))
        assert radius <= x <= width - radius and radius <= y <= height - radius


def test_grid_of_boards_of_several_sizes():
    boards = [(notation.parse(text, *size), size[2]) for text, size in (("443", (6, 7, 4)), ("a", (10, 10, 5)))]
    pictures = [drawing.board_picture(board, connect, "dark") for board, connect in boards]
    root = ElementTree.fromstring(grid_svg(pictures, theme="dark", size=900))
    cells = root.findall(f"{SVG}svg")
    titles = [cell.find(f"{SVG}title").text.split(" after")[0] for cell in cells]
    assert titles == ["Connect Four", "Connect 5 on 10 by 10"]
    for cell, (board, _) in zip(cells, boards, strict=True):
        assert read_svg(cell, board.shape, "dark", 0)[0].tolist() == board.tolist()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda board: drawing.board_picture(board, 4, theme="blue"), "unknown theme 'blue'; available: light, dark"),
        (lambda board: drawing.board_picture(board, 4, player=2), r"player 2 must be 0 \(light\) or 1 \(dark\)"),
        (lambda board: document(drawing.board_picture(board, 4), size=0), "size 0 must be a positive number of pixels"),
        (lambda board: drawing.board_picture(board + 2, 4), "0 X and 42 O"),
        (lambda board: drawing.board_text(board[0]), "the board has shape"),
    ],
)
def test_bad_input(draw, message):
    with pytest.raises(ValueError, match=message):
        draw(np.zeros((6, 7), np.int8))


@pytest.mark.parametrize("cols", [4, 7, 10])
def test_columns_are_named_by_the_board_s_width(cols):
    game = jaxgames.make("connect_four", rows=4, cols=cols)
    state = game.from_string("")
    names = [game.action_to_string(state, action) for action in range(cols)]
    assert names == list("123456789a"[:cols])
    assert [game.string_to_action(state, name) for name in names] == list(range(cols))
    with pytest.raises(ValueError, match=f"action {cols} is no column; columns are 0 to {cols - 1}"):
        game.action_to_string(state, cols)
