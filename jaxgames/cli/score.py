"""`jaxgames score GAME PLAYER --positions FILE` or `--endings N`: how much of what is known a player plays right."""

import argparse

from jaxgames.cli.common import ProgressLine, add_shared, print_json, seed


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.add_argument(
        "game", metavar="GAME", help="connect_four; with --endings any game with exactly known positions"
    )
    parser.add_argument("player", metavar="PLAYER", help="as for match: random, uct:800, a run folder, ...")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--endings",
        type=int,
        metavar="N",
        help="N positions that are known exactly, of random games: endings of checkers, bear-offs, ...",
    )
    source.add_argument(
        "--positions",
        metavar="FILE",
        help='lines {"board": [...], "score": 2, "move score": [...]}, or columns played and score: 4453 -1',
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N positions")
    add_shared(parser, "--plugin")
    parser.add_argument("--seed", type=seed, default=0, help="seed of all random numbers (0)")
    add_shared(parser, "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Lets the player move in each position and prints the shares."""
    from jaxgames import make
    from jaxgames.matches import solved
    from jaxgames.players import make as make_player
    from jaxgames.runs.console import percent

    if options.endings is not None:
        return _endings(options)
    if make(options.game).id != "connect_four":
        raise ValueError(f"score knows solved positions of connect_four, not of {options.game}")
    positions = solved.read(options.positions, options.limit)
    player = make_player(options.player, solved.board_of(positions))

    def progress(done: int) -> None:
        line.show(f"{done:,} of {len(positions):,} positions")

    with ProgressLine(quiet=options.json) as line:
        result = solved.score(player, positions, options.positions, options.seed, progress=progress)
    if options.json:
        print_json(result.to_dict())
        return
    milliseconds = 1000 * result.seconds / result.positions
    print(f"{result.player}: {result.positions:,} positions of {result.file}")
    print(f"  perfect  {percent(result.perfect):>5} %")
    print(f"  good     {percent(result.good):>5} %")
    print(f"in {result.seconds:.1f} s, {milliseconds:.2f} ms a position")


def _endings(options: argparse.Namespace) -> None:
    from jaxgames import make
    from jaxgames.data_sets.endings import score_endings
    from jaxgames.players import make as make_player
    from jaxgames.runs.console import percent

    if options.limit is not None:
        raise ValueError("--limit is for --positions; with --endings give the number itself")
    result = score_endings(make_player(options.player, make(options.game)), options.endings, options.seed)
    if options.json:
        return print_json(result.to_dict())
    print(f"{result.player}: {result.positions:,} positions of {result.game} that are known exactly")
    print(f"  perfect  {percent(result.perfect):>5} %")
    print(f"  good     {percent(result.good):>5} %")
    error = "unknown of one pair of games" if result.error is None else f"{result.error:.5f}"
    print(f"  lost     {result.lost:.5f} points a turn, standard error {error}")
