"""JSON from elsewhere: anything wrong with it is a `ValueError` of one line."""

import json
from typing import Any

MOST_DEPTH = 100
"""How deep lists and objects may be nested: far more than our files need, far less than Python's stack."""


def loads(text: str | bytes, **options: Any) -> Any:
    """As `json.loads`. Raises `json.JSONDecodeError`, a `ValueError`, also for too deep nesting."""
    try:
        return _shallow(json.loads(text, **options))
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise _readable(error) from None


def decode_at(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at a character of a text, and where it ends. Raises as `loads`."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except RecursionError:
        raise _too_deep(text, at) from None
    except ValueError as error:
        raise _readable(error, text, at) from None
    return _shallow(value, text, at), end


def _shallow(value: Any, text: str = "", at: int = 0) -> Any:
    """The value, unless it is nested too deeply."""
    level = [value]
    for _ in range(MOST_DEPTH):
        inner = [entry for entry in level if isinstance(entry, list | dict)]
        level = [child for entry in inner for child in (entry.values() if isinstance(entry, dict) else entry)]
        if not level:
            return value
    raise _too_deep(text, at)


def _too_deep(text: str = "", at: int = 0) -> json.JSONDecodeError:
    return json.JSONDecodeError(f"nested more than {MOST_DEPTH} deep", text, at)


def _readable(error: ValueError, text: str = "", at: int = 0) -> ValueError:
    """The error itself, unless it is Python's about how many digits it reads."""
    if isinstance(error, json.JSONDecodeError) or "digits" not in str(error):
        return error
    return json.JSONDecodeError("a number has too many digits", text, at)
