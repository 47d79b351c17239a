"""What a recipe is: a named training with settings to choose from, and what others have published about it."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from jaxgames.algos.td import TDConfig


@dataclasses.dataclass(frozen=True)
class Published:
    """A published result: points per game against `opponent`, a few words for the curve, and where it stands."""

    opponent: str
    ppg: float
    label: str
    source: str


@dataclasses.dataclass(frozen=True)
class TDRecipe:
    """A TD training: named settings, the first of them the usual ones, and the players it is measured against."""

    name: str
    summary: str
    settings: Mapping[str, TDConfig]
    published: tuple[Published, ...] = ()
    opponents: tuple[str, ...] = ("random", "simple:3", "pubeval")
    watched: str = "pubeval"
    """The opponent met at intervals during training."""

    def config(self, setting: str | None = None, changes: Mapping[str, str] | None = None) -> TDConfig:
        """The settings named `setting`, with some of them changed by texts such as `{"hidden": "80"}`.

        Raises `ValueError` for an unknown name or a text that cannot be read.
        """
        setting = setting or next(iter(self.settings))
        if setting not in self.settings:
            raise ValueError(f"unknown setting {setting!r} of {self.name}; available: {', '.join(self.settings)}")
        return dataclasses.replace(self.settings[setting], **_read(changes or {}))


def _read(changes: Mapping[str, str]) -> dict[str, Any]:
    types = get_type_hints(TDConfig)
    read = {}
    for name, text in changes.items():
        if name not in types or name == "updates":
            names = ", ".join(known for known in types if known != "updates")
            raise ValueError(f"unknown setting {name!r}; available: {names}")
        try:
            read[name] = _parse(types[name], text)
        except ValueError:
            kind = {bool: "true or false", int: "a whole number", float: "a number"}.get(
                types[name], "numbers as in 40,40"
            )
            raise ValueError(f"{name}={text!r}: expected {kind}") from None
    return read


def _parse(kind: Any, text: str) -> Any:
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower()) if text.lower() in ("true", "false") else int("no")
    if get_args(kind):
        return tuple(int(part) for part in text.split(",") if part)
    return kind(text)
