"""The evolved networks of the text: against random moves, how many legal moves they know, and against one minimax."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.evolution.games.fitness import SCORES
from jaxgames.algos.evolution.games.play import Details, RandomMoves, Results, play
from jaxgames.algos.evolution.saved import load_champion
from jaxgames.arena import match
from jaxgames.envs.registry import make as make_game
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved
from jaxgames.recipes import recipe_named
from jaxgames.recipes.reproduce.checkers_simulation.published import PUBLISHED
from jaxgames.recipes.reproduce.checkers_simulation.rates import rates
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import Run

GAME = make_game("checkers")
RECIPE = "checkers-evolution"
MINIMAX = "alphabeta:4,ties=first,value=pieces"

TRAININGS: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "adamczyk-2018": ({"opponents": "others*20"}, {"opponents": "others*2", "generations": "4", "population": "20"}),
    "adamczyk-2018-deep": ({"opponents": "others*4", "generations": "40"}, {}),
    "adamczyk-2018-legality": ({"opponents": "others*20"}, {"opponents": "others*2", "generations": "20"}),
    "adamczyk-2018-minimax": ({"generations": "100"}, {}),
}
"""What is changed of each setting in a whole study and in a quick one; a quick one leaves out what has no changes.

All play all in the program, 80,000 games an epoch here; a drawn part of them ranks the networks nearly alike.
"""
FEWER = "each network meets 20 of the 200, drawn in each epoch, instead of all"


def trained(study: Study, setting: str) -> Path | None:
    """The folder of a training; None where a quick study has none."""
    changes = study.amount(*TRAININGS[setting])
    if not changes:
        return None
    measured = study.amount(300, 20)
    return study.train(setting, RECIPE, setting, changes, measured_games=measured, final_games=2, devices=1)


def network(study: Study) -> list[Row]:
    """Section 4.2: the size of the deep network."""
    published = PUBLISHED["network"]
    config = recipe_named(RECIPE).settings["adamczyk-2018-deep"].network  # type: ignore[attr-defined]
    genomes = config.genomes()
    kernels = sum(outputs * inputs for outputs, inputs in genomes.shapes)
    return [
        Row("inputs", published["inputs"], genomes.inputs, digits=0),
        Row("hidden layers", published["hidden layers"], len(config.hidden), digits=0),
        Row("hidden units", published["hidden units"], sum(config.hidden), digits=0),
        Row("outputs", published["outputs"], genomes.outputs, digits=0),
        Row(
            "weights", published["weights"], kernels, digits=0,
            why="11 matrices of 64 x 64 join 12 layers; the text counts 10 of them. Biases are not counted",
        ),
    ]  # fmt: skip


def points(study: Study) -> list[Row]:
    """The second figure 4.3: points of an action, as the fitness gives them."""
    moves, captures = jnp.asarray([[1, 0, 1]]), jnp.asarray([[0, 0, 1]])
    results = Results(jnp.zeros((1, 3)), jnp.asarray([[False, True, False]]), Details(moves=moves, captures=captures))
    found = np.asarray(SCORES["legality"](results))[0]
    published = PUBLISHED["fitness"]
    rows = [
        Row(f"points of a {name} move", published[name], float(x), digits=0)
        for name, x in zip(("legal", "illegal"), found[:2], strict=True)
    ]
    return [*rows, Row("points of a legal capture", published["legal capture"], float(found[2]), digits=0)]


def against_random(study: Study) -> list[Row]:
    """Section 4.3: one hidden layer, and ten, after the evolution, in games with random moves."""
    published, rows = PUBLISHED["network against random"], []
    share = {name: 100 * published[name] / published["games"] for name in ("won", "lost", "drawn")}
    for setting, learner in (("adamczyk-2018", "one hidden layer"), ("adamczyk-2018-deep", "ten hidden layers")):
        folder = trained(study, setting)
        if folder is None:
            continue
        run = Run.open(folder)
        last = run.steps()[-1]
        for step, which in ((last, f"epoch {last}"), (None, "the best of those measured")):
            found = games_of(study, setting, run, step, "random", study.amount(10_000, 200))
            mine = share if setting == "adamczyk-2018" and step is not None else {}
            rows += rates(found, f"random moves, {which}", mine, learner, f"of one training; {FEWER}")
    return rows


def games_of(
    study: Study, name: str, run: Run, step: int | None, opponent: str, games: int, seed: int = 1
) -> Mapping[str, Any]:
    """A match of a run's champion, after so many epochs or the best one."""

    def measure() -> Mapping[str, Any]:
        genome, config = load_champion(run, step)
        return match(
            evolved(name, genome, config), make_player(opponent, GAME), games, seed=study.seed + seed
        ).to_dict()

    settings = {"games": games, "step": step, "opponent": opponent, "seed": study.seed + seed}
    return study.cell(f"{name}, {step or 'best'}, against {opponent}", settings, measure)


