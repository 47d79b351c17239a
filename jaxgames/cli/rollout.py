"""`jaxgames rollout POSITION --player SPEC`: what a position is worth, by games played on from it."""

import argparse
from pathlib import Path

from jaxgames.cli.common import ProgressLine, add_shared, print_json, seed


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.add_argument("position", metavar="POSITION", help="4HPwATDgc/ABMA, with a roll 4HPwATDgc/ABMA:31, or a file")
    parser.add_argument("--player", metavar="SPEC", default="champion@1", help="plays both sides (champion@1)")
    parser.add_argument("--trials", type=int, default=1_024, metavar="N", help="games from each position (1024)")
    parser.add_argument("--truncate", type=int, metavar="P", help="stop after so many plies, at the player's value")
    parser.add_argument("--game", default="backgammon", metavar="GAME", help="a game with chance (backgammon)")
    add_shared(parser, "--plugin")
    parser.add_argument("--seed", type=seed, default=0, help="seed of the dice (0)")
    add_shared(parser, "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Rolls out each position and prints what it is worth to the player to act."""
    from jaxgames import make
    from jaxgames.matches.rollout import RolloutResult, rollout
    from jaxgames.players import make as make_player
    from jaxgames.runs.console import ConsoleTable, percent

    game = make(options.game)
    file = Path(options.position)
    try:
        texts = file.read_text("utf-8").split() if file.is_file() else [options.position]
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text; expected a position a line") from None
    if not texts:
        raise ValueError(f"{file} has no positions; expected one a line")
    states = [game.from_string(text) for text in texts]
    player = make_player(options.player, game)
    results: list[RolloutResult] = []

    def progress(done: int) -> None:
        line.show(f"{len(results)} of {len(states)} positions, {done:,} trials")

    with ProgressLine(quiet=options.json) as line:
        for state in states:
            results.append(rollout(player, state, options.trials, options.seed, options.truncate, progress))
    if options.json:
        return print_json({"rollouts": [result.to_dict() for result in results]})
    print(f"{results[0].player}, {results[0].trials:,} trials, points of the player to act, without a cube")
    table = ConsoleTable(("position", "equity", "std. error", "win", "gammon", "bg", "lose g", "variance"))
    for result in results:
        shares = (result.win_rate, result.gammon_rate, result.backgammon_rate, result.gammon_loss_rate)
        if result.truncated:  # few games have ended, so how they ended says little
            texts = ["-"] * len(shares)
        else:
            texts = [f"{percent(share)}%" for share in shares]
        factor = "exact" if result.variance_factor is None else f"1/{result.variance_factor:.1f}"
        table.add_row(result.position, f"{result.equity:+.4f}", f"{result.standard_error:.4f}", *texts, factor)
    print(table)
