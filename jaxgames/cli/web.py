"""`jaxgames web [RUN ...]`: play in the browser, and watch trainings."""

import argparse
import os
import sys
import threading
import time

from jaxgames.cli.common import add_shared

USUAL_PORT = 8000
END_SECONDS = 1.0
"""Seconds after Ctrl-C in which threads may finish their computations."""


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.description = "Serves a page on which all games are played, against any player or another person."
    parser.add_argument("runs", nargs="*", metavar="RUN", help="folders of trainings to play against and to watch")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=_port, default=USUAL_PORT, help=f"the port ({USUAL_PORT}; 0: any that is free)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--no-keep", action="store_true", help="end games with the server (else they are kept on disk)")
    parser.add_argument("--trust-guests", action="store_true", help="people elsewhere may start trainings, too")
    add_shared(parser, "--plugin")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Serves the page until Ctrl-C."""
    from jaxgames.cli.training_form import TrainingForm
    from jaxgames.envs import available_games
    from jaxgames.web.boards import VIEWS
    from jaxgames.web.kept_games import usual_file
    from jaxgames.web.server import serve

    plugins = [name for names in options.plugin.values() for name in names]
    for name in {*plugins} & {*available_games()} - {*VIEWS}:
        print(f"the page has no board for {name}: play it by jaxgames play {name}", file=sys.stderr)
    try:
        keep = None if options.no_keep else usual_file()
        serve(
            options.runs,
            options.host,
            options.port,
            options.open,
            plugins=plugins,
            keep=keep,
            forms={"training": TrainingForm()},
            trust_guests=options.trust_guests,
        )
    except KeyboardInterrupt as stop:
        status = 130 if type(stop) is KeyboardInterrupt else 143
        threading.Thread(target=_end, args=(status,), daemon=True).start()
        raise


def _end(status: int) -> None:
    """Ends the process, which would otherwise wait for its threads' computations."""
    time.sleep(END_SECONDS)
    os._exit(status)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: expected a port from 0 to 65535, such as {USUAL_PORT}")
    return int(text)
