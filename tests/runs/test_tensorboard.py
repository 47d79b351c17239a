"""Event files for TensorBoard, read back by a reader of the wire format."""

import struct

import pytest

from jaxgames.runs import tensorboard


def read_events(content: bytes) -> list[tuple[int | None, dict[str, float]]]:
    """The step and the numbers of each event; checksums are checked."""
    found = []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        parts = content[8:12], content[12 : 12 + length], content[12 + length : 16 + length]
        assert [parts[0], parts[2]] == [masked(content[:8]), masked(parts[1])]
        event = fields(parts[1])
        values = [fields(value) for value in fields(event[5])[1]] if 5 in event else []
        found.append((event.get(2), {value[1][0].decode(): value[2] for value in values}))
        content = content[16 + length :]
    return found


def masked(content: bytes) -> bytes:
    crc = tensorboard.crc32c(content)
    return struct.pack("<I", (((crc >> 15) | (crc << 17) & 0xFFFFFFFF) + 0xA282EAD8) % 2**32)


def fields(message: bytes) -> dict:
    """The fields of a protocol buffer; field 1 is a list where it is length-delimited."""
    found: dict = {}
    while message:
        key, message = varint(message)
        field, kind = key >> 3, key & 7
        if kind == 0:
            found[field], message = varint(message)
        elif kind == 2:
            length, message = varint(message)
            part, message = message[:length], message[length:]
            found[field] = [*found.get(field, []), part] if field == 1 else part
        else:
            form = {1: "<d", 5: "<f"}[kind]
            size = struct.calcsize(form)
            (found[field],), message = struct.unpack(form, message[:size]), message[size:]
    return found


def varint(message: bytes) -> tuple[int, bytes]:
    number, shift = 0, 0
    while True:
        byte, message = message[0], message[1:]
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, message


def test_the_checksum_is_that_of_castagnoli():
    """The check value of CRC-32C, and one of RFC 3720, B.4."""
    assert tensorboard.crc32c(b"123456789") == 0xE3069283
    assert tensorboard.crc32c(bytes(32)) == 0x8A9136AA


def test_numbers_are_read_back(tmp_path):
    lines = [{"step": 3, "loss": 0.5, "name": "x", "none": None}, {"step": 70_000, "loss": -2.0, "games": 12}]
    tensorboard.begin(tmp_path / "events", lines[:1])
    tensorboard.append(tmp_path / "events", lines[1])
    events = read_events((tmp_path / "events" / tensorboard.NAME).read_bytes())
    assert events == [(None, {}), (3, {"loss": 0.5}), (70_000, {"loss": -2.0, "games": 12.0})]
    tensorboard.begin(tmp_path / "events", lines[:1])
    assert len(read_events((tmp_path / "events" / tensorboard.NAME).read_bytes())) == 2


def test_measurements_keep_their_distance_in_time(tmp_path):
    seconds = [1.0, 3.5, 60.0]
    tensorboard.begin(tmp_path, [{"step": step, "seconds": at} for step, at in enumerate(seconds)])
    content, times = (tmp_path / tensorboard.NAME).read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        times.append(fields(content[12 : 12 + length])[1])
        content = content[16 + length :]
    begun, *times = times
    assert [at - begun for at in times] == pytest.approx(seconds, abs=1e-3)


def test_numbers_that_32_bits_do_not_hold_are_infinite(tmp_path):
    largest = float.fromhex("0x1.fffffep127")
    tensorboard.begin(tmp_path, [{"step": 1, "a": 1e39, "b": -(10**400), "c": largest, "d": 3.4028235677973366e38}])
    events = read_events((tmp_path / tensorboard.NAME).read_bytes())
    assert events[1] == (1, {"a": float("inf"), "b": -float("inf"), "c": largest, "d": float("inf")})
