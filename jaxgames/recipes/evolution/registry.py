"""The strategies by name, and settings read from texts and from run folders."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

from jaxgames.algos.evolution.saved import NetworkConfig, network_of
from jaxgames.algos.evolution.strategies import evosax
from jaxgames.recipes.evolution.climb import HillClimbConfig
from jaxgames.recipes.evolution.groups import GroupsConfig
from jaxgames.recipes.evolution.population import EvosaxConfig, GeneticConfig, OpenESConfig, PopulationConfig
from jaxgames.recipes.evolution.strategy import EvolutionConfig
from jaxgames.recipes.overrides import parse_overrides

STRATEGIES: dict[str, type[EvolutionConfig]] = {
    kind.name: kind for kind in (GroupsConfig, GeneticConfig, OpenESConfig, HillClimbConfig)
}
"""The strategies of this package. Any other name is one of evosax."""


def with_changes(config: EvolutionConfig, changes: Mapping[str, str]) -> EvolutionConfig:
    """The setting with some values changed by texts; `strategy` names another strategy.

    What the old and the new strategy share stays as it is, the rest is as usual for the new one. Raises `ValueError`
    for names that are not known or not used, and values that make no sense.
    """
    changes = dict(changes)
    strategy = changes.pop("strategy", config.strategy)
    kind = _kind_of(strategy)
    if strategy == config.strategy:
        values = config.values()
    else:
        both = [one for one in (EvolutionConfig, PopulationConfig) if isinstance(config, one) and issubclass(kind, one)]
        values = {name: getattr(config, name) for one in both for name in one.setting_types("")}
    own_types = kind.setting_types(strategy)
    network_types = {name: found for name, found in get_type_hints(NetworkConfig).items() if name != "game"}
    read_values = parse_overrides(own_types | network_types | {"strategy": str}, changes)
    network = {name: value for name, value in read_values.items() if name in network_types}
    values |= {name: value for name, value in read_values.items() if name in own_types}
    return kind.of(strategy, dataclasses.replace(config.network, **network), values)


def config_of(content: Mapping[str, Any]) -> EvolutionConfig:
    """The setting in a run's configuration."""
    settings = dict(content["evolution"])
    strategy = settings.pop("strategy")
    return _kind_of(strategy).of(strategy, network_of(content["network"]), settings)


def content_of(config: EvolutionConfig) -> dict[str, Any]:
    """A setting as it stands in a run's configuration."""
    return {
        "network": dataclasses.asdict(config.network),
        "evolution": {"strategy": config.strategy, **config.values()},
    }


def _kind_of(strategy: str) -> type[EvolutionConfig]:
    if strategy not in STRATEGIES and strategy not in evosax.strategies():
        known = ", ".join([*STRATEGIES, *sorted(evosax.strategies())])
        raise ValueError(f"unknown strategy {strategy!r}; available: {known}")
    return STRATEGIES.get(strategy, EvosaxConfig)
