"""`jaxgames train RECIPE`: a training from start to end, or continued from where it was stopped."""

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from jaxgames.cli.common import SHARED, add_shared, command, print_json

_PLANNED = tuple("recipe game from_file data minutes games seed setting devices measured_games final_games".split())


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "Train a player by a recipe:\n\n" + _recipes()
    parser.add_argument("recipe", nargs="?", help="the recipe (not with --resume)")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="the run folder; never overwritten")
    parser.add_argument("--game", help="the game, for recipes of several games")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="how long to train on this machine")
    length.add_argument("--games", type=int, help="how many games to train (without both: as the recipe says)")
    parser.add_argument("--seed", type=int, help="seed of all random numbers (0)")
    parser.add_argument("--from", dest="from_file", metavar="FILE", help="networks to begin with: a file, or a run")
    parser.add_argument("--data", metavar="FOLDER", help="learn from a data set of `jaxgames data make`")
    parser.add_argument("--setting", metavar="NAME", help="one of the recipe's settings")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change one value of the setting"
    )
    parser.add_argument("--population", metavar="N", help="candidates of a generation: --set population=N")
    parser.add_argument("--devices", type=int, help="devices to use (as many as are useful)")
    usual = "(as the recipe says)"
    parser.add_argument("--measured-games", type=int, metavar="N", help=f"games of each measurement on the way {usual}")
    parser.add_argument("--final-games", type=int, metavar="N", help=f"games against each opponent at the end {usual}")
    parser.add_argument("--plugin", **SHARED["--plugin"] | {"action": "append", "default": []})
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="with several processes: where process 0 listens")
    parser.add_argument("--processes", type=int, metavar="N", help="how many there are (not needed under Slurm)")
    parser.add_argument("--process", type=int, metavar="I", help="which of them this is; only 0 writes and prints")
    parser.add_argument("--tensorboard", action="store_true", help="write FOLDER/tensorboard beside metrics.jsonl")
    parser.add_argument("--resume", action="store_true", help="go on with the training in the run folder")
    add_shared(parser, "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Trains and prints the result."""
    _use_all_cores()
    from jaxgames.runs.processes import ending_together, join

    advice = f"go on with: {command('train', '--out', options.out, '--resume', plugins=options.plugin)}"
    with _stdout_kept():
        join(options.coordinator, options.processes, options.process)
        with ending_together(advice):
            result, recipe = _train(options, advice)
    if _speaks():
        print_json(result) if options.json else recipe.show(result)


def _train(options: argparse.Namespace, advice: str) -> tuple[dict[str, Any], Any]:
    """The result, and the recipe that made it. Plug-ins are loaded only now: they may use the devices."""
    from jaxgames.players.plugins import load
    from jaxgames.recipes import recipe_named
    from jaxgames.recipes.report import Report
    from jaxgames.runs import Run, check_extras

    for file in options.plugin:
        load(file)
    report = Report(quiet=options.json or not _speaks())
    if options.resume:
        if _changes(options) or options.tensorboard or any(getattr(options, name) is not None for name in _PLANNED):
            raise ValueError("--resume continues the run as planned: give it only --out")
        folder = Run.open(options.out)
        if "recipe" not in folder.config:
            raise ValueError(f"{options.out} holds no training; expected a run of `jaxgames train`")
        recipe = _shared(recipe_named(folder.config["recipe"]))
        check_extras()
        training = _resumed(recipe, folder, report)
    else:
        if options.recipe is None:
            raise ValueError("name a recipe, as listed by: jaxgames train --help")
        recipe = _shared(recipe_named(options.recipe))
        training = recipe.begin(plan_of(options), options.out, report)
    try:
        return training.run_to_end(), recipe
    except KeyboardInterrupt as stop:
        raise type(stop)(advice) from None


def plan_of(options: argparse.Namespace) -> Any:
    """The plan that the options describe. Raises `ValueError` for impossible options."""
    from jaxgames.recipes import Plan

    asked = {name: getattr(options, name) for name in _PLANNED if name != "recipe"}
    return Plan(**asked, changes=_changes(options), tensorboard=options.tensorboard)


def _resumed(recipe: Any, run: Any, report: Any) -> Any:
    """The training of a run folder. Raises `ValueError` for a configuration that is not of this recipe."""
    try:
        return recipe.resume(run, report)
    except (TypeError, KeyError, AttributeError) as error:
        reason = f"{run.path}/config.json is no configuration of {recipe.name} ({error})"
        raise ValueError(f"{reason}; restore it or start a new run") from error


@contextlib.contextmanager
def _stdout_kept() -> Iterator[None]:
    """Sends to stderr what libraries print: gloo reports the processes that it has found."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _shared(recipe: Any) -> Any:
    """The recipe, if it can train in so many processes."""
    import jax

    if jax.process_count() > 1 and not getattr(recipe, "several_processes", False):
        raise ValueError(f"{recipe.name} trains in one process, not in {jax.process_count()}")
    return recipe


def _speaks() -> bool:
    """Whether this is the first process, or the only one."""
    import jax

    return jax.process_index() == 0


def _recipes() -> str:
    from jaxgames.recipes import RECIPES

    return "\n".join(f"  {name:23} {recipe.help()}" for name, recipe in RECIPES.items())


def _use_all_cores() -> None:
    """One XLA device for each core, if the backend is the CPU: a learner splits its games over devices.

    A number that XLA_FLAGS or JAX's settings give stays.
    """
    import jax

    told = "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    if not told and getattr(jax.config, "jax_num_cpu_devices", 0) < 1:
        with contextlib.suppress(RuntimeError):  # a program that calls `main` may have used its devices already
            jax.config.update("jax_num_cpu_devices", _cores())


def _cores() -> int:
    """The cores that this process may use; macOS only reports how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _changes(options: argparse.Namespace) -> dict[str, str]:
    """The settings to change, as texts by name."""
    texts = [*options.set, *([] if options.population is None else [f"population={options.population}"])]
    changes: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set {text!r}: expected NAME=VALUE, such as lambda_=0.5")
        if name in changes:
            raise ValueError(f"{name} is set twice, to {changes[name]} and {value}; expected once")
        changes[name] = value
    return changes
