"""Names of version 0.1.0 that the documentation showed: they work for one version more, with a DeprecationWarning.

Besides these there are modules that moved: `bits`, `cells`, `legal_turns`, `perft`, each a small file by its old name.
"""

import warnings

RENAMED_METHODS = {"opening": "init_position", "view": "observe_position", "mark": "amaf_key", "readings": "heads"}
"""The old and the new names of what users' own games define."""


def warn_renamed(old: str, new: str, stacklevel: int = 3) -> None:
    """Warns whoever called the caller that `old` is now `new`."""
    warnings.warn(f"{old} is deprecated: use {new}", DeprecationWarning, stacklevel)


def rename_methods(game: type) -> None:
    """Gives what a game defines by an old name its new name too, unless it defines both."""
    for old, new in RENAMED_METHODS.items():
        if old in vars(game) and new not in vars(game):
            warn_renamed(f"{game.__name__}.{old}", new, stacklevel=4)
            setattr(game, new, vars(game)[old])
