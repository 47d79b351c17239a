"""The network 9-18-9-3-1 that teaches itself tic-tac-toe, and the other ways in which its author trained it."""

import dataclasses

from jaxgames.algos.self_play_saved import SelfPlayConfig

NETWORK = SelfPlayConfig("tic_tac_toe", (18, 9, 3), "tanh", most_plies=9)
"""The article's layers. AForge's bipolar sigmoid, 2 / (1 + exp(-2 x)) - 1 with its usual alpha of 2, is tanh(x)."""
PUBLISHED = (90.0, 100.0)
"""Good results per 100 games that the published chart reaches."""

MIXED = ("self", "second", "first", "self", "first", "second")
"""The article's schedule: every third game is one against itself, and the network begins every other of the rest."""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to train the network: `label` is what it is called in the diagram."""

    label: str
    empty: float = 0.01
    """The input of an empty square; the player's own is 1, the opponent's -1."""
    absolute: bool = False
    """The board as it is, first player's squares 1, and an output of 1 where the first player wins; not the mover's
    own view."""
    side: bool = False
    """A tenth input says whose turn it is: 1 the first player's, -1 the second's."""
    step_size: float = 0.025
    weights: tuple[float, float] = (0.0, 1.0)
    """The first weights and biases are uniformly random between these two."""
    cycle: tuple[str, ...] = MIXED
    """The kinds of games, in turn: self-play, and random moves against the network that moves first or second."""


VARIANTS: dict[str, Variant] = {
    "faithful": Variant("as published"),
    "only-random": Variant("only random opponents", cycle=("first", "second")),
    "only-self-play": Variant("only self-play", cycle=("self",)),
    "steps-0.0125": Variant("step size 0.0125", step_size=0.0125),
    "steps-0.05": Variant("step size 0.05", step_size=0.05),
    "steps-0.075": Variant("step size 0.075", step_size=0.075),
    "large-steps": Variant("step size 0.1", step_size=0.1),
    "empty-zero": Variant("empty squares 0", empty=0.0),
    "empty-zero-0.05": Variant("empty squares 0, step size 0.05", empty=0.0, step_size=0.05),
    "absolute": Variant("board as it is: X 1, O -1", absolute=True),
    "side-input": Variant("the same with a tenth input", absolute=True, side=True),
    "side-input-0.05": Variant("tenth input, step size 0.05", absolute=True, side=True, step_size=0.05),
    "side-input-0.1": Variant("tenth input, step size 0.1", absolute=True, side=True, step_size=0.1),
    "symmetric": Variant("first weights in [-1, 1]", weights=(-1.0, 1.0)),
}
SETTINGS: dict[str, tuple[str, ...]] = {"all": tuple(VARIANTS), **{name: (name,) for name in VARIANTS}}
