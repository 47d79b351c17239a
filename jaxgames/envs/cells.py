"""Deprecated: this module is now `jaxgames.envs.encodings`."""

from jaxgames.envs.deprecated import warn_renamed
from jaxgames.envs.encodings import *  # noqa: F403

warn_renamed(__name__, "jaxgames.envs.encodings")
