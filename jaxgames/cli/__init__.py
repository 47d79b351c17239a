"""The command line: `jaxgames train RECIPE`, `jaxgames match A B`. Bad input gets one line that says what would be
right.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn


class _Parser(argparse.ArgumentParser):
    """One line for an error, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except (ValueError, ImportError) as error:
        if os.environ.get("JAXGAMES_TRACEBACK"):
            raise
        print(f"jaxgames: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="jaxgames", description="Board games in JAX: train players and let them play.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a player", formatter_class=argparse.RawDescriptionHelpFormatter)
    train.description = "Train a player by a recipe:\n\n" + _recipes()
    train.add_argument("recipe", nargs="?", help="the recipe (not with --resume)")
    train.add_argument("--out", required=True, metavar="FOLDER", help="the run folder; never overwritten")
    length = train.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="how long to train on this machine (5 if nothing is said)")
    length.add_argument("--games", type=int, help="how many games to train")
    train.add_argument("--seed", type=int, help="of all random numbers (0 if nothing is said)")
    train.add_argument("--setting", metavar="NAME", help="one of the recipe's settings, as listed above")
    train.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change one number of the setting"
    )
    train.add_argument("--devices", type=int, help="devices to use (one for every 128 games at once)")
    train.add_argument("--measured-games", type=int, metavar="N", help="games of each measurement on the way (2,000)")
    train.add_argument("--final-games", type=int, metavar="N", help="games against each opponent at the end (10,000)")
    train.add_argument("--resume", action="store_true", help="go on with the training in the run folder")
    train.add_argument("--json", action="store_true", help="results as JSON, nothing else")
    train.set_defaults(command=_train)

    match = commands.add_parser("match", help="let two players play")
    match.add_argument("a", metavar="A", help="a player: random, pubeval, simple:1..3, or a run folder")
    match.add_argument("b", metavar="B", help="another one")
    match.add_argument("--game", default="backgammon")
    match.add_argument(
        "--games", type=int, default=10_000, help="how many games; pairs of the same dice, sides swapped"
    )
    match.add_argument("--seed", type=int, default=0)
    match.add_argument("--json", action="store_true", help="results as JSON, nothing else")
    match.set_defaults(command=_match)
    return parser


def _recipes() -> str:
    from jaxgames.recipes import RECIPES

    return "\n".join(f"  {r.name:22}{r.summary}\n{'':24}settings: {', '.join(r.settings)}" for r in RECIPES.values())


def _train(options: argparse.Namespace) -> None:
    _use_all_cores()
    import jax

    from jaxgames.recipes import recipe_named
    from jaxgames.recipes.report import Report, show_training
    from jaxgames.recipes.td_training import Goal, Training

    report = Report(quiet=options.json)
    if options.resume:
        given = ("recipe", "minutes", "games", "seed", "setting", "devices", "measured_games", "final_games")
        if options.set or any(getattr(options, name) is not None for name in given):
            raise ValueError("--resume goes on as the run was planned: give it --out and nothing else")
        training = Training.resume(options.out, report)
    else:
        if options.recipe is None:
            raise ValueError("name a recipe, as listed by: jaxgames train --help")
        recipe = recipe_named(options.recipe)
        minutes = 5.0 if options.minutes is None and options.games is None else options.minutes
        config = recipe.config(options.setting, dict(_assignment(text) for text in options.set))
        devices = _devices_for(config.batch, jax.device_count()) if options.devices is None else options.devices
        numbers = {name: getattr(options, name) for name in ("seed", "measured_games", "final_games")}
        numbers = {name: number for name, number in numbers.items() if number is not None}
        goal = Goal(minutes=minutes, games=options.games, devices=devices, **numbers)
        setting = options.setting or next(iter(recipe.settings))
        training = Training.begin(recipe, config, goal, options.out, " ".join([setting, *options.set]), report)
    result = training.run_to_end()
    _print_json(result) if options.json else show_training(result)


def _match(options: argparse.Namespace) -> None:
    from jaxgames import make
    from jaxgames.arena import match
    from jaxgames.players import make as make_player

    game = make(options.game)
    result = match(make_player(options.a, game), make_player(options.b, game), options.games, seed=options.seed)
    if options.json:
        _print_json(result.to_dict())
    else:
        from jaxgames.arena.table import show

        show([result])


def _devices_for(batch: int, available: int) -> int:
    """As many devices as get 128 games each: with fewer, waiting for each other costs more than is gained."""
    return max(n for n in range(1, available + 1) if n == 1 or (batch % n == 0 and batch // n >= 128))


def _use_all_cores() -> None:
    """One XLA device for each core, if the backend is the CPU: a learner splits its games over devices."""
    import jax

    if "XLA_FLAGS" not in os.environ and getattr(jax.config, "jax_num_cpu_devices", 0) < 1:
        jax.config.update("jax_num_cpu_devices", len(os.sched_getaffinity(0)))


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r}: expected NAME=VALUE, such as decay=0.5")
    return name, value


def _print_json(result: dict[str, Any]) -> None:
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    sys.exit(main())
