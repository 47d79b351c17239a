import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import hypothesis
import hypothesis.strategies as st
import pytest

from jaxgames.envs.backgammon import drawing
from jaxgames.envs.svg import THEMES, document, grid_svg

SVG = "{http://www.w3.org/2000/svg}"


def side(**checkers):
    return [checkers.get(f"p{point}", 0) for point in range(1, 26)]


START = side(p6=5, p8=3, p13=5, p24=2)
LATE, BEHIND = side(p25=2, p6=7, p8=3, p13=2), side(p5=2, p4=3, p3=2, p20=1, p25=1, p11=4)


@st.composite
def boards(draw):
    owners = draw(st.lists(st.integers(0, 1), min_size=24, max_size=24))
    sides = [[0] * 25, [0] * 25]
    for player in range(2):
        places = [index for index in range(24) if owners[index] == player]
        for place in draw(st.lists(st.sampled_from([*places, 24]), min_size=1, max_size=15)):
            sides[player][place if player == 0 or place == 24 else 23 - place] += 1
    hypothesis.assume(not (sides[0][24] and sides[1][24]))  # excludes the board where both are shut out
    return sides[0], sides[1]


def read_text(board, player):
    """The checkers that the lines of `board_text` show: `(mover, opponent)`."""
    edges = [index for index, line in enumerate(board) if line.startswith(" +")]
    numbers = [re.findall(r"\d+", board[edge]) for edge in edges]
    sides = {"X": [0] * 25, "O": [0] * 25}
    halves = (board[edges[0] + 1 : edges[0] + 6], board[edges[1] - 1 : edges[1] - 6 : -1])
    for row_numbers, half in zip(numbers, halves, strict=True):
        columns = [2 + 3 * index + (5 if index > 5 else 0) for index in range(12)]
        for column, number in [*zip(columns, row_numbers, strict=True), (21, "25")]:
            cells = [line[column : column + 3] for line in half]
            symbol = cells[0].strip()
            if symbol:
                count = int(cells[4]) if cells[4].strip().isdigit() else sum(cell.strip() == symbol for cell in cells)
                point = int(number)
                point = 25 - point if point < 25 and symbol != "XO"[player] else point
                sides[symbol][point - 1] = count
    return sides["XO"[player]], sides["OX"[player]]


def read_svg(svg, theme, player):
    """The same, from the circles and numbers of the picture."""
    root = ElementTree.fromstring(svg)
    fills = {piece.fill: index for index, piece in enumerate(THEMES[theme].pieces)}
    middle = drawing.CENTRE
    columns = {round(drawing._column_x(column), 2): column for column in range(12)}
    found = Counter()
    for circle in root.iter(f"{SVG}circle"):
        if circle.get("r") == "17.5":
            found[float(circle.get("cx")), float(circle.get("cy")) < middle, fills[circle.get("fill")]] += 1
    for label in root.iter(f"{SVG}text"):
        if label.get("font-weight") == "700":
            x, upper = float(label.get("x")), float(label.get("y")) < middle
            key = next(key for key in found if key[:2] == (x, upper))
            assert found[key] == 5 and int(label.text) > 5
            found[key] = int(label.text)
    sides = [[0] * 25, [0] * 25]
    for (x, upper, who), count in found.items():
        if x == drawing.BAR_X:
            point = 25
        else:
            point = 13 + columns[x] if upper else 12 - columns[x]
            point = 25 - point if who else point
        sides[who][point - 1] = count
    return sides[player], sides[1 - player]


@hypothesis.settings(max_examples=50)
@hypothesis.given(boards(), st.integers(0, 1), st.sampled_from(["light", "dark"]))
def test_the_board_can_be_read_off_text_and_picture(board, player, theme):
    assert read_text(drawing.board_text(*board, player=player).split("\n"), player) == board
    assert read_svg(document(drawing.board_picture(*board, theme=theme, player=player), theme), theme, player) == board


def test_text_of_the_start():
    assert drawing.board_text(START, START, (3, 1)).split("\n") == [
        " 4HPwATDgc/ABMA:31",
        " +13-14-15-16-17-18------19-20-21-22-23-24-+",
        " | X           O    |   | O              X |  O: 167 pips, 0 off",
        " | X           O    |   | O              X |",
        " | X           O    |   | O                |",
        " | X                |   | O                |",
        " | X                |   | O                |",
        " |                  |BAR|                  |",
        " | O                |   | X                |",
        " | O                |   | X                |",
        " | O           X    |   | X                |",
        " | O           X    |   | X              O |  to play 3 1",
        " | O           X    |   | X              O |  X: 167 pips, 0 off",
        " +12-11-10--9--8--7-------6--5--4--3--2--1-+",
    ]


