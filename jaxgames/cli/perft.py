"""`jaxgames perft GAME DEPTH`: how many games of so many turns there are."""

import argparse
import time

from jaxgames.cli.common import ProgressLine, add_shared, make_game, print_json


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.add_argument("game", metavar="GAME", help="a game without chance, for example checkers")
    parser.add_argument("depth", metavar="DEPTH", type=int, help="how many turns")
    parser.add_argument("--from", dest="start", metavar="POSITION", help="a position in the game's notation")
    parser.add_argument("--divide", action="store_true", help="by the first turn")
    parser.add_argument(
        "--distinct",
        action="store_true",
        help="count ways to jump that lead to the same position once (otherwise each counts, as in OEIS A133046)",
    )
    add_shared(parser, "--set", "--plugin", "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Counts and prints the counts."""
    from jaxgames.envs.testing.perft import divide, perft

    game = make_game(options.game, options.set)
    state = None if options.start is None else game.from_string(options.start)
    count = divide if options.divide else perft
    begun = time.perf_counter()
    with ProgressLine(quiet=options.json) as line:
        counts = count(
            game,
            options.depth,
            state,
            distinct=options.distinct,
            report=lambda counts: line.show(f"{counts[-1]:,} games"),
        )
    seconds = time.perf_counter() - begun
    total = sum(counts.values()) if isinstance(counts, dict) else counts[-1]
    if options.json:
        result = {"game": game.id, "depth": options.depth, "distinct": options.distinct, "from": options.start}
        print_json({**result, "divide" if options.divide else "counts": counts, "total": total, "seconds": seconds})
        return
    for name, number in counts.items() if isinstance(counts, dict) else enumerate(counts):
        print(f"{name!s:>16}  {number:>24,}")
    print(f"{total:,} games in {seconds:.1f} s")
