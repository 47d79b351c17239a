"""A knock-out: pairs play until one is some points behind and drops out, round after round, until one is left.

This is how L. D. Ebert finds the best of the 700 to 1,200 networks that a training has saved (PulverGammon, 2007,
section 5.2.1; 50 points). Here the two games of a pair of games have the same dice and swapped sides, and if no player
has dropped out after `most_games`, the one who is ahead goes on.
"""

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.envs.core import Game
from jaxgames.matches.match import PairedGames
from jaxgames.ops import checks
from jaxgames.players import Player, as_players

BEHIND = 50
MOST_GAMES = 2000


class Meeting(NamedTuple):
    """Two players of a knock-out by their numbers: the games that counted, the points of `a` in them, who went on."""

    a: int
    b: int
    games: int
    points: float
    winner: int


@dataclasses.dataclass(frozen=True)
class KnockoutResult:
    """All rounds of a knock-out and the number of the player that is left; `seconds` holds the compilation, too."""

    game: str
    players: tuple[str, ...]
    behind: float
    most_games: int
    seed: int
    rounds: tuple[tuple[Meeting, ...], ...]
    winner: int
    seconds: float

    @property
    def games(self) -> int:
        """Games that counted."""
        return sum(meeting.games for meetings in self.rounds for meeting in meetings)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        rounds = [[meeting._asdict() for meeting in meetings] for meetings in self.rounds]
        return dataclasses.asdict(self) | {"rounds": rounds, "games": self.games, "best": self.players[self.winner]}


def knockout(
    players: Sequence[Player | str],
    behind: float = BEHIND,
    most_games: int = MOST_GAMES,
    seed: int = 0,
    slots: int = 128,
    threads: int = 2,
    known: Mapping[tuple[int, int, int], Meeting] | None = None,
    progress: Callable[[int, Meeting], None] | None = None,
    game: Game | str | None = None,
) -> KnockoutResult:
    """The knock-out of some players of one game.

    Who meets whom is drawn anew in each round; with an odd number the one who is drawn last goes on. Games count in
    their order, up to the pair of games after which one player is `behind`, so short games do not count more. Players
    of one kind share one compiled program.

    Args:
        players: two or more, or their names.
        behind: points by which a player drops out.
        most_games: after so many games, rounded down to pairs, the player who is ahead goes on; if level, the one with
            the higher number.
        seed: of all random numbers; with the players it decides the result.
        slots: games of two players at once. The result does not depend on it.
        threads: pairs of players at once.
        known: meetings of an earlier run with the same arguments, by round and players; they are not played again.
        progress: is called with the number of the round (from 0) and each meeting when it is over.
        game: the game, or its name, if all players are names.

    Raises `ValueError` for fewer than two players, players of different games, and numbers that make no sense.
    """
    if len(players) < 2:
        raise ValueError(f"a knock-out of {len(players)} players: expected 2 or more")
    players = as_players(*players, game=game)
    behind = checks.number("behind", behind, "points above 0", lambda points: points > 0)
    most_games, seed = checks.whole("most_games", most_games, 2), checks.seed(seed)
    slots, threads = checks.whole("slots", slots), checks.whole("threads", threads)
    slots += slots % 2  # two halves, one for each player
    begun, key, telling = time.perf_counter(), jax.random.key(seed), threading.Lock()
    left, rounds = np.arange(len(players)), list[tuple[Meeting, ...]]()
    with ThreadPoolExecutor(threads) as pool:
        while len(left) > 1:
            number = len(rounds)
            drawn = np.random.default_rng((seed, number)).permutation(left)
            pairs = [(int(a), int(b)) for a, b in zip(drawn[0::2], drawn[1::2], strict=False)]
            round_key = jax.random.fold_in(key, number)

            def meet(pair: tuple[int, int], number: int = number, round_key: Any = round_key) -> Meeting:
                meeting = (known or {}).get((number, *pair))
                if meeting is None:
                    a, b = pair
                    games = PairedGames(
                        players[a], players[b], most_games // 2, jax.random.fold_in(round_key, a), slots
                    )
                    meeting = _decide(games, pair, behind)
                if progress is not None:
                    with telling:
                        progress(number, meeting)
                return meeting

            # The first one alone: it compiles what the others share.
            meetings = [meet(pairs[0])]
            try:
                meetings += pool.map(meet, pairs[1:])
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            rounds.append(tuple(meetings))
            alone = drawn[2 * len(pairs) :]
            left = np.sort(np.concatenate([[meeting.winner for meeting in meetings], alone]).astype(int))
    seconds, names = time.perf_counter() - begun, tuple(player.name for player in players)
    game = players[0].game.id
    return KnockoutResult(game, names, behind, most_games, seed, tuple(rounds), int(left[0]), seconds)


def _decide(games: PairedGames, pair: tuple[int, int], behind: float) -> Meeting:
    """Plays until one is behind, or all games are played."""
    while True:
        over = games.play() == games.done.size
        in_order = int(np.argmin(games.done.all(axis=1))) if not over else len(games.points)
        sums = np.cumsum(games.points[:in_order].sum(axis=1))
        decided = np.flatnonzero(np.abs(sums) >= behind)
        if len(decided) or over:
            last = int(decided[0]) if len(decided) else len(sums) - 1
            points = float(sums[last])
            winner = pair[0] if points > 0 or (points == 0 and pair[0] > pair[1]) else pair[1]
            return Meeting(*pair, 2 * (last + 1), points, winner)
