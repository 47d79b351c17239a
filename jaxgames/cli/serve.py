"""`jaxgames serve-gnubg` and `serve-hub`: players for other people's programs to play against."""

import argparse
import sys
from typing import Any

from jaxgames.cli.common import add_shared


def add(commands: Any) -> None:
    """Adds both commands to the parser."""
    gnubg = commands.add_parser("serve-gnubg", help="let GNU Backgammon play against a player")
    gnubg.description = "In gnubg, on the same machine: set player 0 external 127.0.0.1:PORT, then new match."
    gnubg.add_argument("player", metavar="SPEC", help="a player of backgammon: champion, pubeval, a run folder, ...")
    gnubg.add_argument("--port", type=int, default=8001, help="where to listen (8001); 0 for a free one")
    gnubg.add_argument("--host", default="127.0.0.1", help="which address to listen on (127.0.0.1: this machine only)")
    add_shared(gnubg, "--plugin")
    gnubg.set_defaults(command=serve_gnubg)
    hub = commands.add_parser("serve-hub", help="be a draughts program that speaks the Hub protocol")
    hub.description = "English draughts. Reads lines of the Hub protocol and answers them; programs start it so."
    hub.add_argument("player", metavar="SPEC", help="a player of checkers: champion, alphabeta:9, a run folder, ...")
    add_shared(hub, "--plugin")
    hub.set_defaults(command=serve_hub)


def serve_gnubg(options: argparse.Namespace) -> None:
    """Answers until Ctrl-C."""
    from jaxgames import make
    from jaxgames.interop import gnubg
    from jaxgames.players import make as make_player

    if not 0 <= options.port <= 65535:
        raise ValueError(f"--port {options.port}: expected a number from 0 to 65535")
    player = make_player(options.player, make("backgammon"))
    gnubg.serve(player, options.port, options.host, say=lambda line: print(line, flush=True))


def serve_hub(options: argparse.Namespace) -> None:
    """Answers until `quit` or the end of the input."""
    from jaxgames import make
    from jaxgames.interop import hub
    from jaxgames.players import make as make_player

    hub.serve(make_player(options.player, make("checkers")), sys.stdin, sys.stdout)
