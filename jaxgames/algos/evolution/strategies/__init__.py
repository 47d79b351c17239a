"""Ways to evolve, by name: each is an algorithm with its settings."""

from collections.abc import Mapping
from typing import Any

from jaxgames.algos.evolution.evolution import EvolutionConfig
from jaxgames.algos.evolution.strategies import evosax
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.algos.evolution.strategies.hill_climb import HillClimbConfig
from jaxgames.algos.evolution.strategies.low_rank import LowRankConfig
from jaxgames.algos.evolution.strategies.map_elites import MapElitesConfig
from jaxgames.algos.evolution.strategies.neuroevolution import GeneticConfig
from jaxgames.algos.evolution.strategies.nsga2 import NSGA2Config
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.ops.settings import own

STRATEGIES: dict[str, type[EvolutionConfig]] = {
    kind.name: kind
    for kind in (
        GroupsConfig,
        GeneticConfig,
        OpenESConfig,
        LowRankConfig,
        HillClimbConfig,
        MapElitesConfig,
        NSGA2Config,
    )
}
"""The strategies of this package. Any other name is one of evosax."""


def strategy_named(name: str) -> type[EvolutionConfig]:
    """The settings of a strategy. Raises `ValueError` if there is none with this name."""
    if name not in STRATEGIES and name not in evosax.strategies():
        known = ", ".join([*STRATEGIES, *sorted(evosax.strategies())])
        raise ValueError(f"unknown strategy {name!r}; available: {known}")
    return STRATEGIES[name] if name in STRATEGIES else evosax.config_named(name)


def with_changes(config: EvolutionConfig, texts: Mapping[str, str]) -> EvolutionConfig:
    """The settings with some values changed by texts; `strategy` names another strategy.

    Settings that both strategies have stay, the others get the new one's defaults. Raises `ValueError`
    for unknown names, and values that make no sense.
    """
    texts = dict(texts)
    kind = strategy_named(texts.pop("strategy", config.name))
    if "game" in texts:
        raise ValueError(f"game={texts['game']!r}: these networks learn {config.network.game}")
    if kind is type(config):
        return config.change(texts)
    common = next(base for base in kind.__mro__ if isinstance(config, base))
    shared = {name: getattr(config, name) for name in own(common)}
    values = kind(network=config.network.replace(plays="afterstate")).parse(texts)
    network = config.network.replace(**{name: value for name, value in values.items() if name not in own(kind)})
    return kind(network=network, **shared | {name: value for name, value in values.items() if name in own(kind)})


def config_of(content: Mapping[str, Any]) -> EvolutionConfig:
    """The settings in a run's configuration. Raises `ValueError` for what is unknown, missing or makes no sense."""
    settings = dict(content["evolution"])
    return strategy_named(settings.pop("strategy")).from_json(content["network"] | settings)


def content_of(config: EvolutionConfig) -> dict[str, Any]:
    """Settings as a run's configuration holds them: those of the network are separate."""
    network, every = config.network.to_json(), config.to_json()
    settings = {name: value for name, value in every.items() if name not in network}
    return {"network": network, "evolution": {"strategy": config.name, **settings}}