def legal_moves(study: Study) -> list[Row]:
    """How many legal moves in a row a network names that learns legality, against random moves."""
    published, rows = PUBLISHED["legal moves in a row"], []
    folder = trained(study, "adamczyk-2018-legality")
    if folder is None:
        return rows
    run, games = Run.open(folder), study.amount(1_000, 100)
    for step in (run.steps()[0], run.steps()[-1]):
        counts = study.cell(
            f"legal moves, {step}", {"step": step, "games": games, "seed": study.seed},
            lambda step=step: {"moves": in_a_row(run, step, games, study.seed)},
        )["moves"]  # fmt: skip
        mean, margin = float(np.mean(counts)), 1.96 * float(np.std(counts, ddof=1)) / len(counts) ** 0.5
        for name, (low, high) in published.items():
            if step == run.steps()[-1] or name == "trained":
                rows.append(
                    Row(
                        f"legal moves in a row, epoch {step}", (low + high) / 2 if step == run.steps()[-1] else None,
                        mean, mean - margin, mean + margin, best="high", published_margin=(high - low) / 2,
                        learner=f"published: {low} to {high}" if step == run.steps()[-1] else "",
                    )
                )  # fmt: skip
        middle = np.percentile(counts, [10, 90])
        rows.append(Row(f"of ten games, one has fewer moves than, epoch {step}", None, float(middle[0]), digits=0))
        rows.append(Row(f"of ten games, one has more moves than, epoch {step}", None, float(middle[1]), digits=0))
    return rows


def in_a_row(run: Run, step: int, games: int, seed: int) -> list[int]:
    """The legal moves of a champion until its first illegal one, in games with random moves, half of them begun."""
    genome, config = load_champion(run, step)
    numbers = jnp.zeros(1, jnp.int32)
    results = jax.jit(
        lambda genomes: play(
            config.policy(), genomes, RandomMoves(games // 2), jax.random.key(seed), numbers, details=["moves"]
        )
    )(genome[None])
    assert results.details is not None and results.details.moves is not None
    return np.asarray(results.details.moves)[0].tolist()


def against_minimax(study: Study) -> list[Row]:
    """Section 4.3: networks that evolve against one deterministic minimax."""
    folder = trained(study, "adamczyk-2018-minimax")
    published = PUBLISHED["against minimax"]["minutes"]
    if folder is None:
        return [Row("minutes until it is beaten", published, why="not in a quick study")]
    run, beaten = Run.open(folder), None
    seconds = {line["step"]: line["seconds"] for line in run.metrics()}
    for step in run.steps():
        found = games_of(study, "adamczyk-2018-minimax", run, step, MINIMAX, 2)
        if found["win_rate"] > 0 and beaten is None:
            beaten = step
    last = run.steps()[-1]
    why = "" if beaten is not None else f"its champions have not won by epoch {last}"
    minutes = None if beaten is None else seconds[beaten] / 60
    rows = [Row("minutes until it is beaten", published, minutes, best="low", why=why)]
    rows += [Row("epochs until it is beaten", None, beaten, digits=0)] if beaten else []
    best = games_of(study, "adamczyk-2018-minimax", run, last, MINIMAX, 2)
    rows.append(Row(f"points in two games with it, epoch {last}", None, 2 * best["ppg"], digits=0))
    for opponent, games in (
        ("random", 10_000),
        ("alphabeta:4,value=pieces", 1_000),
        ("alphabeta:2,value=pieces", 1_000),
    ):
        found = games_of(study, "adamczyk-2018-minimax", run, last, opponent, games)
        rows += rates(found, f"{opponent}, epoch {last}", {}, "", "")
    return rows


def curves(study: Study) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The metrics of the trainings by self-play, by name."""
    folders = {name: study.folder / "runs" / name for name in ("adamczyk-2018", "adamczyk-2018-deep")}
    return {name: Run.open(folder).metrics() for name, folder in folders.items() if (folder / "config.json").exists()}
