"""`jaxgames serve-hub SPEC`: a player for programs of draughts to play against, by the Hub protocol."""

import argparse
import sys
from typing import Any

from jaxgames.cli.plugins import add_plugins


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser("serve-hub", help="be a draughts program that speaks the Hub protocol")
    parser.description = "English draughts. Reads lines of the Hub protocol and answers them; programs start it so."
    parser.add_argument("player", metavar="SPEC", help="a player of checkers: champion, alphabeta:9, a run folder, ...")
    add_plugins(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Answers until `quit` or the end of the input."""
    from jaxgames import make
    from jaxgames.interop import hub
    from jaxgames.players import make as make_player

    hub.serve(make_player(options.player, make("checkers")), sys.stdin, sys.stdout)