def test_points_are_numbered_for_the_mover_at_the_top():
    lines = drawing.board_text(LATE, BEHIND, player=1).split("\n")
    assert lines[1] == " +12-11-10--9--8--7-------6--5--4--3--2--1-+"
    assert lines[2].endswith("O: 142 pips, 1 off") and lines[3].endswith("to roll")
    assert lines[-2].endswith("X: 117 pips, 2 off")


@pytest.mark.parametrize(
    ("loser", "status"),
    [(side(p6=14), "wins"), (side(p6=15), "wins a gammon"), (side(p6=14, p19=1), "wins a backgammon")],
)
def test_a_finished_game(loser, status):
    won = side()
    assert drawing.board_text(won, loser).split("\n")[-3].endswith("  " + status)
    svg = document(drawing.board_picture(won, loser, (6, 6)))
    assert f">{status}</text>" in svg and 'r="2.8"' not in svg  # no dice
    assert f">{status}</text>" in document(drawing.board_picture(loser, won, (6, 6)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_picture(theme):
    svg = document(drawing.board_picture(LATE, BEHIND, (4, 4, 4), theme), theme, 312)
    root = ElementTree.fromstring(svg)
    assert root.get("width") == "312" and root.get("height") == "265"
    assert root.find(f"{SVG}title").text.endswith(":444: light to play 4 4 4")
    assert not any(child.get("id") for child in root.iter())
    texts = [label.text for label in root.iter(f"{SVG}text")]
    assert {str(point) for point in range(1, 25)} | {"142 pips", "117 pips", "1 off", "2 off", "7"} <= set(texts)
    pips = [circle for circle in root.iter(f"{SVG}circle") if circle.get("r") == "2.8"]
    assert len(pips) == 12
    for player, right in ((0, True), (1, False)):  # of whoever sits there
        dice = drawing.board_picture(LATE, BEHIND, (4,), theme, player).elements
        assert all((float(re.search('cx="(.*?)"', one)[1]) > drawing.BAR_X) is right for one in dice if '"2.8"' in one)
    width, height = (float(number) for number in root.get("viewBox").split()[2:])
    for circle in root.iter(f"{SVG}circle"):
        x, y, radius = (float(circle.get(key)) for key in ("cx", "cy", "r"))
        assert radius <= x <= width - radius and radius <= y <= height - radius
    slabs = [shape for shape in root.iter(f"{SVG}rect") if shape.get("rx") == "2.5"]
    assert len(slabs) == 3


def test_grid_of_boards():
    pictures = [drawing.board_picture(START, START, (die, 6), theme="dark") for die in range(1, 6)]
    root = ElementTree.fromstring(grid_svg(pictures, columns=2, theme="dark", size=800))
    cells = root.findall(f"{SVG}svg")
    corners = [(float(cell.get("x")), float(cell.get("y"))) for cell in cells]
    assert len({x for x, _ in corners}) == 2 and len({y for _, y in corners}) == 3 and len(set(corners)) == 5
    assert min(abs(x - y) for x in {x for x, _ in corners} for y in {x for x, _ in corners} - {x}) >= drawing.WIDTH
    assert root.get("width") == "800"
    pages = [document(picture, "dark") for picture in pictures]
    assert grid_svg(pages, columns=2, theme="dark", size=800) == grid_svg(pictures, columns=2, theme="dark", size=800)
    assert len({float(cell.get("x")) for cell in ElementTree.fromstring(grid_svg(pages)).findall(f"{SVG}svg")}) == 3


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: drawing.board_picture(START, START, theme="blue"), "unknown theme 'blue'; available: light, dark"),
        (lambda: drawing.board_picture(START, START, player=2), "player 2 must be 0"),
        (lambda: document(drawing.board_picture(START, START), size=0), "size 0 must be a positive number of pixels"),
        (lambda: drawing.board_picture(START, side(p19=1)), "both players are on point 6"),
        (lambda: drawing.board_text(START, START, (7,)), "die 7 is not between 1 and 6"),
        (lambda: grid_svg([]), "there are no boards to draw"),
        (lambda: grid_svg(["<svg/>"]), "is no SVG document made by"),
        (lambda: grid_svg([drawing.board_picture(START, START)], columns=0), "columns must be at least 1, not 0"),
    ],
)
def test_bad_input(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
