"""What the page draws: boards, legal steps and turns of each game as plain numbers, and boards set up by hand.

Seats are colours here: seat 0 has the X, the red stones, the black men, the white checkers. A game is one entry of
`VIEWS`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxgames.envs.backgammon import notation as backgammon
from jaxgames.envs.backgammon.board import to_plain as backgammon_plain
from jaxgames.envs.backgammon.turn import BAR, Turn, place_name
from jaxgames.envs.checkers import notation as checkers
from jaxgames.envs.checkers.board import to_plain as checkers_plain
from jaxgames.envs.checkers.plain_board import Board, legal_actions, square_and_direction, squares_ahead
from jaxgames.envs.connect_four import notation as connect_four
from jaxgames.envs.connect_four.board import to_plain as connect_four_plain
from jaxgames.envs.core import State
from jaxgames.envs.tic_tac_toe import notation as tic_tac_toe
from jaxgames.envs.tic_tac_toe.game import to_plain as tic_tac_toe_plain
from jaxgames.sessions.session import GameEnd
from jaxgames.web.clocks import TIME_UP
from jaxgames.web.messages import listing, whole

Fields = dict[str, Any]
Move = dict[str, Any]
"""`actions`, `from`, `to`, `text`: one step, or several of the same piece."""


class Steps(NamedTuple):
    """What a turn moved: `from` and `to` of each step, and the squares where it captured."""

    steps: list[Fields]
    captured: list[Any]


class View(Protocol):
    """How one game is shown. `seat` is always the seat of the player to act in the state."""

    title: str
    kind: str
    sides: tuple[str, str]
    notation: str

    def first(self, state: State) -> int | None:
        """The seat to act in a state, None if the position does not say."""
        ...

    def board(self, state: State, seat: int) -> Fields:
        """The board of a state."""
        ...

    def moves(self, state: State, legal: Sequence[int], seat: int) -> list[Move]:
        """The legal steps of a state, whose legal actions are given."""
        ...

    def steps(self, state: State, actions: Sequence[int], text: str, seat: int) -> Steps:
        """What actions from a state on move; `text` is the turn's."""
        ...

    def text(self, board: Mapping[str, Any], options: Any, seat: int, dice: Sequence[int] | None) -> str:
        """The notation of a board set up by hand. Raises `ValueError` that says what is wrong with it."""
        ...


class PlacesView:
    """The base of games in which a turn is one action that takes a place."""

    def moves(self, state: State, legal: Sequence[int], seat: int) -> list[Move]:
        """A place each."""
        return [_move([action], None, action, state._game.action_to_string(state, action)) for action in legal]

    def steps(self, state: State, actions: Sequence[int], text: str, seat: int) -> Steps:
        """The place."""
        return Steps([{"from": None, "to": int(action)} for action in actions], [])


class MarksView(PlacesView):
    """Tic-tac-toe."""

    title, kind, sides = "Tic-tac-toe", "marks", ("X", "O")
    notation = "three rows from the top, such as XO./.../..X"

    def first(self, state: State) -> int | None:
        """X has begun."""
        return sum(map(bool, tic_tac_toe_plain(state._position))) % 2

    def board(self, state: State, seat: int) -> Fields:
        """Cells and line."""
        cells = tic_tac_toe_plain(state._position)
        return {"kind": self.kind, "cells": cells, "line": tic_tac_toe.winning_cells(cells)}

    def text(self, board: Mapping[str, Any], options: Any, seat: int, dice: Sequence[int] | None) -> str:
        """Of `cells`."""
        return tic_tac_toe.unparse(listing(whole(0, 2), 9, 9)("cells", board.get("cells")))


class DropView(PlacesView):
    """Connect Four and its kin."""

    title, kind, sides = "Connect Four", "drop", ("Red", "Yellow")
    notation = "the columns of all moves, such as 4453"

    def first(self, state: State) -> int | None:
        """Red has begun."""
        return int(np.count_nonzero(self._plain(state))) % 2

    def board(self, state: State, seat: int) -> Fields:
        """Cells and line."""
        cells, game = self._plain(state), state._game
        line = [[int(row), int(column)] for row, column in connect_four.winning_cells(cells, game.connect)]
        sizes = {"rows": game.rows, "cols": game.cols, "connect": game.connect}
        return {"kind": self.kind, **sizes, "cells": cells.tolist(), "line": line}

    def text(self, board: Mapping[str, Any], options: Any, seat: int, dice: Sequence[int] | None) -> str:
        """Of `cells`."""
        row = listing(whole(0, 2), options.cols, options.cols)
        cells = np.array(listing(row, options.rows, options.rows)("cells", board.get("cells")), np.int8)
        return connect_four.unparse(cells, options.connect)

    def _plain(self, state: State) -> np.ndarray:
        return connect_four_plain(state._position, state._game.rows, state._game.cols)


