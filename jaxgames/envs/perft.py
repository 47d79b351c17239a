"""Deprecated: this module is now `jaxgames.envs.testing.perft`."""

from jaxgames.envs.deprecated import warn_renamed
from jaxgames.envs.testing.perft import *  # noqa: F403

warn_renamed(__name__, "jaxgames.envs.testing.perft")
