"""Settings changed by texts, as `--set name=value` gives them."""

from collections.abc import Mapping
from typing import Any, get_args


def read(types: Mapping[str, Any], changes: Mapping[str, str]) -> dict[str, Any]:
    """The values that texts stand for, by the types of the settings. Raises `ValueError` for a name that is not known
    and a text that cannot be read.
    """
    found = {}
    for name, text in changes.items():
        if name not in types:
            raise ValueError(f"unknown setting {name!r}; available: {', '.join(types)}")
        try:
            found[name] = _parse(types[name], text)
        except ValueError:
            kinds = {bool: "true or false", int: "a whole number", float: "a number"}
            raise ValueError(f"{name}={text!r}: expected {kinds.get(types[name], 'numbers as in 40,40')}") from None
    return found


def _parse(kind: Any, text: str) -> Any:
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower()) if text.lower() in ("true", "false") else int("no")
    if get_args(kind):
        return tuple(int(part) for part in text.split(",") if part)
    return kind(text)
