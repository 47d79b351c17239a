import itertools
from xml.etree import ElementTree

import pytest

from jaxgames.envs.svg import THEMES, document, grid_svg
from jaxgames.envs.tic_tac_toe import drawing, notation
from tests.envs.connect_four.reference import lines

SVG = "{http://www.w3.org/2000/svg}"
LINES = [[3 * row + column for row, column in line] for line in lines(3, 3, 3)]


def winners(cells):
    return {cells[line[0]] for line in LINES if cells[line[0]] and len({cells[cell] for cell in line}) == 1}


@pytest.fixture(scope="module")
def reachable():
    """Every board that play leads to, by playing on from the empty one."""
    found, todo = set(), [(0,) * 9]
    while todo:
        cells = todo.pop()
        if cells not in found:
            found.add(cells)
            if not winners(cells):
                mark = 1 + (9 - cells.count(0)) % 2
                todo += [cells[:cell] + (mark,) + cells[cell + 1 :] for cell in range(9) if not cells[cell]]
    return found


def test_exactly_the_boards_of_play_are_read(reachable):
    assert len(reachable) == 5478
    accepted = set()
    for cells in itertools.product(range(3), repeat=9):
        text = "/".join("".join(".XO"[cell] for cell in cells[row : row + 3]) for row in (0, 3, 6))
        try:
            assert notation.parse(text) == list(cells)
            assert notation.unparse(cells) == text
        except ValueError:
            continue
        accepted.add(cells)
    assert accepted == reachable


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?", "position '?', character 1 ('?'): a cell is X, O or . (free)"),
        ("XO./x../...", "position 'XO./x../...', character 5 ('x'): a cell is X, O or . (free)"),
        ("XO.X", "character 4 ('X'): a row has three cells; / must stand between the rows"),
        ("XO/", "character 3 ('/'): a cell is X, O or . (free)"),
        ("XO./.../..X/", "character 12 ('/'): nothing may follow the third row"),
        ("", "position '' ends after 0 characters; three rows such as XO./.../..X have 11"),
        ("XO./...", "position 'XO./...' ends after 7 characters"),
        ("OO./.X./...", "position 'OO./.X./...': 1 X and 2 O; X begins, so there must be as many X as O or one more"),
        ("XX./.../...", "2 X and 0 O"),
        ("XXX/OOO/...", "both X and O have a line; the first one ends the game"),
        ("XXX/OO./O..", "X has a line and O has moved after it"),
        ("OOO/XX./X.X", "O has a line and X has moved after it"),
    ],
)
def test_wrong_boards(text, message):
    with pytest.raises(ValueError) as error:
        notation.parse(text)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("cells", "message"),
    [([0] * 8, "the board has 8 cells; there must be 9"), ([0] * 8 + [3], "cell 9 is 3; expected 0 (free), 1 (X) or")],
)
def test_wrong_cells(cells, message):
    with pytest.raises(ValueError) as error:
        notation.unparse(cells)
    assert message in str(error.value)


def test_actions():
    cells = notation.parse("XO./.../..X")
    free = [cell for cell in range(9) if not cells[cell]]
    assert [notation.action_name(cells, cell) for cell in free] == ["3", "4", "5", "6", "7", "8"]
    assert [notation.parse_action(cells, name) for name in "345678"] == free
    assert notation.parse_action(cells, " 4\n") == 3
    for text in ("", "0", "10", "?", "a1", "²"):
        with pytest.raises(ValueError, match="is no cell; cells are 1 to 9"):
            notation.parse_action(cells, text)
    with pytest.raises(ValueError, match="^cell 2 is taken by O$"):
        notation.parse_action(cells, "2")
    with pytest.raises(ValueError, match="^cell 9 is taken by X$"):
        notation.action_name(cells, 8)
    for action in (-1, 9):
        with pytest.raises(ValueError, match=f"action {action} is no cell; cells are 0 to 8"):
            notation.action_name(cells, action)


def test_text_of_a_board():
    assert drawing.board_text(notation.parse("XO./.../..X")).split("\n") == [
        " X | O | 3 ",
        "---+---+---",
        " 4 | 5 | 6 ",
        "---+---+---",
        " 7 | 8 | X ",
    ]


