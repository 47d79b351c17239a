"""The numbers of `strategic`, of one position in plain Python: slow, and written from their descriptions alone."""

BAR = 25


def numbers(mover, other):
    """All 63 numbers, of 25 counts each: points 1..24 and the bar, own numbering each."""
    own, opponent = ([0, *map(int, side)] for side in (mover, other))
    race = rear(own) + rear(opponent) < BAR
    return [*side(own, opponent), *side(opponent, own), float(race), float(crashed(own)), float(crashed(opponent))]


def kind(mover, other):
    """0 with contact, 1 where a player has crashed, 2 in a race."""
    own, opponent = ([0, *map(int, side)] for side in (mover, other))
    if rear(own) + rear(opponent) < BAR:
        return 2
    return int(crashed(own) or crashed(opponent))


def crashed(own):
    return sum(own[3:]) <= 6


def rear(own):
    return max((p for p in range(1, 26) if own[p]), default=0)


def held(own):
    return [p for p in range(1, 25) if own[p] >= 2]


def share_played_whole(opponent, place):
    """The share of rolls of which one checker on `place` can play both dice."""
    closed = {BAR - p for p in held(opponent)}
    good = 0
    for a in range(1, 7):
        for b in range(1, 7):
            good += place - a - b not in closed and not (place - a in closed and place - b in closed)
    return good / 36


def targets_of(own, opponent, a, b):
    """The places of the blots that some checkers of `own` reach with one roll."""
    closed, blots = {BAR - p for p in held(opponent)}, {BAR - p for p in range(1, 25) if opponent[p] == 1}
    reached = set()

    def go(place, dice, entering):
        """Where one checker gets; `entering`: how many others must still enter."""
        for die in set(dice):
            to, left = place - die, list(dice)
            left.remove(die)
            if to < 1 or to in closed:
                continue
            reached.add(to)
            if not entering:
                go(to, left, 0)
            elif len(left) >= entering and a == b:  # the others enter by the same die, as it is a double
                rest = left[entering:]
                if rest:
                    go(to, rest, 0)

    dice = [a, b] if a != b else [a] * 4
    bar = own[BAR]
    if not bar:
        for place in range(1, 25):
            if own[place]:
                go(place, dice, 0)
        return reached & blots
    go(BAR, dice, bar - 1)
    for die in set(dice):
        left = list(dice)
        left.remove(die)
        entered = BAR - die not in closed
        rest = left[bar - 1 :] if a == b else (left if bar == 1 else [])
        if entered and rest:
            for place in range(1, 25):
                if own[place]:
                    go(place, rest, 0)
    return reached & blots


def shots(own, opponent):
    hits = double = loss = 0
    for a in range(1, 7):
        for b in range(1, 7):
            found = targets_of(own, opponent, a, b)
            hits += bool(found)
            double += len(found) >= 2
            loss += max(found, default=0)  # a blot on the hitter's point p has gone 25 - (25 - p) = p pips
    return hits / 36, double / 36, loss / 36 / 12


def side(own, opponent):
    points = held(own)
    theirs = BAR - rear(opponent)
    checkers = [p for p in range(1, 26) for _ in range(own[p])]
    count = max(len(checkers), 1)
    yield sum(checkers) / 167
    yield sum(p - theirs for p in checkers if p > theirs) / 167
    yield sum(p for p in checkers if p <= theirs and p < BAR) / 100
    yield (sum(p * p for p in checkers) / count - (sum(checkers) / count) ** 2) / 100
    yield (sum(max(own[p] - 2, 0) * (p - 1) for p in range(1, 7)) + sum(p - 6 for p in checkers if 7 <= p <= 18)) / 60
    yield sum((p - 6) * share_played_whole(opponent, p) for p in checkers if p > 6) / 100
    yield rear(own) / 24
    yield max((p for p in points if p > 12), default=0) / 24
    anchors = [p for p in points if p >= 19]
    yield (25 - min(anchors)) / 6 if anchors else 0
    yield float(len(anchors) >= 2)
    yield from shots(own, opponent)
    yield share_played_whole(opponent, max(rear(own), 7))
    yield min(share_played_whole(opponent, p) for p in range(15, 26))
    yield min((share_played_whole(opponent, p) for p in range(15, rear(own) + 1)), default=1)
    closed = (sum(p <= 6 for p in held(opponent)) / 6) ** 2
    yield closed
    yield closed if own[BAR] else 0
    for number in (3, 4, 5, 6):
        yield float(any(sum(p in points for p in range(start, start + 6)) >= number for start in range(1, 25)))
    for number in (3, 4, 5):
        yield float(any(all(start + k in points for k in range(number)) for start in range(1, 25)))
    yield sum(theirs < p <= theirs + 6 for p in points) / 6
    yield sum(any(p - 6 <= q < p for q in points) for p in points) / max(len(points), 1)
    off = 15 - len(checkers)
    yield float(off == 0)
    yield min(off, 5) / 5
    yield max(off - 10, 0) / 5
