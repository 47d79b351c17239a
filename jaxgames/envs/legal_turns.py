"""Deprecated: this module is now `jaxgames.envs.turns.best`."""

from jaxgames.envs.deprecated import warn_renamed
from jaxgames.envs.turns.best import *  # noqa: F403

warn_renamed(__name__, "jaxgames.envs.turns.best")