class DraughtsView:
    """English draughts."""

    title, kind, sides = "Checkers", "draughts", ("Black", "White")
    notation = "PDN FEN, such as B:W21,22,K30:B1,2,K7"

    def first(self, state: State) -> int | None:
        """Which colour moves is part of the position."""
        return int(checkers_plain(state._position).white_to_move)

    def board(self, state: State, seat: int) -> Fields:
        """Squares."""
        plain = checkers_plain(state._position)
        squares = [int(piece) for piece in plain.squares]
        return {"kind": self.kind, "squares": squares, "jumper": int(plain.jumper), "quiet": int(plain.quiet)}

    def moves(self, state: State, legal: Sequence[int], seat: int) -> list[Move]:
        """A step or a single jump each."""
        plain = checkers_plain(state._position)
        steps = []
        for action in legal:
            start, direction = square_and_direction(action, plain.white_to_move)
            near, far = squares_ahead(start, direction, plain.white_to_move)
            sign, target = ("x", far) if plain.squares[near - 1] else ("-", near)
            steps.append(_move([action], start, target, f"{start}{sign}{target}"))
        return steps

    def steps(self, state: State, actions: Sequence[int], text: str, seat: int) -> Steps:
        """From square to square."""
        squares = [int(square) for square in re.findall("[0-9]+", text)]
        pairs = list(zip(squares, squares[1:], strict=False))
        captured = []
        if "x" in text:
            plain = checkers_plain(state._position)
            for (start, target), action in zip(pairs, actions, strict=False):
                near, far = squares_ahead(start, square_and_direction(action, plain.white_to_move)[1], bool(seat))
                captured += [near] if far == target else []
        return Steps([{"from": start, "to": target} for start, target in pairs], captured)

    def text(self, board: Mapping[str, Any], options: Any, seat: int, dice: Sequence[int] | None) -> str:
        """Of `squares` and `quiet`."""
        squares = listing(whole(-2, 2), 32, 32)("squares", board.get("squares"))
        quiet = whole(0, options.draw_after - 1)("quiet", board.get("quiet") or 0)
        plain = Board(tuple(squares), bool(seat), 0, quiet)
        if not legal_actions(plain) or not all(any(piece * sign > 0 for piece in squares) for sign in (1, -1)):
            raise ValueError(f"{self.sides[seat]} has no move; set up a position in which the game goes on")
        return checkers.unparse(plain)


