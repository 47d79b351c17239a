"""`jaxgames serve-gnubg` and `serve-hub`: players for other people's programs to play against."""

import argparse
import sys

from jaxgames.cli.common import add_shared


def add_gnubg(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.description = "In gnubg, on the same machine: set player 0 external 127.0.0.1:PORT, then new match."
    parser.add_argument("player", metavar="SPEC", help="a player of backgammon: champion, pubeval, a run folder, ...")
    parser.add_argument("--port", type=int, default=8001, help="where to listen (8001); 0 for a free one")
    parser.add_argument("--host", default="127.0.0.1", help="which address to listen on (127.0.0.1: this machine only)")
    add_shared(parser, "--plugin")
    parser.set_defaults(command=serve_gnubg)


def add_hub(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.description = "English draughts. Reads lines of the Hub protocol and answers them; programs start it."
    parser.add_argument("player", metavar="SPEC", help="a player of checkers: champion, alphabeta:9, a run folder, ...")
    add_shared(parser, "--plugin")
    parser.set_defaults(command=serve_hub)


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
