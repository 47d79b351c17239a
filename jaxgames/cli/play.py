"""`jaxgames play GAME`: a game in the terminal, against a player or another person; by a pipe, too."""

import argparse
import functools
import os
import secrets
import shutil
import sys
from collections.abc import Callable

from jaxgames.cli.common import add_shared, make_game, print_json, seed

PERSON = "person"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.add_argument("game", metavar="GAME", help="tic_tac_toe, connect_four, checkers, backgammon")
    parser.add_argument("--against", default="champion", metavar="SPEC", help="a player, as for match; or person")
    parser.add_argument("--seat", choices=("first", "second"), help="where you sit (first)")
    parser.add_argument("--from", dest="start", metavar="TEXT", help="a position in the game's notation")
    parser.add_argument("--hints", metavar="SPEC", help="who gives hints (your opponent; with --against person nobody)")
    parser.add_argument("--points", type=int, metavar="N", help="a match: games until one side has so many points")
    add_shared(parser, "--set", "--plugin")
    parser.add_argument("--seed", type=seed, help="seed of the dice and the player (a new one each time)")
    parser.add_argument("--json", action="store_true", help="nothing but the record of the game, at its end")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Plays until the input ends or says `quit`, or Ctrl-C is meant."""
    from jaxgames.cli.terminal import PointsMatch, TerminalGame
    from jaxgames.players import make as make_player
    from jaxgames.records.json_lines import to_dict
    from jaxgames.sessions.session import Session
    from jaxgames.web.kept_games import state_folder

    game = make_game(options.game, options.set)
    player = None if options.against == PERSON else make_player(options.against, game)
    advisor = make_player(options.hints, game) if options.hints else player
    if player is None and options.seat is not None:
        raise ValueError("--seat and --against person: people sit on both seats; leave --seat out")
    seats = [player, None] if options.seat == "second" else [None, player]
    drawn = secrets.randbits(31) if options.seed is None else options.seed
    session = Session(game, options.start, drawn, seats)
    if session.over:
        raise ValueError(f"the game is over in {options.start!r}; give a position in which somebody can move")
    if options.points is not None and options.start is not None:
        raise ValueError("--points and --from: a match begins at the usual start; leave one of them out")
    match = None
    if options.points is not None:
        names = [seat.name if seat else PERSON for seat in seats]
        if names[0] == names[1]:
            names = [f"{PERSON} 1", f"{PERSON} 2"]
        match = PointsMatch(names, seats, options.points, drawn)
    talks = sys.stdin.isatty() and not options.json
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() and not options.json else None
    kept = state_folder() / f"play-{game.id}.json" if talks else None
    table = TerminalGame(session, _errors_only if options.json else print, colour, advisor, match, width, kept)
    if talks:
        import readline  # noqa: F401  # lets `input` edit lines and remember them

        print(f"{game.id} against {options.against}; help lists what you can write")
    todo: Callable[[], None] = table.go_on
    try:
        while True:
            try:
                todo()
                sys.stdout.flush()
                if table.done:
                    break
                line = input(table.prompt) if talks else next(sys.stdin).rstrip("\n")
                todo = functools.partial(table.take, line)
            except (EOFError, StopIteration):
                break
            except KeyboardInterrupt as stop:
                if not talks or type(stop) is not KeyboardInterrupt or _leaves():
                    raise
                todo = table.go_on  # who was to move may have been thinking
    finally:
        table.keep()
    if options.json:
        games = [to_dict(record) for record in table.records()]
        if match is None:
            print_json(games[0])
        else:
            score = dict(zip(match.names, match.score, strict=True))
            print_json({"points": match.to, "score": score, "over": match.over, "games": games})


def _leaves() -> bool:
    """Asks whether Ctrl-C was meant; a second one says so, too."""
    try:
        return input("\nleave the game? yes or no> ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        print()
        return True


def _errors_only(text: str) -> None:
    if text.startswith("error:"):
        print(text, file=sys.stderr)
