"""`jaxgames data make|info|merge`: positions to learn from, in a folder."""

import argparse
from typing import Any

from jaxgames.cli.common import ProgressLine, add_shared, make_game, print_json, seed

OF_PLAYERS = ("games", "seed", "moves_of", "games_per_shard", "most_plies")
"""Options of games that players play, as `played_games` takes them."""


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    verbs = parser.add_subparsers(required=True, metavar="make|info|merge")
    make = verbs.add_parser("make", help="of games that players play, files of games, or solved positions")
    make.add_argument("--game", required=True, help="the game")
    make.add_argument("--out", required=True, metavar="FOLDER", help="the folder; a stopped command continues there")
    source = make.add_mutually_exclusive_group(required=True)
    source.add_argument("--players", nargs="+", metavar="PLAYER", help="one that plays itself, or two")
    source.add_argument("--records", nargs="+", metavar="FILE", help="games: .pdn, .mat, .sgf, .txt, .json")
    source.add_argument("--solved", nargs="+", metavar="FILE", help="solved positions of connect_four, as for score")
    make.add_argument("--exact", action="store_true", help="exact labels in known positions: endings, late positions")
    make.add_argument("--games", type=int, metavar="N", help="games to play (1,000)")
    make.add_argument("--moves-of", metavar="WHO", help="`first`: learn the first player's moves only")
    make.add_argument("--most-plies", type=int, metavar="N", help="a game is stopped after N plies (10,000)")
    make.add_argument("--games-per-shard", type=int, metavar="N", help="games played at once (2,048)")
    make.add_argument("--seed", type=seed, help="seed of all random numbers (0)")
    add_shared(make, "--set", "--plugin")
    make.set_defaults(command=_make)
    info = verbs.add_parser("info", help="what is in a folder")
    info.add_argument("data", metavar="FOLDER")
    info.set_defaults(command=_info)
    merge = verbs.add_parser("merge", help="make one folder of several: equal positions joined, and split")
    merge.add_argument("data", nargs="+", metavar="FOLDER")
    merge.add_argument("--out", required=True, metavar="FOLDER", help="where; never overwritten")
    merge.add_argument(
        "--without", action="append", default=[], metavar="WHAT",
        help="test positions to remove, with their mirror images: a folder, or a file of solved positions",
    )  # fmt: skip
    merge.add_argument("--validation", type=float, default=0.05, metavar="SHARE", help="share for validation (0.05)")
    merge.add_argument("--split", default="game", help="by `game` (as usual), or by `position`")
    merge.add_argument("--seed", type=seed, default=0, help="seed of the split (0)")
    merge.set_defaults(command=_merge)
    for verb in (make, info, merge):
        add_shared(verb, "--json")


def _make(options: argparse.Namespace) -> None:
    from jaxgames.data_sets import exact_labels, make_data

    game = make_game(options.game, options.set)
    try:
        with ProgressLine(quiet=options.json) as line:
            maker = _maker(game, options)
            maker = exact_labels(maker) if options.exact else maker
            make_data(maker, options.out, lambda done, shards: line.show(f"{done:,} of {shards:,} shards"))
    except KeyboardInterrupt as stop:
        raise type(stop)("go on with the same command") from None
    _print(options.out, options.json)


def _maker(game: Any, options: argparse.Namespace) -> Any:
    """What makes the rows."""
    from jaxgames.data_sets import played_games, recorded_games, solved_positions
    from jaxgames.players import make as make_player

    asked = {name: value for name in OF_PLAYERS if (value := getattr(options, name)) is not None}
    if asked and not options.players:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in asked)
        raise ValueError(f"{names}: of games that players play; with files leave it out")
    if options.records:
        return recorded_games(game, options.records)
    if options.solved:
        return solved_positions(game, options.solved)
    if len(options.players) > 2:
        raise ValueError(f"{len(options.players)} players; name one that plays itself, or two")
    players = [make_player(spec, game) for spec in options.players]
    return played_games(players[0], players[-1], **{"games": 1000, **asked})


def _info(options: argparse.Namespace) -> None:
    _print(options.data, options.json)


def _merge(options: argparse.Namespace) -> None:
    from jaxgames import make
    from jaxgames.data_sets import merge_data
    from jaxgames.runs.folder import DataSetFolder

    header = DataSetFolder.open_complete(options.data[0]).header
    game = make(header["game"], **header["options"])
    merge_data(
        game, options.data, options.out, _tests(game, options.without), options.validation, options.split,
        options.seed, {"without": options.without},
    )  # fmt: skip
    _print(options.out, options.json)


def _tests(game: Any, sources: list[str]) -> Any:
    """The positions of tests, and their legal actions; None if there are none."""
    from pathlib import Path

    from jaxgames.algos.imitation.data import load, open_of
    from jaxgames.data_sets import solved_tests
    from jaxgames.ops.pytrees import concatenate
    from jaxgames.sessions.record import game_options

    tests = []
    for source in sources:
        if Path(source).is_dir():
            rows = load(open_of(source, game, game_options(game)), game)
            tests.append((rows.position, rows.mask))
        elif game.id == "connect_four":
            tests.append(solved_tests(game, [source]))
        else:
            raise ValueError(f"{source}: expected a folder of data; files of solved positions are of connect_four")
    return concatenate(tests) if tests else None


def _print(path: str, as_json: bool) -> None:
    from jaxgames.data_sets import data_info

    facts = data_info(path)
    if as_json:
        return print_json(facts)
    unsaid = ("sources", "counts", "sha256")
    made = ", ".join(f"{name} {value}" for name, value in facts["made"].items() if name not in unsaid)
    print(f"{facts['data']}: {facts['game']} {facts['version']}, {made}")
    for name, value in facts["made"].get("counts", {}).items():
        print(f"  {name + ' (merge)':22}{value:14,}")
    for name in "positions games policies values means wins draws losses validation shards".split():
        print(f"  {name:22}{facts[name]:14,}")
    print(f"  {'MB on disk':22}{facts['bytes'] / 1e6:14,.1f}")
