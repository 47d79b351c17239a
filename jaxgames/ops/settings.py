"""Settings, each declared once: its type, default, range or choices, a line of help, and when it has an effect.

    @dataclasses.dataclass(frozen=True)
    class Config(Settings):
        batch: int = setting(128, "games played at once", low=1, high=2**20)
        optimizer: str = setting("adam", "what makes a step of a gradient", choices=("adam", "adamw"))
        weight_decay: float = setting(0.0001, "share of the weights that a step takes", when={"optimizer": "adamw"})

The declaration gives the checks, what `--set` reads, help, tables of the docs, forms of the page, and what a run's
`config.json` may hold. A field that is another `Settings` is a group: from outside, its settings look like own ones.
"""

import dataclasses
import functools
import math
import types
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from jaxgames.ops import checks

S = TypeVar("S", bound="Settings")
BOOLS = {"true": True, "false": False}


@dataclasses.dataclass(frozen=True)
class Above:
    """All numbers above one, as a condition of `when`."""

    number: float

    def __contains__(self, value: float) -> bool:
        return value > self.number


@dataclasses.dataclass(frozen=True)
class Setting:
    """The declaration of one setting."""

    name: str
    kind: Any
    """`int`, `float`, `bool`, `str`, an optional one of these, or a tuple of one of these."""
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    above: float | None = None
    """A number that it must be greater than."""
    choices: tuple[Any, ...] = ()
    when: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The values of other settings with which this one has an effect: a value, a tuple of values, or `Above`."""
    derived: bool = False
    """Whether it follows from other facts about a training, so that no text sets it."""

    @property
    def base(self) -> Any:
        """The type of the value, or of each value of a tuple."""
        kinds = [kind for kind in get_args(self.kind) if kind not in (type(None), ...)]
        return kinds[0] if kinds else self.kind

    @property
    def is_tuple(self) -> bool:
        """Whether it is several values."""
        return get_origin(self.kind) is tuple

    @property
    def expected(self) -> str:
        """What is right, in a few words."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if self.base not in (int, float):
            return {bool: "true or false", str: "a text"}[self.base]
        what = "a whole number" if self.base is int else "a number"
        if self.is_tuple:
            what = "whole numbers" if self.base is int else "numbers"
        low, high = self.low, self.high
        if self.above is not None:
            what += f" above {_short(self.above)}" + ("" if high is None else f", at most {_short(high)}")
        elif low is not None:
            what += f" from {_short(low)} {'on' if high is None else f'to {_short(high)}'}"
        elif high is not None:
            what += f" up to {_short(high)}"
        example = ",".join(map(str, self.default)) if self.is_tuple and self.default else "40,40"
        return what + (f", such as {example}" if self.is_tuple else "") + (", or none" if self.optional else "")

    @property
    def optional(self) -> bool:
        """Whether it may be None."""
        return isinstance(self.kind, types.UnionType) and type(None) in get_args(self.kind)

    def check(self, value: Any) -> Any:
        """The value in its declared type. Raises `TypeError` or `ValueError` for a wrong one."""
        if value is None and self.optional:
            return None
        if not self.is_tuple:
            return self._check_one(value)
        if not isinstance(value, tuple | list):
            raise TypeError(f"{self.name} {checks.describe(value)}: expected {self.expected}")
        return tuple(self._check_one(one) for one in value)

    def _check_one(self, value: Any) -> Any:
        wrong = f"{self.name} {checks.describe(value)}: expected {self.expected}"
        if self.choices and value not in self.choices:
            raise (ValueError if isinstance(value, self.base) else TypeError)(wrong)
        if self.base is bool and not isinstance(value, bool):
            raise TypeError(wrong)
        if self.base is str and not isinstance(value, str):
            raise TypeError(wrong)
        given = value
        if self.base is int:
            value = checks.whole(self.name, value, None, expected=self.expected)
        elif self.base is float:
            value = checks.number(self.name, value, self.expected)
        if self.base in (int, float) and not self.choices and not self._in_range(value):
            raise ValueError(f"{self.name} {given}: expected {self.expected}")
        return value

    def _in_range(self, value: float) -> bool:
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        if not (low <= value <= high and (math.isfinite(value) or value in (self.low, self.high))):
            return False
        if self.base is float and math.isfinite(value):  # it is used as a float32
            if abs(value) > checks.MOST_FLOAT32:
                return False
            value = 0.0 if abs(value) < checks.LEAST_FLOAT32 else float(np.float32(value))
        return self.above is None or value > self.above

    def parse(self, text: str) -> Any:
        """The value in a text, as `--set name=text` gives it. Raises `ValueError` if there is none."""
        try:
            if self.optional and text == "none":
                return None
            values = [self._parse_one(part) for part in text.split(",") if part] if self.is_tuple else None
            return self.check(self._parse_one(text) if values is None else tuple(values))
        except (KeyError, ValueError, TypeError):
            raise ValueError(f"{self.name}={text!r}: expected {self.expected}") from None

    def _parse_one(self, text: str) -> Any:
        if self.base is bool:
            return BOOLS[text.lower()]
        if self.choices:
            return {str(choice): choice for choice in self.choices}[text]
        return self.base(text)

    def has_meaning(self, values: Mapping[str, Any]) -> bool:
        """Whether it has an effect with these values of the others."""
        return not any(self._switched_off_by(values))

    def _switched_off_by(self, values: Mapping[str, Any]) -> Iterable[str]:
        for name, wanted in self.when.items():
            if name in values and values[name] not in _several(wanted):
                yield (
                    f"{name} above {wanted.number:g}"
                    if isinstance(wanted, Above)
                    else (f"{name}={' or '.join(_as_text(one) for one in _several(wanted))}")
                )

    def allows(self, name: str, choices: tuple[Any, ...]) -> bool:
        """Whether it can have an effect when setting `name` has one of these values."""
        wanted = _several(self.when.get(name, choices))
        return any(one in wanted for one in choices)

    def check_meaning(self, values: Mapping[str, Any]) -> None:
        """Raises `ValueError` if it is set and another setting switches it off."""
        if values[self.name] != self.default and (needs := list(self._switched_off_by(values))):
            raise ValueError(f"{self.name}={_as_text(values[self.name])} has no effect without {' and '.join(needs)}")

    def form(self) -> dict[str, Any]:
        """What a form needs to know, ready for JSON."""
        facts = {"least": self.low, "above": self.above, "most": self.high, "choices": list(self.choices)}
        when = {
            name: {"above": each.number} if isinstance(each, Above) else list(_several(each))
            for name, each in self.when.items()
        }
        several = {"several": True} if self.is_tuple else {}
        optional = {"optional": True} if self.optional else {}
        said = {name: fact for name, fact in facts.items() if fact not in (None, [])}
        return {
            "name": self.name, "type": self.base.__name__, "default": self.default, "help": self.help,
            **several, **optional, **said, **({"when": when} if when else {}),
        }  # fmt: skip


def setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: Iterable[Any] = (),
    when: Mapping[str, Any] | None = None,
    derived: bool = False,
) -> Any:
    """A field of a class of settings, declared as in `Setting`."""
    facts = {"help": help, "low": low, "high": high, "above": above, "choices": tuple(choices), "when": when or {}}
    return dataclasses.field(default=default, metadata={"setting": facts | {"derived": derived}})


def group(default: "Settings | type[Settings]", choices: Mapping[str, tuple[Any, ...]] | None = None) -> Any:
    """A field that is other settings; from outside they look like own ones.

    Args:
        default: the settings, or their class.
        choices: the possible values of settings that are restricted here. A setting with only one possible value
            is hidden outside, and so are those that it switches off.
    """
    factory = default if isinstance(default, type) else functools.partial(lambda value: value, default)
    return dataclasses.field(default_factory=factory, metadata={"group": choices or {}})


@dataclasses.dataclass(frozen=True)
class Settings:
    """A class of settings. Raises `TypeError` or `ValueError` for values that make no sense, in one line."""

    of: ClassVar[str] = "settings"
    """What they are settings of, for errors: `a TD learner`."""

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name, declared in own(type(self)).items():
            object.__setattr__(self, name, declared.check(getattr(self, name)))
        for name, choices in groups(type(self)).items():
            inner = checks.kind(name, getattr(self, name), Settings).declarations()
            for key, allowed in choices.items():
                dataclasses.replace(inner[key], choices=allowed).check(inner[key].default)
        values = self.values()
        for declared in own(type(self)).values():
            declared.check_meaning(values)

    def values(self) -> dict[str, Any]:
        """The value of each setting, those of groups too."""
        values = {name: getattr(self, name) for name in own(type(self))}
        for name, choices in groups(type(self)).items():
            inner: Settings = getattr(self, name)
            values |= {key: value for key, value in inner.values().items() if key in inner.narrowed(choices)}
        return values

    def declarations(self) -> dict[str, Setting]:
        """All that can be set, by name, with these values as defaults."""
        known = {name: dataclasses.replace(one, default=getattr(self, name)) for name, one in own(type(self)).items()}
        for name, choices in groups(type(self)).items():
            known |= getattr(self, name).narrowed(choices)
        return known

    def narrowed(self, choices: Mapping[str, tuple[Any, ...]]) -> dict[str, Setting]:
        """Its declarations if some settings have only these choices, see `group`."""
        declared = {}
        for name, one in self.declarations().items():
            possible = all(one.allows(other, allowed) for other, allowed in choices.items())
            if possible and len(choices.get(name, ())) != 1:
                when = {other: wanted for other, wanted in one.when.items() if len(choices.get(other, ())) != 1}
                declared[name] = dataclasses.replace(one, choices=choices.get(name, one.choices), when=when)
        return declared

    def replace(self, **values: Any) -> Self:
        """The same with other values; settings that they switch off return to their defaults.

        Raises `ValueError` for an unknown name, and for values that make no sense or have no effect.
        """
        after = self._replaced(values)
        after.check_said(values)
        return after

    def check_said(self, names: Iterable[str]) -> None:
        """Raises `ValueError` if one of these explicitly set settings has no effect with the others."""
        for name in groups(type(self)):
            getattr(self, name).check_said(names)

    def _replaced(self, values: dict[str, Any]) -> Self:
        known = self.declarations()
        for name in values:
            if name not in known:
                raise ValueError(f"unknown setting {name!r} of {self.of}; available: {', '.join(known)}")
        after = self.values() | values
        mine = {
            name: values.get(name, one.default)
            for name, one in own(type(self)).items()
            if name in values or not one.has_meaning(after)
        }
        for name, choices in groups(type(self)).items():
            inner: Settings = getattr(self, name)
            theirs = {key: value for key, value in values.items() if key in inner.narrowed(choices)}
            mine |= {name: inner._replaced(theirs)} if theirs else {}
        return dataclasses.replace(self, **mine)

    def parse(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """The values in texts, as `--set name=value` gives them. Raises `ValueError` for unknown names and values."""
        return parse(settable(self), texts, self.of)

    def change(self, texts: Mapping[str, str]) -> Self:
        """The same with the values in these texts."""
        return self.replace(**self.parse(texts))

    def to_json(self) -> dict[str, Any]:
        """The settings that have an effect, ready for JSON.

        Raises `ValueError` if a field that is no setting has another value than by default: it would be lost.
        """
        for field in dataclasses.fields(self):
            if not {"setting", "group"} & field.metadata.keys() and field.default is not dataclasses.MISSING:
                if (value := getattr(self, field.name)) != field.default:
                    raise ValueError(f"{field.name}={value} of {self.of} is no setting, and cannot be written")
        values, declared = self.values(), self.declarations()
        effective = {name: value for name, value in values.items() if declared[name].has_meaning(values)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in effective.items()}

    @classmethod
    def from_json(cls: type[S], settings: Any) -> S:
        """The settings in a run's configuration: all that have an effect must be there.

        Raises `ValueError` if one is unknown, missing, or has a wrong value, and for a class that needs more.
        """
        if needed := [field.name for field in dataclasses.fields(cls) if _is_needed(field)]:
            said = f"make one with {', '.join(needed)}, and then replace(**settings)"
            raise ValueError(f"{cls.of} cannot be read from settings alone: {said}")
        if not isinstance(settings, dict):
            raise ValueError(f"the settings of {cls.of} are {checks.describe(settings)}; expected names with values")
        try:
            read = cls()._replaced(settings)
        except TypeError as error:
            raise ValueError(str(error)) from None
        wanted = read.to_json()
        if missing := [name for name in wanted if name not in settings]:
            raise ValueError(f"setting {missing[0]!r} of {cls.of} is missing; expected all of {', '.join(wanted)}")
        return read


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def parse(declared: Mapping[str, Setting], texts: Mapping[str, str], of: str = "settings") -> dict[str, Any]:
    """The values in texts, by their declarations. Raises `ValueError` for unknown names and values."""
    for name in texts:
        if name not in declared:
            raise ValueError(f"unknown setting {name!r} of {of}; available: {', '.join(declared)}")
    return {name: declared[name].parse(text) for name, text in texts.items()}


def settable(settings: Settings) -> dict[str, Setting]:
    """What a text may set, by name, with these values as defaults."""
    return {name: one for name, one in settings.declarations().items() if not one.derived}


def keep_at_most(settings: Settings, name: str, other: str) -> None:
    """For `__post_init__`: lowers the default of one setting to the value of another one.

    Raises `ValueError` for a value above that which is not the default.
    """
    value, most = getattr(settings, name), getattr(settings, other)
    if value > most:
        if value != own(type(settings))[name].default:
            raise ValueError(f"{name}={value:g}: expected at most {other}={most:g}")
        object.__setattr__(settings, name, most)


def own(kind: Any) -> dict[str, Setting]:
    """The declarations of a class, by name, without those of its groups."""
    return _own(kind)


@functools.cache
def _own(kind: Any) -> dict[str, Setting]:
    hints = get_type_hints(kind)
    fields = (field for field in dataclasses.fields(kind) if "setting" in field.metadata)
    return {
        field.name: Setting(field.name, hints[field.name], field.default, **field.metadata["setting"])
        for field in fields
    }


def groups(kind: Any) -> dict[str, Mapping[str, tuple[Any, ...]]]:
    """The fields of a class that are other settings, each with its possible values."""
    return {field.name: field.metadata["group"] for field in dataclasses.fields(kind) if "group" in field.metadata}


def _several(wanted: Any) -> Any:
    """What a condition allows, as a container of values."""
    return wanted if isinstance(wanted, tuple | Above) else (wanted,)


def _as_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) and abs(number) >= 10_000 else f"{number:g}"
