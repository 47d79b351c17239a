"""A slow, obvious rule book of English draughts, written from the published rules alone: an oracle for what is faster.

A position is a board of 8 x 8 characters (`b` and `w` men, `B` and `W` kings, `.` empty) with Black's back row first,
who moves (`b` or `w`), where the piece stands that must go on jumping (None if there is none), and how many moves have
passed since the last capture. Whoever moves sees the board from their own side: White's is turned around.
"""

from typing import NamedTuple

PLAYED_ON = [(row, column) for row in range(8) for column in range(8) if (row + column) % 2 == 1]
ON_BOARD = frozenset(PLAYED_ON)
FORWARD = [(1, -1), (1, 1)]
BACKWARD = [(-1, -1), (-1, 1)]


class Position(NamedTuple):
    rows: tuple[str, ...]
    mover: str = "b"
    jumper: tuple[int, int] | None = None
    quiet: int = 0


START = Position((".b.b.b.b", "b.b.b.b.", ".b.b.b.b", "........", "........", "w.w.w.w.", ".w.w.w.w", "w.w.w.w."))


def seen_by_mover(position):
    """The rows as lists, with the mover's back row first."""
    rows = [list(row) for row in position.rows]
    return [row[::-1] for row in rows[::-1]] if position.mover == "w" else rows


def ways(position):
    """What the mover's pieces can do by themselves: `{action: (from, over, to)}` for the steps and for the jumps."""
    rows = seen_by_mover(position)
    enemy = "w" if position.mover == "b" else "b"
    steps, jumps = {}, {}
    for number, (row, column) in enumerate(PLAYED_ON):
        piece = rows[row][column]
        if piece.lower() != position.mover:
            continue
        for direction, (down, across) in enumerate(FORWARD + BACKWARD):
            if piece.islower() and direction >= 2:
                continue  # men only go forward
            near = row + down, column + across
            far = row + 2 * down, column + 2 * across
            if near in ON_BOARD and rows[near[0]][near[1]] == ".":
                steps[4 * number + direction] = ((row, column), None, near)
            if far in ON_BOARD and rows[near[0]][near[1]].lower() == enemy and rows[far[0]][far[1]] == ".":
                jumps[4 * number + direction] = ((row, column), near, far)
    return steps, jumps


def legal(position):
    """The legal actions: `{action: (from, over, to)}`, places as the mover sees them."""
    steps, jumps = ways(position)
    if position.jumper:
        row, column = position.jumper
        own = (7 - row, 7 - column) if position.mover == "w" else (row, column)
        return {action: way for action, way in jumps.items() if way[0] == own}
    return jumps or steps  # who can capture must


def apply(position, action):
    """The position after a legal action."""
    (row, column), over, (end_row, end_column) = legal(position)[action]
    rows = seen_by_mover(position)
    piece = rows[row][column]
    rows[row][column] = "."
    crowned = piece.islower() and end_row == 7
    rows[end_row][end_column] = piece.upper() if crowned else piece
    end = end_row, end_column
    if over:
        rows[over[0]][over[1]] = "."
    if position.mover == "w":
        rows = [row[::-1] for row in rows[::-1]]
        end = 7 - end_row, 7 - end_column
    board = tuple("".join(row) for row in rows)
    if over and not crowned:
        jumping = Position(board, position.mover, end, 0)
        if legal(jumping):
            return jumping
    other = "w" if position.mover == "b" else "b"
    return Position(board, other, None, 0 if over else position.quiet + 1)


def returns(position, draw_after=100):
    """What Black and White have gained if the game is over, else None."""
    if position.quiet >= draw_after:
        return 0, 0
    if not legal(position):
        return (-1, 1) if position.mover == "b" else (1, -1)
    return None


def whole_moves(position):
    """Every whole move with the position after it: `[(actions, squares in PDN numbers, position)]`."""
    found = []
    for action, (start, _, end) in legal(position).items():
        places = [pdn_square(place, position.mover) for place in (start, end)]
        after = apply(position, action)
        if after.mover != position.mover:
            found.append(((action,), tuple(places), after))
        else:
            for actions, squares, last in whole_moves(after):
                found.append(((action, *actions), (places[0], *squares), last))
    return found


def perft(position, depth):
    """How many games of `depth` whole moves there are; ways to capture the same pieces count separately."""
    if depth == 0:
        return 1
    return sum(perft(after, depth - 1) if depth > 1 else 1 for _, _, after in whole_moves(position))


def pdn_square(place, mover):
    """The PDN number of a place as the mover sees it: counted from Black's side."""
    number = PLAYED_ON.index(place)
    return 32 - number if mover == "w" else number + 1


def plain(position):
    """The fields of the plain form: squares, white_to_move, jumper, quiet."""
    value = {".": 0, "b": 1, "B": 2, "w": -1, "W": -2}
    squares = tuple(value[position.rows[row][column]] for row, column in PLAYED_ON)
    jumper = PLAYED_ON.index(position.jumper) + 1 if position.jumper else 0
    return squares, position.mover == "w", jumper, position.quiet


def random_games(random, number, most=200):
    """The positions of `number` games of random actions, game by game, each up to its end or `most` actions."""
    for _ in range(number):
        positions = [START]
        while len(positions) <= most and legal(positions[-1]):
            positions.append(apply(positions[-1], random.choice(sorted(legal(positions[-1])))))
        yield positions


def random_position(random, pieces):
    """Pieces strewn over the board, many of them kings or against one piece; no game needs to reach it."""
    kinds = random.choice(["bbBBwwWW", "BwwwwwwW", "WbbbbbbB"])
    rows = [["."] * 8 for _ in range(8)]
    for row, column in random.sample(PLAYED_ON, pieces):
        rows[row][column] = random.choice(kinds)
    for column in range(8):
        rows[0][column] = rows[0][column].replace("w", "W")
        rows[7][column] = rows[7][column].replace("b", "B")
    return Position(tuple("".join(row) for row in rows), random.choice("bw"))
