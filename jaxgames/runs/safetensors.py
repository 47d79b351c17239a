"""Arrays as safetensors, a common format of weights, without the package `safetensors`, which writes the same bytes.

A file is the length of its header as eight bytes, lowest first; the header, JSON with the name, type, shape and place
of each array; and the arrays, row by row. Nothing in it can run.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames.ops import json_text

__all__ = ["dump", "load"]

TYPES = {
    "U64": "<u8", "I64": "<i8", "F64": "<f8", "F32": "<f4", "U32": "<u4", "I32": "<i4",
    "F16": "<f2", "U16": "<u2", "I16": "<i2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
"""The names of types in the format and in NumPy, in the order in which the package `safetensors` writes arrays."""
_NAMES = {kind: name for name, kind in TYPES.items()}
_METADATA = "__metadata__"
_LENGTH, _ALIGNED = 8, 8
_KEYS = {"dtype", "shape", "data_offsets"}


def dump(arrays: Mapping[str, Any]) -> bytes:
    """The content of a file that holds these arrays by their names.

    Raises `ValueError` for an array of a type that the format does not have.
    """
    rows = {name: np.asarray(array) for name, array in arrays.items()}
    for name, row in rows.items():
        if row.dtype.newbyteorder("<").str not in _NAMES or name == _METADATA:
            raise ValueError(f"{name}: {row.dtype} cannot be kept; expected one of {', '.join(TYPES)}")
    names = sorted(rows, key=lambda name: (list(TYPES).index(_type_of(rows[name])), name))
    header: dict[str, Any] = {}
    parts, place = [], 0
    for name in names:
        part = np.ascontiguousarray(rows[name], rows[name].dtype.newbyteorder("<")).tobytes()
        header[name] = {
            "dtype": _type_of(rows[name]),
            "shape": list(rows[name].shape),
            "data_offsets": [place, place + len(part)],
        }
        parts.append(part)
        place += len(part)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNED)
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *parts])


def load(content: bytes) -> dict[str, np.ndarray]:
    """The arrays in the content of a file, by their names.

    Raises `ValueError` that says what is wrong, for a truncated file and for any other file.
    """
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    if len(content) < _LENGTH or start > len(content):
        raise ValueError(f"no safetensors: {len(content)} bytes cannot hold its header")
    try:
        header = json_text.loads(content[_LENGTH:start])
    except ValueError:
        raise ValueError("no safetensors: its header is no JSON") from None
    if not isinstance(header, dict):
        raise ValueError("no safetensors: its header is no JSON object")
    header.pop(_METADATA, None)
    data = memoryview(content)[start:]
    arrays = {name: _array(name, entry, data) for name, entry in header.items()}
    places = sorted(entry["data_offsets"] for entry in header.values())
    if [0, *(end for _, end in places)] != [*(begin for begin, _ in places), len(data)]:  # one begins where one ends
        raise ValueError("no safetensors: there are bytes that belong to no array, or to several")
    return arrays


def _are_sizes(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def _type_of(row: np.ndarray) -> str:
    return _NAMES[row.dtype.newbyteorder("<").str]


def _array(name: str, entry: Any, data: memoryview) -> np.ndarray:
    if not isinstance(entry, dict) or entry.keys() != _KEYS:
        raise ValueError(f"no safetensors: {name} lacks one of {', '.join(sorted(_KEYS))}")
    kind, shape, places = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"{name} is of type {kind!r}; expected one of {', '.join(TYPES)}")
    if not (_are_sizes(shape) and _are_sizes(places)):
        raise ValueError(f"no safetensors: shape or place of {name} is no list of whole numbers")
    dtype = np.dtype(TYPES[kind])
    if len(places) != 2 or places[1] - places[0] != dtype.itemsize * math.prod(shape):
        raise ValueError(f"no safetensors: {name} has not as many bytes as its shape wants")
    if places[1] > len(data):
        raise ValueError(f"the file was cut off: it ends within {name}")
    return np.frombuffer(data[places[0] : places[1]], dtype).reshape(shape)
