"""`python -m jaxgames`, as `jaxgames`."""

import sys

from jaxgames.cli import main

if __name__ == "__main__":
    sys.exit(main())
