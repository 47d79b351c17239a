"""Checkers records as PDN; reading and writing of the notation itself is in `envs.checkers.pdn`.

The first number of a result is Black's, who begins by the rules of English draughts. Where a game ends by the rules,
they say who has won, whatever the file says.
"""

import dataclasses
from collections.abc import Sequence

from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.checkers.moves import MOST_DIGITS, apply_action, move_to_string
from jaxgames.envs.checkers.notation import parse, unparse
from jaxgames.envs.checkers.pdn import PDNGame, read_games, write_game
from jaxgames.sessions.record import Accept, GameRecord, RecordedTurn, any_game
from jaxgames.sessions.session import Session

DRAW_AFTER = Checkers().draw_after
_POINTS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0, "0-0": 0.0}
_RESULTS = {1.0: "1-0", -1.0: "0-1", 0.0: "1/2-1/2", None: "*"}
_OWN_TAGS = ("Black", "White", "DrawAfter", "Termination")


def read(text: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games of a PDN text."""
    return [_record(game, accept) for game in read_games(text)]


def write(records: Sequence[GameRecord]) -> str:
    """The games as PDN texts, one after another."""
    return "\n".join(write_game(_pdn_game(record)) for record in records)


def _record(game: PDNGame, accept: Accept) -> GameRecord:
    board, turns, longest = game.start, [], game.start.quiet
    for actions in game.moves:
        turns.append(RecordedTurn(move_to_string(board, actions)))
        for action in actions:
            board, _ = apply_action(board, action)
        longest = max(longest, board.quiet)
    tag = game.tags.get("DrawAfter", "")
    if len(tag) > MOST_DIGITS:
        raise ValueError(f"DrawAfter has {len(tag)} characters; expected at most {MOST_DIGITS} digits")
    draw_after = max(int(tag) if tag.isdecimal() else DRAW_AFTER, longest)  # what went on was no draw before
    record = GameRecord(
        game="checkers",
        options={} if draw_after == DRAW_AFTER else {"draw_after": draw_after},
        players=_by_seat(game.start.white_to_move, game.tags.get("Black", "Black"), game.tags.get("White", "White")),
        start=unparse(game.start),
        turns=tuple(turns),
        tags={name: value for name, value in game.tags.items() if name not in _OWN_TAGS},
    )
    accept(record.game, record.options)
    end = Session.replay(record).end
    if end is not None:
        return dataclasses.replace(record, points=end.points)
    if game.result == "*":
        return record
    points = _POINTS[game.result] * (-1 if game.start.white_to_move else 1)
    reason = game.tags.get("Termination", "resigned" if points else "draw agreed")
    return dataclasses.replace(record, points=points + 0.0, reason=reason)


def _pdn_game(record: GameRecord) -> PDNGame:
    session = Session.replay(record)
    start = parse(record.start)
    black, white = _by_seat(start.white_to_move, *record.players)
    tags = dict(record.tags) | {"Black": black, "White": white}
    if record.options.get("draw_after"):
        tags["DrawAfter"] = str(record.options["draw_after"])
    if record.reason:
        tags["Termination"] = record.reason
    points = record.points if record.points is None or not start.white_to_move else -record.points
    return PDNGame(tags, start, [turn.actions for turn in session.turns], _RESULTS[points])


def _by_seat(swapped: bool, first: str, second: str) -> tuple[str, str]:
    return (second, first) if swapped else (first, second)
