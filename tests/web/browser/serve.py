"""`jaxgames web`, whose usual players are compiled when somebody plays them, not before: few are played here."""

import functools
import sys

from jaxgames.cli import main
from jaxgames.web import server

server.serve = functools.partial(server.serve, warm=False)
sys.exit(main(["web", *sys.argv[1:]]))