def read_svg(svg, theme, player, moves):
    """Cells and numbered free cells as the picture shows them: shapes are the marks, colours must be the players'."""
    root = ElementTree.fromstring(svg)
    owners = {piece.fill: side for side, piece in enumerate(THEMES[theme].pieces)}
    began = player if moves % 2 == 0 else 1 - player
    cells, numbers = [0] * 9, set()
    for shape in root.iter():
        if shape.tag == f"{SVG}path":
            x, y = (float(number) + drawing.ARM for number in shape.get("d")[1:].split("L")[0].split())
            mark = 1
        elif shape.tag == f"{SVG}circle" and shape.get("r") == str(drawing.ARM):
            x, y, mark = float(shape.get("cx")), float(shape.get("cy")), 2
        else:
            continue
        cell = [drawing._centre(cell) for cell in range(9)].index((x, y))
        cells[cell] = mark
        if shape.get("stroke") in owners:
            assert owners[shape.get("stroke")] == (began if mark == 1 else 1 - began)
    for label in root.iter(f"{SVG}text"):
        if label.text.isdigit():
            numbers.add(int(label.text) - 1)
            assert float(label.get("x")) == drawing._centre(int(label.text) - 1)[0]
    return cells, numbers


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("text", "status", "line"),
    [
        (".../.../...", "X to play", []),
        ("XO./.../..X", "O to play", []),
        ("XO./OX./..X", "X wins", [0, 4, 8]),
        ("OXX/.O./X.O", "O wins", [0, 4, 8]),
        ("XOO/XOX/XXO", "X wins", [0, 3, 6]),
        ("XXX/XOO/XOO", "X wins", [0, 1, 2, 3, 6]),
        ("XXO/OOX/XOX", "draw", []),
    ],
)
def test_the_board_can_be_read_off_the_picture(text, status, line, theme, player):
    cells = notation.parse(text)
    moves = 9 - cells.count(0)
    svg = document(drawing.board_picture(cells, theme, player), theme)
    assert read_svg(svg, theme, player, moves) == (cells, {cell for cell in range(9) if not cells[cell]})
    root = ElementTree.fromstring(svg)
    labels = [label.text for label in root.iter(f"{SVG}text")]
    assert status in labels and (f"move {moves + 1}" if "play" in status else f"{moves} moves") in labels
    accent = [box for box in root.iter(f"{SVG}rect") if box.get("stroke") == THEMES[theme].accent]
    assert len(accent) == len(line) == len(notation.winning_cells(cells))
    assert notation.winning_cells(cells) == line
    # The small piece beside the status belongs to whom it is about: X to play and O having won are `player`'s.
    small = [circle.get("fill") for circle in root.iter(f"{SVG}circle") if circle.get("r") == "7"]
    side = None if status == "draw" else 1 - player if status.endswith("wins") else player
    assert small == ([] if side is None else [THEMES[theme].pieces[side].fill])
    caption = status if side is None else f"{status} ({('light', 'dark')[side]})"
    assert root.find(f"{SVG}title").text == f"Tic-tac-toe {text}: {caption}"


def test_grid_of_boards():
    texts = ["XO./.../..X", ".../.../...", "XO./OX./..X"]
    pictures = [drawing.board_picture(notation.parse(text), "dark", 1) for text in texts]
    root = ElementTree.fromstring(grid_svg(pictures, columns=2, theme="dark"))
    titles = [cell.find(f"{SVG}title").text for cell in root.findall(f"{SVG}svg")]
    assert [title.split()[1].rstrip(":") for title in titles] == texts
    assert len({cell.get("y") for cell in root.findall(f"{SVG}svg")}) == 2


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: drawing.board_picture([0] * 9, theme="blue"), "unknown theme 'blue'; available: light, dark"),
        (lambda: drawing.board_picture([0] * 9, player=2), r"player 2 must be 0 \(light\) or 1 \(dark\)"),
        (lambda: document(drawing.board_picture([0] * 9), size=0), "size 0 must be a positive number of pixels"),
        (lambda: drawing.board_text([2] + [0] * 8), "0 X and 1 O"),
        (lambda: drawing.board_picture([1] * 9), "9 X and 0 O"),
    ],
)
def test_bad_input(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
