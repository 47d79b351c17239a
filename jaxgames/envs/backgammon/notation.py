"""Backgammon in text: GNU Backgammon position ids, whole states, action numbers, and plays such as `8/5* 6/5`.

Plain Python, one position at a time. A board is two sequences of 25 counts, `mover` and `opponent`: checkers on points
1..24 and on the bar, each player counting from their own side, so that point p of one is point 25 - p of the other. The
dice are those still to be played, or None where a roll is awaited.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from jaxgames.envs.backgammon.turn import BAR, Board, Obligation, Step, Turn, place_name

CHECKERS = 15
ID_LENGTH = 14

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_KEY_BITS = 80


def position_id(mover: Board, opponent: Board) -> str:
    """GNU Backgammon's position id: 14 base64 characters that spell an 80-bit key.

    For each place 1..24 and then the bar, the key has a one for each checker and then a zero; first all
    places of the player *not* on roll, then those of the player on roll, then zeros to the end. The first bit of a byte
    is its lowest.

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

    Raises `ValueError` that points at the first wrong character.
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


# Plays as players write them: `8/5* 6/5`, `bar/22`, `24/18*/13`, `8/5(2) 6/3(2)`, `6/off`.
#
# A step is one checker moved by one die, `(source, die)` with source 1..24, or 25 for the bar. Reading a play means
# finding the legal turn that it describes.

_PASSES = ("", "pass", "no play", "no move", "cannot move")
_PLACE = r"(?:bar|off|[0-9]+)"
_PART = re.compile(rf"({_PLACE}(?:/{_PLACE}\*?)+)(?:\(([0-9]+)\))?", re.IGNORECASE)
_STEP = re.compile(rf"({_PLACE}/{_PLACE}\*?)(?:\[([1-6])\])?", re.IGNORECASE)


def format_step(source: int, die: int, mover: Board, opponent: Board, dice: Sequence[int] | None = None) -> str:
    """One step: `8/5`, `8/5*` with a hit, `bar/22`, `6/off`.

    Given the `dice` left, if several of them can bear the checker off, the die is written too, `2/off[6]`, so that
    different steps have different names. Raises `ValueError` if there is no checker to move.
    """
    landing = max(source - die, 0)
    hits = Turn.start(mover, opponent, (die,)).step(source, die).hits
    text = f"{place_name(source)}/{place_name(landing)}{'*' * (landing in hits)}"
    if landing == 0 and dice is not None:
        turn = Turn.start(mover, opponent, dice)
        if sum(source in turn.sources(other) for other in set(turn.dice) if other >= source) > 1:
            text += f"[{die}]"
    return text


def parse_step(text: str, mover: Board, opponent: Board, dice: Sequence[int] | None) -> Step | None:
    """The legal step written by `format_step` (star optional), or None for a legal `pass`.

    If several dice can bear the checker off, the smallest is taken unless one is named. Raises `ValueError`.
    """
    turn, what = Turn.start(mover, opponent, dice), f"step {text!r}"
    if text.strip().lower() in _PASSES:
        _check_pass(turn, what)
        return None
    match = _STEP.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{what} is not understood; write from/to, for example 8/5, bar/22* or 6/off")
    part = _read_part(what, match[1])
    source, target = part.places
    fitting = [die for die in turn.dice if max(source - die, 0) == target and source in turn.sources(die)]
    fitting = [die for die in fitting if match[2] in (None, str(die))]
    if not fitting:
        raise ValueError(f"{what}: {_reason(turn, part.places, dice_each=1)}")
    best = turn.best()
    legal = [die for die in fitting if turn.step(source, die).completes(best)]
    if not legal:
        raise ValueError(f"{what} is not legal: {_obligation(best)}")
    if not part.stars <= turn.step(source, min(legal)).hits:
        raise ValueError(f"{what}: there is no blot to hit on {place_name(target)}")
    return source, min(legal)


