"""Deprecated: this module is now `jaxgames.ops.bits`."""

from jaxgames.envs.deprecated import warn_renamed
from jaxgames.ops.bits import *  # noqa: F403

warn_renamed(__name__, "jaxgames.ops.bits")
