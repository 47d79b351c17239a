"""Backgammon in text: GNU Backgammon position ids, whole states, action numbers, and plays such as `8/5* 6/5`.

Plain Python, one position at a time. A board is two sequences of 25 counts, `mover` and `opponent`: checkers on points
1..24 and on the bar, each player counting from their own side, so that point p of one is point 25 - p of the other. The
dice are those still to be played, or None where a roll is awaited.
"""

import re
from collections.abc import Sequence

from jaxgames.envs.backgammon.play_notation import format_play, format_step, parse_play, parse_step
from jaxgames.envs.backgammon.turn import BAR, Board, place_name

__all__ = [
    "action_of",
    "check_dice",
    "check_position",
    "format_play",
    "format_step",
    "from_text",
    "parse_play",
    "parse_position_id",
    "parse_step",
    "position_id",
    "step_of",
    "to_text",
]

CHECKERS = 15
ID_LENGTH = 14

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_KEY_BITS = 80


def position_id(mover: Board, opponent: Board) -> str:
    """GNU Backgammon's position id: 14 base64 characters that spell an 80-bit key.

    The key holds, for each place 1..24 and then the bar, as many ones as there are checkers and a zero; first all
    places of the player *not* on roll, then those of the player on roll, then zeros to the end. Bytes hold their first
    bit lowest.

    This is what the program does (1.07: after 3-1 played 8/5 6/5 it shows `sGfwATDgc/ABMA`); its manual, "A technical
    description of the Position ID", says that the player on roll comes first. Raises `ValueError` for an impossible
    position.
    """
    mover, opponent = check_position(mover, opponent)
    key = "".join("1" * count + "0" for count in (*opponent, *mover)).ljust(_KEY_BITS, "0")
    data = b"".join(int(key[start : start + 8][::-1], 2).to_bytes(1, "big") for start in range(0, _KEY_BITS, 8))
    number = int.from_bytes(data, "big") << (6 * ID_LENGTH - _KEY_BITS)
    return "".join(_ALPHABET[(number >> 6 * place) & 63] for place in reversed(range(ID_LENGTH)))


def parse_position_id(text: str) -> tuple[list[int], list[int]]:
    """The board `(mover, opponent)` of a position id, the mover being the player on roll.

    Raises `ValueError` that points at the character where the id stops being one.
    """
    for index, character in enumerate(text[:ID_LENGTH]):
        if character not in _ALPHABET:
            raise _wrong(text, index, "a position id is made of A-Z, a-z, 0-9, + and /")
    if len(text) != ID_LENGTH:
        raise ValueError(f"position id {text!r} has {len(text)} characters; it must have {ID_LENGTH}")
    bits, places = _key(text)
    sides = [[0] * BAR, [0] * BAR]  # opponent, mover
    place = 0
    for bit, where in zip(bits, places, strict=True):
        if bit == "0":
            place += 1
        elif place >= 2 * BAR:
            raise _wrong(text, where, "only A (zeros) may follow the last checker")
        else:
            side, point = divmod(place, BAR)
            sides[side][point] += 1
            if sum(sides[side]) > CHECKERS:
                raise _wrong(text, where, f"more than {CHECKERS} checkers of {'the mover' if side else 'the opponent'}")
            if side and point < 24 and sides[0][23 - point]:
                raise _wrong(text, where, f"both players on point {point + 1} of the mover")
    opponent, mover = sides
    try:
        check_position(mover, opponent)
    except ValueError as error:
        raise ValueError(f"position id {text!r}: {error}") from None
    return mover, opponent


def to_text(mover: Board, opponent: Board, dice: Sequence[int] | None = None) -> str:
    """A whole state: the position id and, after a colon, the dice still to be played, largest first.

    `4HPwATDgc/ABMA:31` has both dice left, `...:3` one of them, `...:44` two fours of a double; without a suffix a roll
    is awaited. Raises `ValueError` for an impossible position or dice.
    """
    dice = check_dice(dice)
    return position_id(mover, opponent) + (":" + "".join(map(str, dice)) if dice else "")