def format_play(steps: Sequence[Step], mover: Board, opponent: Board) -> str:
    """A whole turn, `steps` in the order played: `8/5 6/5*`, `24/18*/13`, `8/5(2) 6/3(2)`; `pass` without steps.

    Checkers from higher points come first; a checker that moves on is written once, with points in between only if
    it hits there; equal parts get a count. Raises `ValueError` if there is no checker to move.
    """
    turn = Turn.start(mover, opponent, [die for _, die in steps])
    for source, die in steps:
        turn = turn.step(source, die)
    ways: list[list[int]] = []  # the places that each moved checker touches
    for source, die in sorted(steps, key=lambda step: (-step[0], step[1])):
        earlier = [way for way in ways if way[-1] == source]
        way = earlier[0] if earlier else [source]
        if not earlier:
            ways.append(way)
        way.append(max(source - die, 0))
    hits = set(turn.hits)
    texts: dict[tuple[int, ...], str] = {}
    copies: dict[tuple[int, ...], int] = {}
    for key in map(tuple, ways):
        text = place_name(key[0])
        for place in key[1:]:
            if place in hits or place == key[-1]:
                text += f"/{place_name(place)}{'*' * (place in hits)}"
            hits.discard(place)
        texts.setdefault(key, text)  # among equal ways the first one hits
        copies[key] = copies.get(key, 0) + 1
    return " ".join(text + f"({copies[key]})" * (copies[key] > 1) for key, text in texts.items()) or "pass"


def parse_play(text: str, mover: Board, opponent: Board, dice: Sequence[int] | None) -> list[Step]:
    """The legal turn that `text` describes, as steps in an order in which they can be played; `[]` for a legal pass.

    Reads parts in any order, a checker's way in one part (`24/18*/13`, `24/13`) or several (`24/18 18/13`), counts
    `(2)`, `bar` or `25`, `off` or `0`; stars may be left out unless they tell two turns apart. Raises `ValueError`
    naming the part that is wrong.
    """
    start, what = Turn.start(mover, opponent, dice), f"play {text!r}"
    if text.strip().lower() in _PASSES:
        _check_pass(start, what)
        return []
    parts = [_read_part(what, word) for word in re.sub(r"\s+\(", "(", text).replace(",", " ").split()]
    if sum(part.copies for part in parts) > 4:
        raise ValueError(f"{what} moves more than 4 checkers; no roll does")
    turns = list(_turns(start, parts))
    if not turns:
        raise ValueError(f"{what}, {_first_wrong(start, parts)}")
    best = start.best()
    turns = [turn for turn in turns if turn.completes(best) and turn.most() == 0]
    if not turns:
        raise ValueError(f"{what} is not a whole legal turn: {_obligation(best)}")
    stars = frozenset().union(*(part.stars for part in parts))
    chosen = [turn for turn in turns if turn.hits == stars] or [turn for turn in turns if turn.hits >= stars]
    if not chosen:
        part, place = next((part, place) for part in parts for place in part.stars if place not in turns[0].hits)
        raise ValueError(f"{what}, part {part.text!r}: there is no blot to hit on {place_name(place)}")
    if len({(turn.mover, turn.opponent) for turn in chosen}) > 1:
        raise ValueError(f"{what} can be played in several ways; name the points between and star the hits")
    return list(chosen[0].steps)


class _Part(NamedTuple):
    """One word of a play: the places it names (25 the bar, 0 off), those with a star, how many checkers go that way."""

    text: str
    places: tuple[int, ...]
    stars: frozenset[int]
    copies: int


