"""The network 9-18-9-3-1 that teaches itself tic-tac-toe, and the five ways in which that failed."""

import dataclasses

GAME = "tic_tac_toe"
HIDDEN = (18, 9, 3)
PUBLISHED = (90.0, 100.0)
"""Good results per 100 games that the published chart reaches."""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to train the network: `label` is what it is called in the diagram."""

    label: str
    empty: float = 0.01
    """The input of an empty square; the player's own is 1, the opponent's -1."""
    side: bool = False
    """The board as it is, first player's squares 1, and a tenth input that says who moved; not the mover's own view."""
    step_size: float = 0.025
    weights: float = 1.0
    """The first weights and biases are uniformly random between minus this and this."""
    cycle: tuple[str, ...] = ("self", "first", "second")
    """The kinds of games, in turn: self-play, and random moves against the network that moves first or second."""
    both_sides: bool = False
    """The positions after random moves are learned, too, each for the player who moved."""


VARIANTS: dict[str, Variant] = {
    "faithful": Variant("as published"),
    "empty-zero": Variant("empty squares 0", empty=0.0),
    "side-input": Variant("side to move as tenth input", side=True),
    "large-steps": Variant("step size 0.1", step_size=0.1),
    "only-random": Variant("only random opponents", cycle=("first", "second")),
    "only-self-play": Variant("only self-play", cycle=("self",)),
    "all-positions": Variant("all positions learned", both_sides=True),
}
SETTINGS: dict[str, tuple[str, ...]] = {"all": tuple(VARIANTS)[:6], **{name: (name,) for name in VARIANTS}}
