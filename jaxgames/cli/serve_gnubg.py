"""`jaxgames serve-gnubg SPEC --port P`: a player for GNU Backgammon to play against."""

import argparse
from typing import Any

from jaxgames.cli.plugins import add_plugins


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser("serve-gnubg", help="let GNU Backgammon play against a player")
    parser.description = "In gnubg, on the same machine: set player 0 external 127.0.0.1:PORT, then new match."
    parser.add_argument("player", metavar="SPEC", help="a player of backgammon: champion, pubeval, a run folder, ...")
    parser.add_argument("--port", type=int, default=8001, help="where to listen (8001); 0 for a free one")
    parser.add_argument("--host", default="127.0.0.1", help="which address to listen on (127.0.0.1: this machine only)")
    add_plugins(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Answers until Ctrl-C."""
    from jaxgames import make
    from jaxgames.interop import gnubg
    from jaxgames.players import make as make_player

    if not 0 <= options.port <= 65535:
        raise ValueError(f"--port {options.port}: expected a number from 0 to 65535")
    player = make_player(options.player, make("backgammon"))
    gnubg.serve(player, options.port, options.host, say=lambda line: print(line, flush=True))
