"""What a page may say."""

import json

import pytest

from jaxgames.web.limits import Limits
from jaxgames.web.messages import Messages, message_id, read_json

MESSAGES = Messages(Limits())
PERSON = {"kind": "person", "spec": None}


def check(**message):
    return MESSAGES.check(message)


def test_missing_fields_have_their_default():
    assert check(type="create", game="checkers") == {
        "type": "create",
        "id": None,
        "game": "checkers",
        "options": {},
        "position": None,
        "to_move": None,
        "seats": [PERSON, PERSON],
        "clock": None,
        "name": None,
        "owner": None,
        "challenge": False,
    }


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"type": "fly"}, "unknown type of message: 'fly'"),
        ({"type": ["step"]}, "unknown type"),
        ({}, "unknown type of message: None"),
        ({"type": "step"}, "step needs the field 'actions'"),
        ({"type": "step", "actions": []}, "expected a list of 1 to 4 entries"),
        ({"type": "step", "actions": [1.5]}, "expected a whole number from 0 to 1000, not 1.5"),
        ({"type": "step", "actions": [True]}, "expected a whole number"),
        ({"type": "step", "actions": [10**30]}, "a huge number"),
        ({"type": "step", "actions": [1], "cheat": 1}, "unknown field 'cheat'"),
        ({"type": "chat", "text": "x" * 501}, "has 501 characters: expected at most 500"),
        ({"type": "chat", "text": "a\x00b"}, "U+0000 cannot be shown"),
        ({"type": "chat", "text": "\ud800"}, "U+D800 cannot be shown"),
        ({"type": "name", "name": "a\nb"}, "U+000A cannot be shown"),
        ({"type": "pause", "on": 1}, "expected true or false, not 1"),
        ({"type": "speed", "seconds": -1}, "expected a number from 0 to 10"),
        ({"type": "match", "games": 1001}, "from 0 to 1000"),
        ({"type": "create", "game": "checkers", "seats": [{}, {}]}, "needs the field 'kind'"),
        ({"type": "create", "game": "checkers", "options": {"rows": "6"}}, "expected a whole number"),
        ({"type": "create", "game": "checkers", "options": {str(i): 1 for i in range(9)}}, "expected an object"),
        ({"type": "new", "clock": {"kind": "hourglass"}}, "expected one of none, sudden death, increment, delay"),
        ({"type": "new", "clock": {"kind": "delay", "seconds": 1e9}}, "expected a number from 1 to 10800"),
        ({"type": "ping", "id": -1}, "ping.id: expected a whole number"),
        (["step"], "a message is a JSON object"),
    ],
)
def test_what_is_wrong_is_said(message, says):
    with pytest.raises(ValueError) as error:
        MESSAGES.check(message)
    assert says in str(error.value) and "\n" not in str(error.value)
    assert len(str(error.value)) < 700


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nul",
        "[" * 100_000,
        '{"type":"ping","id":' + "9" * 5000 + "}",
        "NaN",
        "[1e999]",
        '{"a":Infinity}',
        "x" * 300_000,
    ],
)
def test_bad_json_is_one_line(text):
    with pytest.raises(ValueError) as error:
        MESSAGES.check(read_json(text, 262_144))
    assert "\n" not in str(error.value)


def test_length_counts_bytes():
    assert read_json(json.dumps("ä" * 10, ensure_ascii=False), 22) == "ä" * 10
    with pytest.raises(ValueError, match="longer than 21 bytes"):
        read_json(json.dumps("ä" * 10, ensure_ascii=False), 21)


def test_the_id_of_a_bad_message_is_found():
    assert message_id({"type": "fly", "id": 7}) == 7
    assert [message_id(x) for x in (None, [], {"id": "7"}, {"id": True}, {"id": -1}, {"id": 2**40})] == [None] * 6
