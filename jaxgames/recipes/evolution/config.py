"""The settings of a training by evolution, in one place."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes.overrides import parse_overrides

METHODS: Mapping[str, tuple[str, ...]] = {
    "groups": ("groups", "members", "keep", "rate", "turn", "schedule", "crossover"),
    "genetic": ("population", "elites", "keep", "rate", "crossover", "opponents", "hall_every", "common", "block"),
    "open_es": (
        "population", "sigma", "step_size", "last_step_size", "weight_decay", "opponents", "hall_every", "common",
        "block",
    ),
    "hill_climb": ("sigma", "factor", "duel"),
}  # fmt: skip
"""Ways to evolve, and the settings that each of them uses beside those of all."""

_COMMON = ("generations", "score", "sides", "most_plies")
_OPPONENT = re.compile(r"([^*+]+)\*(\d+)")
_CROSSOVERS = ("none", "segments", "layers")


class Met(NamedTuple):
    """Opponents of one kind: a player's spec, `others` or `hall`, and how many."""

    name: str
    number: int


@dataclasses.dataclass(frozen=True)
class EvolutionConfig:
    """How networks are evolved. Raises `ValueError` for values that make no sense."""

    network: NetworkConfig
    method: str = "groups"
    """`groups`: groups of networks that meet each other's best; `genetic`: one population; `open_es`: OpenAI's
    evolution strategy; `hill_climb`: one champion against a mutant.
    """
    generations: int = 1_000
    """Of the whole training; for `groups` iterations of each group."""
    score: str = "wins"
    """What a candidate's games are worth: `wins`, `points` or `material`."""
    sides: str = "both"
    """`both`: two games with each opponent; `alternate`: one, begun in turns."""
    most_plies: int = 1_000
    """A game is stopped after so many."""
    groups: int = 20
    members: int = 10
    keep: int = 5
    """So many of the best have children."""
    rate: float = 0.2
    """A mutation is x + r x with r uniform in [-rate, rate] for each weight x."""
    turn: int = 100
    """Iterations of a group, while all others stay as they are."""
    schedule: str = "sequential"
    """`sequential`: one group after the other; `parallel`: all at once, against the best at the turn's beginning."""
    crossover: str = "none"
    """How children of two parents are made: `none`, `segments` or `layers`."""
    population: int = 200
    elites: int = 5
    """So many of the best live on as they are."""
    sigma: float = 0.05
    """The standard deviation of the noise on each weight."""
    step_size: float = 0.01
    """The first step size (Adam)."""
    last_step_size: float = 0.001
    """The step size at the end, falling exponentially."""
    weight_decay: float = 0.0
    opponents: str = "random*32"
    """Whom candidates meet: players, `others` of the population, or `hall`, former champions: `random*32+hall*16`."""
    hall_every: int = 10
    """The champion joins the hall of fame after so many generations."""
    common: bool = True
    """Candidates meet the same openings, dice and random moves."""
    block: int = 256
    """So many candidates are played at once."""
    factor: float = 0.05
    """How far the champion moves towards a mutant that wins."""
    duel: int = 4
    """Games of champion and mutant, in pairs with the same dice."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r}: expected one of {', '.join(METHODS)}")
        for name, low, high in (
            ("generations", 1, 10**9),
            ("most_plies", 1, 10**6),
            ("groups", 2, 10_000),
            ("members", 2, 10_000),
            ("keep", 1, 2**24),
            ("rate", 0, 10),
            ("turn", 1, 10**6),
            ("population", 2, 2**24),
            ("elites", 0, 2**24),
            ("sigma", 0, 10),
            ("step_size", 0, 10),
            ("last_step_size", 0, 10),
            ("weight_decay", 0, 1),
            ("hall_every", 1, 10**6),
            ("block", 1, 2**20),
            ("factor", 0, 1),
            ("duel", 1, 10**6),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}={getattr(self, name)}: expected a number from {low} to {high:,}")
        for name, known in (
            ("score", ("wins", "points", "material")),
            ("sides", ("both", "alternate")),
            ("schedule", ("sequential", "parallel")),
            ("crossover", _CROSSOVERS),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(known)}")
        if self.method == "groups" and self.keep >= self.members:
            raise ValueError(f"keep={self.keep} of groups of {self.members}: expected less")
        if self.method == "genetic" and max(self.keep, self.elites + 1) > self.population:
            raise ValueError(f"keep={self.keep}, elites={self.elites} of a population of {self.population}: too many")
        if self.method == "open_es" and self.population % 2:
            raise ValueError(f"population={self.population}: expected an even number, since noise comes in pairs")
        _ = self.met

    @property
    def met(self) -> tuple[Met, ...]:
        """The opponents."""
        found = []
        for part in self.opponents.split("+"):
            match = _OPPONENT.fullmatch(part)
            if not match or not 0 < int(match[2]) < 10**6:
                raise ValueError(f"opponents={self.opponents!r}: expected players and numbers, as in random*32+hall*16")
            found.append(Met(match[1], int(match[2])))
        return tuple(found)

    def changed(self, changes: Mapping[str, str]) -> "EvolutionConfig":
        """With some settings changed by texts. Raises `ValueError` for what is not known or not used."""
        mine, of_network = _types(EvolutionConfig), _types(NetworkConfig)
        known = {name: mine[name] for name in (*_COMMON, *METHODS[self.method])}
        known |= {name: kind for name, kind in of_network.items() if name != "game"}
        values = parse_overrides(known, changes)
        network = {name: values.pop(name) for name in list(values) if name in of_network}
        return dataclasses.replace(self, network=dataclasses.replace(self.network, **network), **values)

    def used(self) -> dict[str, Any]:
        """The settings that the method uses, ready for JSON; the network apart."""
        return {"method": self.method} | {name: getattr(self, name) for name in (*_COMMON, *METHODS[self.method])}


def _types(kind: type) -> dict[str, Any]:
    return {name: found for name, found in get_type_hints(kind).items() if name != "network"}