class BackgammonView:
    """Backgammon. Points are shown as seat 0 counts them."""

    title, kind, sides = "Backgammon", "backgammon", ("White", "Black")
    notation = "GNU Backgammon's position id and the dice, such as 4HPwATDgc/ABMA:31"

    def first(self, state: State) -> int | None:
        """The position is that of the player to move, whoever it is."""
        return None

    def board(self, state: State, seat: int) -> Fields:
        """Points, bar, off, dice left."""
        mover, opponent, dice = backgammon_plain(state._position)
        sides = (mover, opponent) if seat == 0 else (opponent, mover)
        return {
            "kind": self.kind,
            "points": [[int(sides[0][p]), int(sides[1][23 - p])] for p in range(24)],
            "bar": [int(side[24]) for side in sides],
            "off": [15 - int(sum(side)) for side in sides],
            "left": list(dice or ()),
            "pips": [int(sum(count * point for point, count in enumerate(side, 1))) for side in sides],
        }

    def moves(self, state: State, legal: Sequence[int], seat: int) -> list[Move]:
        """One checker by one die or several; for equal places the way with fewer steps, hits first."""
        mover, opponent, dice = backgammon_plain(state._position)
        if not dice:
            return []
        if list(legal) == [0]:
            return [_move([0], None, None, "pass")]
        start = Turn.start(mover, opponent, dice)
        best = start.best()
        shortest: dict[tuple[int, int], tuple[int, Move]] = {}

        def follow(turn: Turn, actions: list[int], places: list[int]) -> None:
            key, hits = (places[0], places[-1]), len(turn.hits)
            known = shortest.get(key)
            if known is None or len(actions) == len(known[1]["actions"]) and hits > known[0]:
                shown = [place for place in places[1:-1] if place in turn.hits] + places[-1:]
                names = [place_name(places[0]), *(place_name(p) + "*" * (p in turn.hits) for p in shown)]
                shortest[key] = hits, _move(list(actions), *_shown(key, seat), "/".join(names))
            for die in sorted(set(turn.dice)) if places[-1] else ():
                if places[-1] in turn.sources(die):
                    after = turn.step(places[-1], die)
                    if len(start.dice) == 1 or len(set(start.dice)) == 1 or after.completes(best):
                        action = backgammon.action_of(places[-1], die)
                        follow(after, [*actions, action], [*places, max(places[-1] - die, 0)])

        for action in legal:
            source, die = backgammon.step_of(action) or (0, 0)
            follow(start.step(source, die), [action], [source, max(source - die, 0)])
        return sorted((move for _, move in shortest.values()), key=lambda move: len(move["actions"]))

    def steps(self, state: State, actions: Sequence[int], text: str, seat: int) -> Steps:
        """Checker by checker, with the points where one was hit."""
        mover, opponent, dice = backgammon_plain(state._position)
        turn, steps = Turn.start(mover, opponent, dice or ()), []
        for action in actions:
            if step := backgammon.step_of(int(action)):
                turn = turn.step(*step)
                source, target = _shown((step[0], max(step[0] - step[1], 0)), seat)
                steps.append({"from": source, "to": target})
        return Steps(steps, [_shown((point, point), seat)[0] for point in sorted(turn.hits)])

    def text(self, board: Mapping[str, Any], options: Any, seat: int, dice: Sequence[int] | None) -> str:
        """Of `points` and `bar`, for the seat that is to move."""
        pair = listing(whole(0, 15), 2, 2)
        points = listing(pair, 24, 24)("points", board.get("points"))
        bar = pair("bar", board.get("bar", [0, 0]))
        sides = [[row[0] for row in points] + [bar[0]], [row[1] for row in points[::-1]] + [bar[1]]]
        for name, side in zip(self.sides, sides, strict=True):
            if not 1 <= sum(side) <= 15:
                raise ValueError(f"{name} has {sum(side)} checkers on the board; expected 1 to 15, the others are off")
        if dice is not None and len(dice) == 2 and dice[0] == dice[1]:
            dice = [dice[0]] * 4
        return backgammon.to_text(sides[seat], sides[1 - seat], dice)


VIEWS: Mapping[str, View] = {
    "tic_tac_toe": MarksView(),
    "connect_four": DropView(),
    "checkers": DraughtsView(),
    "backgammon": BackgammonView(),
}


def _move(actions: list[int], start: Any, target: Any, text: str) -> Move:
    return {"actions": actions, "from": start, "to": target, "text": text}


def _shown(places: tuple[int, int], seat: int) -> tuple[Any, Any]:
    """Where a checker leaves and where it comes to, from the numbering of the mover to that of seat 0."""
    names = {BAR: "bar", 0: "off"}
    source, target = (names.get(place, place if seat == 0 else BAR - place) for place in places)
    return source, target


# How a game has ended, in words.

_DID = {"resigned": "resigned", TIME_UP: "has lost on time"}


def points_of(won: int, first: int, most: int) -> list[int]:
    """The points of both seats, at most as many as a game is worth, where who moved first has `won` so many."""
    own = max(-most, min(most, won)) * (-1 if first else 1)
    return [own, -own]


def ending(view: View, points: list[int], end: GameEnd | None, most_points: int) -> dict[str, Any]:
    """The result by `points` of both seats; without an `end` the game was stopped."""
    reason = "too many turns" if end is None else end.reason
    if not any(points):
        text = f"Draw: {reason}" if reason else "Draw"
        return {"winner": None, "points": points, "reason": reason or "draw", "text": text}
    winner = int(points[1] > 0)
    name, won = view.sides[winner], points[winner]
    kind = {2: "gammon", 3: "backgammon"}.get(abs(int(end.points)) if end else 1, "")
    why = f"{view.sides[1 - winner]} {_DID[reason]}" if reason in _DID else reason
    how = f" a {kind}" if kind and not reason else f": {why}" if why else ""
    worth = f", {won} point{'s' * (won > 1)}" if most_points > 1 else ""
    return {"winner": winner, "points": points, "reason": reason or kind, "text": f"{name} wins{how}{worth}"}
