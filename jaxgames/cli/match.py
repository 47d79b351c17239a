"""`jaxgames match A B`: two players against each other."""

import argparse
from importlib.metadata import entry_points

from jaxgames.cli.common import ProgressLine, add_shared, make_game, print_json, seed

SEED = "seed of all random numbers (0); for a run take another seed than its own, by which it chose its best player"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "players (RUN is the folder of a training, other numbers may stand for these):\n\n" + _players()
    parser.add_argument("a", metavar="A", help="a player, such as random, alphabeta:5 or a run folder; all are below")
    parser.add_argument("b", metavar="B", help="another one")
    parser.add_argument("--game", help="the game (that of the run folders, else backgammon)")
    parser.add_argument(
        "--games", type=int, default=10_000, help="how many games; pairs of the same dice, sides swapped"
    )
    add_shared(parser, "--set", "--plugin")
    parser.add_argument("--seed", type=seed, default=0, help=SEED)
    add_shared(parser, "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Plays the match and prints its result."""
    from jaxgames.matches import match
    from jaxgames.players import game_of
    from jaxgames.players import make as make_player

    game = make_game(options.game or game_of(options.a) or game_of(options.b) or "backgammon", options.set)
    players = make_player(options.a, game), make_player(options.b, game)

    def progress(done: int) -> None:
        line.show(f"{done:,} of {options.games:,} games")

    with ProgressLine(quiet=options.json) as line:
        result = match(*players, options.games, seed=options.seed, progress=progress)
    if options.json:
        print_json(result.to_dict())
    else:
        from jaxgames.matches import result_table
        from jaxgames.runs.console import show

        show(result_table(result))


def _players() -> str:
    from jaxgames.players.registry import FROM_FOLDER, GROUP, PLAYERS

    lines = [f"  {', '.join(entry.examples):30}  {entry.help}" for entry in (*PLAYERS.values(), FROM_FOLDER)]
    names = ", ".join(sorted({point.name for point in entry_points(group=GROUP)}))
    return "\n".join([*lines, f"\nand players of other packages and programs: {names}"] if names else lines)
