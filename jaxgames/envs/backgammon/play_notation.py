"""Plays as backgammon players write them: `8/5* 6/5`, `bar/22`, `24/18*/13`, `8/5(2) 6/3(2)`, `6/off`.

A step is one checker moved by one die, `(source, die)` with source 1..24, or 25 for the bar. Boards are as in
`notation`. Reading a play means finding the legal turn that it describes.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from jaxgames.envs.backgammon.turn import BAR, Board, Obligation, Step, Turn, place_name

_PASSES = ("", "pass", "no play", "no move", "cannot move")
_PLACE = r"(?:bar|off|[0-9]+)"
_PART = re.compile(rf"({_PLACE}(?:/{_PLACE}\*?)+)(?:\(([0-9]+)\))?", re.IGNORECASE)
_STEP = re.compile(rf"({_PLACE}/{_PLACE}\*?)(?:\[([1-6])\])?", re.IGNORECASE)


def format_step(source: int, die: int, mover: Board, opponent: Board, dice: Sequence[int] | None = None) -> str:
    """One step: `8/5`, `8/5*` with a hit, `bar/22`, `6/off`.

    Given the `dice` left, a checker that several of them can bear off is written with the die, `2/off[6]`, so that
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

    Of several dice that bear the same checker off, the smallest is taken unless one is named. Raises `ValueError`.
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

    Checkers from higher points come first; a checker that moves on is written once, with the points between only where
    it hits; equal parts are counted. Raises `ValueError` if there is no checker to move.
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
        texts.setdefault(key, text)  # of equal ways the first one hits
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
