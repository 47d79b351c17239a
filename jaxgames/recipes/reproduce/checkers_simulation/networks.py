"""The evolved networks of the text: against random moves, how many legal moves they know, and against one minimax."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32

from jaxgames.algos.evolution.evolution import advance
from jaxgames.algos.evolution.games.fitness import SCORES
from jaxgames.algos.evolution.games.play import Details, Networks, RandomMoves, Results, play
from jaxgames.algos.evolution.saved import load_champion
from jaxgames.algos.evolution.strategies import content_of, with_changes
from jaxgames.algos.evolution.strategies.neuroevolution import GeneticConfig
from jaxgames.envs.registry import make as make_game
from jaxgames.matches import match
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved
from jaxgames.recipes import recipe_named
from jaxgames.recipes.evolution.recipe import evolution_of
from jaxgames.recipes.reproduce.checkers_simulation.published import PUBLISHED
from jaxgames.recipes.reproduce.checkers_simulation.rates import rates
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import Run

GAME = make_game("checkers")
RECIPE = "checkers-evolution"
MINIMAX = "alphabeta:4,ties=first,value=pieces"

SELF_PLAY: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "adamczyk-2018": (
        {"opponents": "others*8"},
        {"opponents": "others*2", "generations": "4", "population": "24", "keep": "4", "elites": "4"},
    ),
    "adamczyk-2018-deep": ({"opponents": "others*4", "generations": "40"}, {}),
}
"""What is changed of each setting in a whole study, and in a quick one, which leaves out what has no changes.

