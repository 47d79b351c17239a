"""The network 9-18-9-3-1 that teaches itself tic-tac-toe, and the five ways in which that failed."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxgames.recipes.recipe import Plan, Training
from jaxgames.recipes.report import Report
from jaxgames.runs import Run

GAME = "tic_tac_toe"
HIDDEN = (18, 9, 3)
GAMES, SEEDS = 500_000, 16
MEASURED_GAMES, FINAL_GAMES = 100, 1_000
MOST_SEEDS = 1024
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


@dataclasses.dataclass(frozen=True)
class SelfPlayRecipe:
    """A population of networks for each variant, trained at once."""

    name: str = "tic-tac-toe-self-play"

    def help(self) -> str:
        """As `Recipe.help`."""
        summary = f"9-18-9-3-1 networks that learn {GAME} from the results of their games"
        length = f"{GAMES:,} games of each of {SEEDS} networks (--set seeds=N)"
        return f"{summary}\n{'':24}settings: {', '.join(SETTINGS)}; {length}"

    def check(self, plan: Plan) -> None:
        """As `Recipe.check`."""
        if plan.game not in (None, GAME):
            raise ValueError(f"{self.name} learns {GAME}, not {plan.game}; for other games: jaxgames train td")
        setting = plan.setting or next(iter(SETTINGS))
        if setting not in SETTINGS:
            raise ValueError(f"unknown setting {setting!r} of {self.name}; available: {', '.join(SETTINGS)}")
        if plan.minutes is not None:
            raise ValueError(f"{self.name} trains for a number of games: give --games, not --minutes")
        for name in ("games", "devices", "measured_games", "final_games"):
            number = getattr(plan, name)
            if number is not None and not 0 < number < 10**9:
                raise ValueError(f"{name.replace('_', '-')} {number}: expected a number from 1 to 999,999,999")
        unknown = [name for name in plan.changes if name not in ("seeds", "weights")]
        if unknown:
            raise ValueError(f"unknown setting {unknown[0]!r}; available: seeds, weights")
        _seeds(plan)
        _variants(plan)

    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        """As `Recipe.begin`."""
        from jaxgames.recipes.tic_tac_toe_self_play.training import SelfPlayTraining

        self.check(plan)
        content = {
            "recipe": self.name,
            "setting": plan.setting or next(iter(SETTINGS)),
            "game": GAME,
            "variants": [{"name": name} | dataclasses.asdict(variant) for name, variant in _variants(plan).items()],
            "seed": plan.seed or 0,
            "seeds": _seeds(plan),
            "games": plan.games or GAMES,
            "measured_games": plan.measured_games or MEASURED_GAMES,
            "final_games": plan.final_games or FINAL_GAMES,
        }
        return SelfPlayTraining.begin(content, plan.devices, path, report)

    def resume(self, run: Run, report: Report) -> Training:
        """As `Recipe.resume`."""
        from jaxgames.recipes.tic_tac_toe_self_play.training import SelfPlayTraining

        return SelfPlayTraining(run, report)

    def show(self, result: Mapping[str, Any]) -> None:
        """As `Recipe.show`."""
        from jaxgames.recipes.tic_tac_toe_self_play.report import show

        show(result)


def _seeds(plan: Plan) -> int:
    text = plan.changes.get("seeds", str(SEEDS))
    if not text.isdecimal() or not 1 <= int(text) <= MOST_SEEDS:
        raise ValueError(f"seeds={text!r}: expected a whole number from 1 to {MOST_SEEDS}")
    return int(text)


def _variants(plan: Plan) -> dict[str, Variant]:
    variants = {name: VARIANTS[name] for name in SETTINGS[plan.setting or next(iter(SETTINGS))]}
    if "weights" not in plan.changes:
        return variants
    text = plan.changes["weights"]
    try:
        weights = float(text)
    except ValueError:
        weights = float("nan")
    if not 0 < weights <= 10:
        raise ValueError(f"weights={text!r}: expected a number above 0, at most 10")
    return {name: dataclasses.replace(variant, weights=weights) for name, variant in variants.items()}


RECIPE = SelfPlayRecipe()
