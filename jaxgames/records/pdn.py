"""Checkers records as PDN; reading and writing of the notation itself is in `envs.checkers.pdn`.

The first number of a result is Black's, who begins by the rules of English draughts. Where a game ends by the rules,
they say who has won, whatever the file says. `DrawAfter` and `MaxMoves` are tags of ours: the options of the rules.
"""

import dataclasses
import re
from collections.abc import Sequence

from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.checkers.notation import parse, unparse
from jaxgames.envs.checkers.pdn import PDNGame, games_of, write_game
from jaxgames.envs.checkers.plain_board import MOST_DIGITS, apply_action, move_to_string
from jaxgames.sessions.record import Accept, GameRecord, RecordedTurn, any_game, game_options, result_text, wrong_at
from jaxgames.sessions.session import GIVEN_UP, Session

OPTIONS = {"DrawAfter": "draw_after", "MaxMoves": "max_moves"}
_POINTS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0, "0-0": 0.0}
_RESULTS = {1.0: "1-0", -1.0: "0-1", 0.0: "1/2-1/2", None: "*"}
_OWN_TAGS = ("Black", "White", "Termination", *OPTIONS)


def read(text: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games of a PDN text."""
    records = []
    for at, game in games_of(text):
        try:
            records.append(_record(game, accept))
        except ValueError as error:
            raise wrong_at(text, at, f"in the game that begins here, {error}") from None
    return records


def write(records: Sequence[GameRecord]) -> str:
    """The games as PDN texts, one after another."""
    return "\n".join(write_game(_pdn_game(record)) for record in records)


def _record(game: PDNGame, accept: Accept) -> GameRecord:
    board, turns, least = game.start, [], 1
    for actions in game.moves:
        least = max(least, board.quiet + 1)  # what went on was no draw before
        turns.append(RecordedTurn(move_to_string(board, actions)))
        for action in actions:
            board, _ = apply_action(board, action)
    rules = Checkers(**{option: _number(tag, game.tags[tag]) for tag, option in OPTIONS.items() if tag in game.tags})
    rules = dataclasses.replace(rules, draw_after=max(rules.draw_after, least))
    record = GameRecord(
        game="checkers",
        options=game_options(rules),
        players=_by_seat(game.start.white_to_move, game.tags.get("Black", "Black"), game.tags.get("White", "White")),
        start=unparse(game.start),
        turns=tuple(turns),
        tags={name: value for name, value in game.tags.items() if name not in _OWN_TAGS},
    )
    accept(record.game, record.options)
    end = Session.replay(record).end
    if end is not None:
        return dataclasses.replace(record, points=end.points, reason=end.reason)
    if game.result == "*":
        return dataclasses.replace(record, reason=game.tags.get("Termination", ""))
    points = _POINTS[game.result] * (-1 if game.start.white_to_move else 1)
    reason = game.tags.get("Termination", GIVEN_UP[points == 0])
    return dataclasses.replace(record, points=points + 0.0, reason=reason)


def _number(tag: str, text: str) -> int:
    if not re.fullmatch(f"[0-9]{{1,{MOST_DIGITS}}}", text):
        raise ValueError(f"the tag {tag} is {text[:40]!r}; expected a whole number of at most {MOST_DIGITS} digits")
    return int(text)


def _pdn_game(record: GameRecord) -> PDNGame:
    session = Session.replay(record)
    start = parse(record.start)
    black, white = _by_seat(start.white_to_move, *record.players)
    tags = dict(record.tags) | {"Black": black, "White": white}
    tags |= {tag: str(record.options[option]) for tag, option in OPTIONS.items() if record.options.get(option)}
    if record.reason:
        tags["Termination"] = record.reason
    points = record.points if session.end is None else session.end.points
    points = points if points is None or not start.white_to_move else -points
    return PDNGame(tags, start, [turn.actions for turn in session.turns], result_text(_RESULTS, points))


def _by_seat(swapped: bool, first: str, second: str) -> tuple[str, str]:
    return (second, first) if swapped else (first, second)
