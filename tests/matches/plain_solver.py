"""A plain twin of the solver, one position at a time, four in a row only.

Alpha-beta with a null window, move ordering and a table, after Pascal Pons, "Solving Connect 4"
(blog.gamesolver.org): positions as integers of bits, only moves that do not lose
at once, those with most threats first, from the middle outwards. Good for late positions, a few milliseconds each;
the empty board is out of reach.

A position is `(own, taken)`: the stones of the player to move and all stones; bit `column * (rows + 1) + row` is a
square, row 0 at the bottom. Its score is k > 0 if the player to move wins with the k-th last of its stones that fit on
the board (the last is number 1), 0 for a draw, k < 0 if the other one wins so.
"""

CONNECT = 4
MOST_ENTRIES = 1 << 20


class Solver:
    """Answers questions about positions of one board size; what it found out it remembers."""

    def __init__(self, rows: int, cols: int):
        self._squares, self._high = rows * cols, rows + 1
        self._columns = [((1 << rows) - 1) << self._high * column for column in range(cols)]
        self._order = sorted(self._columns, key=lambda column: abs(2 * self._columns.index(column) - cols + 1))
        self._bottom = sum(1 << self._high * column for column in range(cols))
        self._board = self._bottom * ((1 << rows) - 1)
        self._most: dict[int, int] = {}

    def after(self, own: int, taken: int, column: int) -> tuple[int, int]:
        """The position after a stone in a column that is not full."""
        return taken ^ own, taken | (taken + (self._bottom & self._columns[column])) & self._columns[column]

    def has_line(self, stones: int) -> bool:
        """Whether there are four in a row."""
        for step in (1, self._high - 1, self._high, self._high + 1):
            pairs = stones & stones >> step
            if pairs & pairs >> 2 * step:
                return True
        return False

    def score_at_most(self, own: int, taken: int, bound: int) -> bool:
        """Whether the score of a position that is not over is at most `bound`."""
        left = self._squares - taken.bit_count()
        if self._winning(own, taken) & self._landings(taken):
            return (left + 1) // 2 <= bound
        return self._negamax(own, taken, bound) <= bound

    def score(self, own: int, taken: int) -> int:
        """The exact score of a position that is not over."""
        left = self._squares - taken.bit_count()
        low, high = -(left // 2), (left + 1) // 2
        while low < high:
            middle = (low + high) // 2
            if self.score_at_most(own, taken, middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _negamax(self, own: int, taken: int, alpha: int) -> int:
        """At most `alpha` if the score is, else more; the player to move has no winning stone."""
        landings, other = self._landings(taken), taken ^ own
        left = self._squares - taken.bit_count()
        threats = self._winning(other, taken)
        forced = landings & threats
        if forced:
            landings = 0 if forced & forced - 1 else forced
        landings &= ~(threats >> 1)  # nor a stone beneath one that wins for the other
        if not landings:
            return -(left // 2)
        if left <= 2:
            return 0
        least, most = 1 - left // 2, (left - 1) // 2
        if least > alpha or most <= alpha:
            return least if least > alpha else most
        key = own + taken + self._bottom
        known = self._most.get(key)
        if known is not None and known <= alpha:
            return known
        best = least
        for stone in self._ordered(own, taken, landings):
            value = -self._negamax(other, taken | stone, -alpha - 1)
            if value > alpha:
                return value
            best = max(best, value)
        if len(self._most) >= MOST_ENTRIES:
            self._most.clear()
        self._most[key] = best
        return best

    def _ordered(self, own: int, taken: int, landings: int) -> list[int]:
        moves = [landings & column for column in self._order if landings & column]
        if len(moves) > 1:
            moves.sort(key=lambda stone: -self._winning(own | stone, taken | stone).bit_count())
        return moves

    def _landings(self, taken: int) -> int:
        return taken + self._bottom & self._board

    def _winning(self, own: int, taken: int) -> int:
        """The free squares that complete four in a row."""
        found = own << 1 & own << 2 & own << 3
        for step in (self._high - 1, self._high, self._high + 1):
            pair = own << step & own << 2 * step
            found |= pair & (own << 3 * step | own >> step)
            pair = own >> step & own >> 2 * step
            found |= pair & (own >> 3 * step | own << step)
        return found & self._board & ~taken