def from_text(text: str) -> tuple[list[int], list[int], tuple[int, ...] | None]:
    """The `(mover, opponent, dice)` of a state written by `to_text`; dice in any order, None if none are written.

    Raises `ValueError` that points at the character that is wrong.
    """
    name, colon, suffix = text.partition(":")
    mover, opponent = parse_position_id(name)
    if not colon:
        return mover, opponent, None
    start = len(name) + 1
    for index, character in enumerate(suffix):
        if character not in "123456":
            hint = "; a match id of GNU Backgammon is not read" if re.fullmatch(r"[\w+/]{12}", suffix) else ""
            raise _wrong(text, start + index, "after the colon stand the dice left, digits 1 to 6" + hint)
        if index == 4 or (index >= 2 and character != suffix[0]) or (index >= 2 and suffix[1] != suffix[0]):
            raise _wrong(text, start + index, "two different dice or up to four equal ones are left")
    if not suffix:
        raise _wrong(text, len(name), "after the colon stand the dice left; leave it out where a roll is awaited")
    return mover, opponent, check_dice([int(character) for character in suffix])


def action_of(source: int, die: int) -> int:
    """The number of the action that moves a checker from `source` (1..24, 25 the bar) by `die`, as in pgx."""
    if not 1 <= source <= BAR:
        raise ValueError(f"source {source} is no place of a checker: 1 to 24, or {BAR} for the bar")
    if not 1 <= die <= 6:
        raise ValueError(f"die {die} is not between 1 and 6")
    return (BAR + 1 - source) * 6 + die - 1


def step_of(action: int) -> tuple[int, int] | None:
    """The `(source, die)` of an action number, None for the pass (0). Raises `ValueError` if it is no action."""
    if action == 0:
        return None
    if not 6 <= action < 6 * (BAR + 1):
        raise ValueError(f"action {action} moves no checker: 0 passes, 6 to {6 * (BAR + 1) - 1} move one")
    return BAR + 1 - action // 6, action % 6 + 1


def check_position(mover: Board, opponent: Board) -> tuple[list[int], list[int]]:
    """The board as lists of int. Raises `ValueError` for a position that no game can reach."""
    sides = []
    for name, side in (("mover", mover), ("opponent", opponent)):
        if len(side) != BAR:
            raise ValueError(f"{name} has {len(side)} places; there must be {BAR}: points 1 to 24 and the bar")
        counts = [int(count) for count in side]
        for point, count in enumerate(counts, 1):
            if count < 0 or count != side[point - 1]:
                raise ValueError(f"{name} has {side[point - 1]} checkers on {place_name(point)}; expected 0 or more")
        if sum(counts) > CHECKERS:
            raise ValueError(f"{name} has {sum(counts)} checkers; there are at most {CHECKERS}")
        sides.append(counts)
    own, other = sides
    for point in range(1, 25):
        if own[point - 1] and other[24 - point]:
            raise ValueError(f"both players are on point {point} of the mover (point {25 - point} of the opponent)")
    if not sum(own) and not sum(other):
        raise ValueError("both players have borne off all their checkers; only one can have")
    if own[24] and other[24] and min(own[:6]) > 1 and min(other[:6]) > 1:
        raise ValueError("both players are on the bar against a closed home board; nobody could ever move")
    return own, other


def check_dice(dice: Sequence[int] | None) -> tuple[int, ...] | None:
    """The dice left, largest first, or None. Raises `ValueError` for dice that no roll leaves."""
    left = tuple(sorted((int(die) for die in dice), reverse=True)) if dice is not None else ()
    for die in left:
        if not 1 <= die <= 6:
            raise ValueError(f"die {die} is not between 1 and 6")
    if len(left) > 4 or (len(left) > 2 and len(set(left)) > 1):
        raise ValueError(f"dice {left} are left of no roll: two different ones or up to four equal ones")
    return left or None


def _key(text: str) -> tuple[str, list[int]]:
    """The bits of a position id in the order of the key, and the character (0..13) that each one stands in."""
    bits = "".join(f"{_ALPHABET.index(character):06b}" for character in text)
    if "1" in bits[_KEY_BITS:]:
        raise _wrong(text, ID_LENGTH - 1, "the last character must be A, Q, g or w")
    order = [byte + bit for byte in range(0, _KEY_BITS, 8) for bit in reversed(range(8))]
    return "".join(bits[place] for place in order), [place // 6 for place in order]


def _wrong(text: str, index: int, reason: str) -> ValueError:
    return ValueError(f"position {text!r}, character {index + 1} ({text[index]!r}): {reason}")