In the program all play all, 80,000 games an epoch here; a drawn part of them ranks the networks nearly alike.
"""
FEWER = (
    "by a defect the program shows its networks one square of the board only; here one training, in which each network "
    "meets 8 of the 200 in an epoch: all of them, 16 million games in 200 epochs, would take an hour at 5,000 games/s"
)
DEEP = (
    "fewer epochs than 200, in which each network meets 4 of the 200: at 230 games/s the 16 million games of 200 "
    "epochs, all against all, would take 19 hours"
)


def settings_of(setting: str, changes: Mapping[str, str]) -> GeneticConfig:
    """A setting of the recipe, with some values changed."""
    recipe: Any = recipe_named(RECIPE)
    config: Any = with_changes(recipe.settings[setting], changes)
    return config


def trained(study: Study, setting: str) -> Path | None:
    """The folder of a training by self-play; None where a quick study has none."""
    changes = study.amount(*SELF_PLAY[setting])
    if not changes:
        return None
    measured = study.amount(300, 20)
    return study.train(setting, RECIPE, setting, changes, measured_games=measured, final_games=2, devices=1)


def epochs(
    config: GeneticConfig, seed: int
) -> Iterator[tuple[Float32[Array, "1 dimension"], Float32[Array, "sample dimension"]]]:
    """The champion of each epoch of an evolution, the best one of its candidates, and some networks of the next one."""
    evolution = evolution_of(config)
    strategy = evolution.strategy
    state = jax.jit(strategy.init)(jax.random.key(seed))
    for _ in range(config.generations):
        state, _ = advance(evolution, state, 1)
        yield strategy.best_networks(state), strategy.sample(state)


def network(study: Study) -> list[Row]:
    """Section 4.2: the size of the deep network."""
    published = PUBLISHED["network"]
    config = settings_of("adamczyk-2018-deep", {}).network
    genomes = config.genomes()
    kernels = sum(outputs * inputs for outputs, inputs in genomes.shapes)
    return [
        Row("inputs", published["inputs"], genomes.inputs, digits=0),
        Row("hidden layers", published["hidden layers"], len(config.layers.hidden), digits=0),
        Row("hidden units", published["hidden units"], sum(config.layers.hidden), digits=0),
        Row("outputs", published["outputs"], genomes.outputs, digits=0),
        Row(
            "weights", published["weights"], kernels, digits=0,
            why="11 matrices of 64 x 64 join 12 layers; the text counts 10 of them. Biases are not counted",
        ),
    ]  # fmt: skip


def points(study: Study) -> list[Row]:
    """The second figure 4.3: points of an action, as the fitness gives them."""
    moves, captures = jnp.asarray([[1, 0, 1]]), jnp.asarray([[0, 0, 1]])
    points, illegal = jnp.zeros((1, 3), jnp.float32), jnp.asarray([[False, True, False]])
    results = Results(points, illegal, Details(moves=moves, captures=captures))
    found = np.asarray(SCORES["legality"](results))[0]
    published = PUBLISHED["fitness"]
    rows = [
        Row(f"points of {name} moves", published[name], float(x), digits=0)
        for name, x in zip(("legal", "illegal"), found[:2], strict=True)
    ]
    return [*rows, Row("points of legal captures", published["legal capture"], float(found[2]), digits=0)]


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
            of_text = rates(found, f"random moves, {which}", mine, learner, FEWER)
            rows += of_text if setting == "adamczyk-2018" else [row._replace(why=DEEP) for row in of_text]
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
    """How many legal moves in a row networks name that learn legality, against each other and against random moves."""
    changes = study.amount({"opponents": "others*8"}, {"opponents": "others*2", "generations": "20"})
    config, games, every = settings_of("adamczyk-2018-legality", changes), study.amount(1_000, 100), 20
    policy = config.network.policy()

    @jax.jit
    def in_a_row(genomes: Float32[Array, "n dimension"], opponents: Any) -> Int32[Array, "n games"]:
        numbers, key = jnp.zeros(len(genomes), jnp.int32), jax.random.key(study.seed + 1)
        return jax.tree.leaves(play(policy, genomes, opponents, key, numbers, details=["moves"]).details)[0]

    def measure() -> Mapping[str, Any]:
        first = config.network.genomes().init(jax.random.key(study.seed), jnp.arange(50, dtype=jnp.int32))
        random = RandomMoves(games // 2)
        counts = {"0": {"random moves": np.concatenate([np.asarray(in_a_row(one[None], random)) for one in first])}}
        for epoch, (champion, others) in enumerate(epochs(config, study.seed), start=1):
            if epoch % every == 0:
                met = {"random moves": random, "each other": Networks(policy, others)}
                counts[str(epoch)] = {name: np.asarray(in_a_row(champion, who)) for name, who in met.items()}
        return {
            epoch: {
                name: {
                    "mean": float(one.mean()), "margin": 1.96 * float(one.std(ddof=1)) / one.size**0.5,
                    "tenths": np.percentile(one, [10, 90]).tolist(),
                }
                for name, one in found.items()
            }
            for epoch, found in counts.items()
        }  # fmt: skip

    settings = {**content_of(config), "games": games, "seed": study.seed}
    found = study.cell("legal moves, against each other and random moves", settings, measure)
    rows, last = [], str(config.generations)
    low, high = PUBLISHED["legal moves in a row"]["trained"]
    end_low, end_high = PUBLISHED["legal moves in a row"]["in the end"]
    why = "one training; each network meets 8 of the 200 in an epoch, and the text does not say how it counts"
    for epoch, matches in found.items():
        for name, moves in matches.items():
            mean, margin = moves["mean"], moves["margin"]
            who = "the first networks" if epoch == "0" else f"epoch {epoch}"
            row = Row(f"against {name}, {who}", None, mean, mean - margin, mean + margin, best="high")
            if epoch == last:
                row = row._replace(published=(low + high) / 2, published_margin=(high - low) / 2, why=why)
            rows.append(row)
    for name, moves in found[last].items():
        few, many = moves["tenths"]
        rows += [
            Row(f"against {name}, a tenth has at most, epoch {last}", end_low, few, digits=0, best="high", why=why),
            Row(f"against {name}, a tenth has at least, epoch {last}", end_high, many, digits=0, best="high", why=why),
        ]
    return rows


def against_minimax(study: Study) -> list[Row]:
    """Section 4.3: networks that evolve against one deterministic minimax, until the best one has more points than it
    in their two games.
    """
    published, most = PUBLISHED["against minimax"]["minutes"], study.amount("600", "")
    if not most:
        return [Row("minutes until it is beaten", published, why="not in a quick study")]
    config = settings_of("adamczyk-2018-minimax", {"generations": most})

    def measure() -> Mapping[str, Any]:
        began, points, beaten, last = time.perf_counter(), [], None, None
        for epoch, (champion, _) in enumerate(epochs(config, study.seed), start=1):
            if last is None or not np.array_equal(last, champion):  # a champion of old plays the same games again
                last, player = np.asarray(champion), evolved("champion", champion[0], config.network)
                meeting = match(player, make_player(MINIMAX, GAME), 2, seed=study.seed).to_dict()
            points.append(2 * meeting["ppg"])
            if points[-1] > 0:
                beaten = {"epoch": epoch, "minutes": (time.perf_counter() - began) / 60}
                break
        others = {"random": 10_000, "alphabeta:4,value=pieces": 500}
        matches = [
            match(player, make_player(name, GAME), games, seed=study.seed).to_dict() for name, games in others.items()
        ]
        return {"points": points, "beaten": beaten, "last": meeting, "matches": matches}

    found = study.cell("against minimax", {**content_of(config), "seed": study.seed}, measure)
    beaten, last, end = found["beaten"] or {}, len(found["points"]), found["last"]
    draws = sum(points == 0 for points in found["points"])
    why = "" if beaten else f"no champion of {last} epochs has won"
    return [
        Row("minutes until it is beaten", published, beaten.get("minutes"), best="low", why=why or QUICKER),
        Row("epochs until it is beaten", None, beaten.get("epoch"), digits=0, why=why),
        Row(
            "epochs before, whose champion draws both games or wins one and loses one", None, draws, digits=0
        ),
        Row(f"games won of the two with it, epoch {last}", None, 2 * end["win_rate"], digits=0),
        Row(f"games lost of the two with it, epoch {last}", None, 2 * end["loss_rate"], digits=0),
        *(row for result in found["matches"] for row in rates(result, f"{result['b']}, epoch {last}", {}, "", "")),
    ]  # fmt: skip


QUICKER = "a win is counted here when the champion of an epoch has more points in the two games than it"


def curves(study: Study) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The metrics of the trainings by self-play, by name."""
    folders = {name: study.folder / "runs" / name for name in ("adamczyk-2018", "adamczyk-2018-deep")}
    return {name: Run.open(folder).metrics() for name, folder in folders.items() if (folder / "config.json").exists()}