def _read_part(what: str, word: str) -> _Part:
    what = f"{what}, part {word!r}"
    match = _PART.fullmatch(word)
    if not match:
        raise ValueError(f"{what} is not understood; write from/to, for example 8/5, bar/22*, 6/off or 8/5(2)")
    names = match[1].lower().split("/")
    places = tuple(_place(name.rstrip("*")) for name in names)
    for place in places:
        if place > BAR:
            raise ValueError(f"{what}: {place} is no point; points are 1 to 24, bar (25) and off (0)")
    for earlier, later in zip(places, places[1:], strict=False):
        if later >= earlier:
            raise ValueError(
                f"{what}: checkers move to lower points, not from {place_name(earlier)} to {place_name(later)}"
            )
    copies = int(match[2] or 1)
    if not 1 <= copies <= 4:
        raise ValueError(f"{what}: the count in brackets must be 1 to 4")
    stars = frozenset(place for name, place in zip(names, places, strict=True) if name.endswith("*"))
    return _Part(word, places, stars, copies)


def _turns(start: Turn, parts: Sequence[_Part]) -> Iterator[Turn]:
    """Every way to play just these parts, each checker on its way over the places named."""
    return _follow(start, tuple(part.places for part in parts for _ in range(part.copies)))


def _follow(turn: Turn, ways: tuple[tuple[int, ...], ...]) -> Iterator[Turn]:
    if not ways:
        yield turn
    for way in dict.fromkeys(ways):
        others = list(ways)
        others.remove(way)
        for die in sorted(set(turn.dice)):
            landing = max(way[0] - die, 0)
            if landing < way[1] or way[0] not in turn.sources(die):
                continue
            rest = way[1:] if landing == way[1] else (landing, *way[1:])
            yield from _follow(turn.step(way[0], die), (*others, rest) if len(rest) > 1 else tuple(others))


def _check_pass(turn: Turn, what: str) -> None:
    possible = next(turn.next_turns(), None)
    if possible:
        source, die = possible.steps[-1]
        raise ValueError(f"{what}: only who cannot move passes; {place_name(source)} can move by {die}")


def _obligation(best: Obligation) -> str:
    if best.die:
        return f"only one die can be played, and it must be the {best.die}"
    return f"{best.number} {'die' if best.number == 1 else 'dice'} can be played, and must be"


def _first_wrong(start: Turn, parts: Sequence[_Part]) -> str:
    """The first part left out of a largest set of parts that can be played, and why it cannot follow them."""
    single = [part._replace(copies=1) for part in parts for _ in range(part.copies)]
    for number in reversed(range(len(single))):
        for kept in combinations(range(len(single)), number):
            turn = next(_turns(start, [single[index] for index in kept]), None)
            if turn:
                part = next(part for index, part in enumerate(single) if index not in kept)
                text = next(whole.text for whole in parts if whole._replace(copies=1) == part)
                return f"part {text!r}: {_reason(turn, part.places)}"
    raise RuntimeError("playing no part at all is always possible")


def _reason(turn: Turn, places: tuple[int, ...], dice_each: int = 4) -> str:
    """Why one checker cannot go over these places now, with at most `dice_each` dice."""
    source, target = places[0], places[-1]
    if not turn.mover[source - 1]:
        return f"there is no checker on {place_name(source)}" + (" left" if turn.steps else "")
    if turn.mover[BAR - 1] and source != BAR:
        return "a checker on the bar must enter first"
    if target and turn.held(target) > 1:
        return f"point {target} is held by {turn.held(target)} checkers"
    if not target and turn.rearmost() > 6 and source <= 6:
        return f"no checker bears off while one is on {place_name(turn.rearmost())}"
    totals = {sum(some) for number in range(dice_each + 1) for some in combinations(turn.dice, number)}
    pips = source - target
    if pips not in totals and (target or max(totals) < pips):
        left = " ".join(map(str, turn.dice)) or "none"
        return f"{pips} cannot be played from {place_name(source)} to {place_name(target)} (dice left: {left})"
    if not target and pips not in totals:
        return f"a larger die bears off only the rearmost checker, on {turn.rearmost()}"
    return "its way is blocked"


def _place(name: str) -> int:
    return int(name) if name.isdigit() else {"bar": BAR, "off": 0}[name]
