"""The five published systems, measured again table by table. A new system is one module here and one line below."""

import importlib

from jaxgames.recipes.reproduce.report import Part, System, Table
from jaxgames.recipes.reproduce.rows import Row
from jaxgames.recipes.reproduce.study import Study

SYSTEMS = {
    "tic-tac-toe-evolution": "tic_tac_toe_evolution",
    "td-gammon": "td_gammon",
    "self-taught-tic-tac-toe": "self_taught_tic_tac_toe",
    "checkers-simulation": "checkers_simulation",
    "connect-four-mcts": "connect_four_mcts",
}
"""The module of each system, imported when it is asked for: one needs not compile what another does."""


def system_named(name: str) -> System:
    """The system with this name. Raises `ValueError` if there is none."""
    if name not in SYSTEMS:
        raise ValueError(f"unknown system {name!r}; available: {', '.join(SYSTEMS)}, all")
    return importlib.import_module(f"{__name__}.{SYSTEMS[name]}").SYSTEM


__all__ = ["SYSTEMS", "Part", "Row", "Study", "System", "Table", "system_named"]
