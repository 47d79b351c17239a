"""The measurements of a run as an event file for TensorBoard, written without TensorBoard.

A file holds records: length (uint64), its checksum, an `Event` as protocol buffer, its checksum; all little-endian. A
checksum is CRC-32C, rotated by 15 bits and offset (TensorFlow's `lib/io/record_writer.h`, `lib/hash/crc32c.h`). We use
these fields of `Event`: 1 wall time (double), 2 step (int64), 3 file version, 5 summary; and of a summary's values 1
tag and 2 number (float).
"""

import functools
import math
import struct
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxgames.ops.checks import MOST_FLOAT32

NAME = "events.out.tfevents.0.jaxgames"
POLYNOMIAL, OFFSET = 0x82F63B78, 0xA282EAD8


def begin(folder: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """A new event file with the measurements so far, in place of an older one.

    They are as far apart as the `seconds` of their lines, and the last one is of now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(lines)
    begun = time.time() - (lines[-1].get("seconds", 0.0) if lines else 0.0)
    first = _record(_double(1, begun) + _bytes(3, b"brain.Event:2"))
    (folder / NAME).write_bytes(first + b"".join(_event(line, begun + line.get("seconds", 0.0)) for line in lines))


def append(folder: Path, line: Mapping[str, Any]) -> None:
    """Appends the numbers of one line of metrics, which has a `step`."""
    with open(folder / NAME, "ab") as file:
        file.write(_event(line, time.time()))


def _event(line: Mapping[str, Any], at: float) -> bytes:
    numbers = {name: value for name, value in line.items() if name != "step" and isinstance(value, int | float)}
    values = (_bytes(1, _bytes(1, name.encode()) + _float(2, value)) for name, value in numbers.items())
    return _record(_double(1, at) + _varint(2 << 3) + _varint(line["step"]) + _bytes(5, b"".join(values)))


def _record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    return length + _checksum(length) + content + _checksum(content)


def _checksum(content: bytes) -> bytes:
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + OFFSET) & 0xFFFFFFFF)


def crc32c(content: bytes) -> int:
    """The cyclic redundancy check of Castagnoli."""
    crc, table = 0xFFFFFFFF, _table()
    for byte in content:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@functools.cache
def _table() -> tuple[int, ...]:
    def entry(crc):
        for _ in range(8):
            crc = crc >> 1 ^ POLYNOMIAL * (crc & 1)
        return crc

    return tuple(map(entry, range(256)))


def _varint(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _double(field: int, number: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", number)


def _float(field: int, number: float) -> bytes:
    if abs(number) > MOST_FLOAT32:  # infinite in the file
        number = math.inf if number > 0 else -math.inf
    return _varint(field << 3 | 5) + struct.pack("<f", number)
