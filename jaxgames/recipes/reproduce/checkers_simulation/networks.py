"""The networks of the text: evolved, against random moves, by their legal moves and against one minimax; and one that
learns moves of minimax by the delta rule.
"""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int, Int32

from jaxgames.algos.evolution.evolution import advance
from jaxgames.algos.evolution.fitness import SCORES
from jaxgames.algos.evolution.play import Details, Networks, RandomMoves, Results, play
from jaxgames.algos.evolution.saved import load_champion
from jaxgames.algos.evolution.strategies import content_of, with_changes
from jaxgames.algos.evolution.strategies.neuroevolution import GeneticConfig
from jaxgames.matches import match
from jaxgames.matches.intervals import mean_margin
from jaxgames.players import Player
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved
from jaxgames.recipes import recipe_named
from jaxgames.recipes.evolution import evolution_of
from jaxgames.recipes.reproduce.checkers_simulation.positions import GAME, PUBLISHED
from jaxgames.recipes.reproduce.rows import Row, range_row, result_rows, setting_rows
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import Panel, Run
from jaxgames.runs.figures import GREY, LIGHT, LINE_COLORS, canvas, save
from jaxgames.runs.figures import draw as draw_metrics

RECIPE = "checkers-evolution"
MINIMAX = "alphabeta:4,ties=first,value=pieces"

SELF_PLAY: Mapping[str, tuple[str, str, Mapping[str, str], Mapping[str, str]]] = {
    "adamczyk-2018": (
        "adamczyk-2018", "one hidden layer", {"opponents": "others*8"},
        {"opponents": "others*2", "generations": "4", "population": "24", "keep": "4", "elites": "4"},
    ),
    "adamczyk-2018-deep": (
        "adamczyk-2018-deep", "ten hidden layers", {"opponents": "others*4", "generations": "40"}, {},
    ),
    "deep-whole": ("adamczyk-2018-deep", "ten hidden layers", {"opponents": "others*4"}, {}),
    "all-against-all": ("adamczyk-2018", "one hidden layer", {"opponents": "others*200"}, {}),
}  # fmt: skip
"""Of each training its setting, what it is called, and what is changed of it in a whole study and in a quick one, which
leaves out what has no changes.

In the program all play all, 80,000 games an epoch here; a drawn part of them ranks the networks nearly alike.
"""
FEWER = (
    "the reason is not known; by a defect the program shows its networks only one square of the board, but with that "
    "defect ours win as often: 88.6 %, and 88.9 % without it (networks of other settings)"
)


def settings_of(setting: str, changes: Mapping[str, str]) -> GeneticConfig:
    """A setting of the recipe, with some values changed."""
    recipe: Any = recipe_named(RECIPE)
    config: Any = with_changes(recipe.settings[setting], changes)
    return config


def trained(study: Study, training: str) -> Path | None:
    """The folder of a training by self-play; None where a quick study has none."""
    of, _, full, quick = SELF_PLAY[training]
    changes = study.amount(full, quick)
    if not changes:
        return None
    measured = study.amount(300, 20)
    return study.train(training, RECIPE, of, changes, measured_games=measured, final_games=2, devices=1)


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


# The network, and the points of its moves.


def network(study: Study) -> list[Row]:
    """Section 4.2: the size of the deep network."""
    config = settings_of("adamczyk-2018-deep", {}).network
    genomes = config.genomes()
    ours = {
        "inputs": genomes.inputs, "hidden layers": len(config.layers.hidden),
        "hidden units": sum(config.layers.hidden),
        "outputs": genomes.outputs, "weights": sum(outputs * inputs for outputs, inputs in genomes.shapes),
    }  # fmt: skip
    *rows, weights = setting_rows(PUBLISHED["4.2 network"], ours)
    why = "11 matrices of 64 x 64 join 12 layers; the text counts 10 of them. Biases are not counted"
    return [*rows, weights._replace(why=why)]


def draw_network(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws figure 4.2: the layers of the deep network, a unit in eight shown."""
    units = {row.what: int(row.ours or 0) for row in rows}
    layers = units["hidden layers"]
    sizes = [units["inputs"], *[units["hidden units"] // layers] * layers, units["outputs"]]
    colors = ["#e0b81b", *[LINE_COLORS[2]] * layers, LINE_COLORS[4]]

    shown = [size // 8 for size in sizes]
    figure, axis = canvas(bare=True)
    for layer, (one, other) in enumerate(itertools.pairwise(shown)):
        for first, second in itertools.product(range(one), range(other)):
            axis.plot([layer, layer + 1], [first, second], color=LIGHT, linewidth=0.4, zorder=1)
    for layer, (count, color) in enumerate(zip(shown, colors, strict=True)):
        axis.plot([layer] * count, range(count), "o", color=color, markersize=9, zorder=2)
        axis.annotate(f"{sizes[layer]}", (layer, -1), ha="center", va="center", color=GREY, fontsize=9)
    axis.set_ylim(-1.6, max(shown) - 0.2)
    axis.set_title("units of each layer: inputs, hidden layers, outputs (one in eight drawn)", fontsize=9, color=GREY)
    save(figure, path)


def points(study: Study) -> list[Row]:
    """The second figure 4.3: points of an action, as the fitness gives them."""
    moves, captures = jnp.asarray([[1, 0, 1]]), jnp.asarray([[0, 0, 1]])
    points, illegal = jnp.zeros((1, 3), jnp.float32), jnp.asarray([[False, True, False]])
    results = Results(points, illegal, Details(moves=moves, captures=captures))
    ours = np.asarray(SCORES["legality"](results))[0].tolist()
    theirs = PUBLISHED["4.3 points"].items()
    return [Row(f"points of {name}", x, y, digits=0, is_set=True) for (name, x), y in zip(theirs, ours, strict=True)]


# Networks that play each other.


def against_random(study: Study) -> list[Row]:
    """Section 4.3: one hidden layer, and ten, after the evolution, in games with random moves."""
    return [row for training in DRAWN for row in rows_of(study, training)]


DRAWN = ("adamczyk-2018", "adamczyk-2018-deep")
"""The trainings whose curves are drawn."""


def whole(training: str, study: Study) -> list[Row]:
    """The same of a training that is left out of quick figures."""
    return rows_of(study, training) or [Row("won against random moves", None, why="not in a quick study")]


def rows_of(study: Study, training: str) -> list[Row]:
    """Results of a training's networks in games with random moves; those of one hidden layer beside the text's."""
    rows: list[Row] = []
    folder, (setting, learner, *_) = trained(study, training), SELF_PLAY[training]
    if folder is None:
        return rows
    run = Run.open(folder)
    last, games = run.steps()[-1], study.amount(10_000, 200)
    for step, which in ((last, f"epoch {last}"), (None, "the best of those measured")):

        def players(step: int | None = step) -> tuple[Player, Player]:
            return evolved(training, *load_champion(run, step)), make_player("random", GAME)

        settings = {"step": step, "opponent": "random", "seed": study.seed + 1}
        result = study.match(
            f"{training}, {step or 'best'}, against random", players, games, study.seed + 1, settings
        )  # fmt: skip
        is_published = setting == "adamczyk-2018" and step is not None
        theirs = PUBLISHED["4.3 network against random"] if is_published else None
        rows += result_rows(result, f"random moves, {which}", theirs, learner=learner)
    return rows


def draw_learning(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws games won against random moves over epochs."""
    lines: list[dict[str, Any]] = []
    learners = {name: SELF_PLAY[name][1] for name in DRAWN}
    for name in learners:
        if ((folder := study.path / "runs" / name) / "config.json").exists():
            lines += [
                {"epochs": x["step"], name: x["win_random"]} for x in Run.open(folder).metrics() if "win_random" in x
            ]
    share = PUBLISHED["4.3 network against random"]
    references = [("published, epoch 200", 100 * share["won"] / share["games"])]
    panel = Panel("won against random moves, %", learners, references, height=2.6)
    draw_metrics(lines, path, "epochs", [panel])


def legal_moves(study: Study) -> list[Row]:
    """How many legal moves in a row networks that learn legality name, against each other and random moves."""
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
        return {epoch: {name: summary(one) for name, one in met.items()} for epoch, met in counts.items()}

    settings = {**content_of(config), "games": games, "seed": study.seed}
    moves = study.cell("legal moves, against each other and random moves", settings, measure)
    rows, last = [], str(config.generations)
    why = "one training, in which each network meets 8 of the 200 in an epoch; the text does not say how it counts"
    for epoch, matches in moves.items():
        for name, of in matches.items():
            mean, margin = of["mean"], of["margin"]
            what = f"against {name}, {'the first networks' if epoch == '0' else f'epoch {epoch}'}"
            fields = {"low": mean - margin, "high": mean + margin}
            if epoch == last:
                rows.append(
                    range_row(what, PUBLISHED["4.3 legal moves in a row"], mean, best="high", why=why, **fields)
                )
            else:
                rows.append(Row(what, None, mean, best="high", **fields))
    for name, of in moves[last].items():
        for word, theirs, ours in zip(
            ("most", "least"), PUBLISHED["6 legal moves in the end"], of["tenths"], strict=True
        ):
            what = f"against {name}, a tenth has at {word}, epoch {last}"
            rows.append(Row(what, theirs, ours, digits=0, best="high", why=why))
    return rows


def summary(counts: Int[np.ndarray, "networks games"]) -> dict[str, Any]:
    """The mean of counts with its margin, and tenths. The games of one network are alike: of several networks the
    margin is that of their means.
    """
    margin = mean_margin(counts.mean(axis=1) if len(counts) > 1 else counts[0])
    return {"mean": float(counts.mean()), "margin": margin, "tenths": np.percentile(counts, [10, 90]).tolist()}


def against_minimax(study: Study) -> list[Row]:
    """Section 4.3: networks that evolve against one deterministic minimax, until the best one has more points than it
    in their two games.
    """
    theirs, most = PUBLISHED["4.3 minutes until minimax is beaten"], study.amount("600", "")
    if not most:
        return [Row("minutes until minimax is beaten", theirs, why="not in a quick study")]
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

    cell = study.cell("against minimax", {**content_of(config), "seed": study.seed}, measure)
    beaten, last, end = cell["beaten"] or {}, len(cell["points"]), cell["last"]
    draws = sum(points == 0 for points in cell["points"])
    why = "" if beaten else f"no champion of {last} epochs has won"
    return [
        Row("minutes until minimax is beaten", theirs, beaten.get("minutes"), best="low", why=why or QUICKER),
        Row("epochs until minimax is beaten", None, beaten.get("epoch"), digits=0, why=why),
        Row("earlier epochs whose champion drew both games, or won one and lost one", None, draws, digits=0),
        Row(f"games won of the two with minimax, epoch {last}", None, 2 * end["win_rate"], digits=0),
        Row(f"games lost of the two with minimax, epoch {last}", None, 2 * end["loss_rate"], digits=0),
        *(row for result in cell["matches"] for row in result_rows(result, f"{result['b']}, epoch {last}")),
    ]


QUICKER = "here minimax is beaten when the champion of an epoch has more points in their two games"


# A network that learns moves of minimax by the delta rule.

TEACHER = "alphabeta:5"
AMOUNT = (
    {"games": 8_192, "epochs": "10", "final_games": 10_000},
    {"games": 24, "epochs": "2", "final_games": 100},
)
"""Games of the teacher against itself, how often their moves are learned, games at the end; then of a quick study."""
GAMES_PER_SHARD = 256
UNTOLD = "the text does not say which of its players made the moves, nor how many there were in the end"


def backpropagation(study: Study) -> list[Row]:
    """Section 4.3: what a network of one hidden layer learns, a step after each move; its error on moves that it has
    seen, and on others.
    """
    amount: Mapping[str, Any] = study.amount(*AMOUNT)
    data = study.examples("moves of minimax", GAME, TEACHER, amount["games"], GAMES_PER_SHARD)
    folder = study.train(
        "backpropagation", "checkers-imitation", "adamczyk-2018", {"epochs": amount["epochs"]},
        data=str(data["folder"]), final_games=amount["final_games"],
    )  # fmt: skip
    best = Run.open(folder).best_info() or {}
    theirs, learned = PUBLISHED["4.3 positions learned, million"], data["training"] / 10**6
    rows = [
        range_row("positions learned", theirs, learned, unit="million", why=UNTOLD, digits=3, is_set=True),
        Row("positions kept to test it", None, data["validation"] / 10**6, unit="million", digits=3),
        Row("epochs until the test is best", None, best["epoch"]),
        Row("squared error of a move learned, in that epoch", None, best["policy_loss"], digits=2),
        Row(
            "squared error of a move not learned (its curve has no numbers)", None, best["validation_policy_loss"],
            digits=2,
        ),
        Row("moves not learned that it predicts", None, 100 * best["validation_predicted"], unit="%"),
    ]  # fmt: skip
    return [*rows, *result_rows(study.result_of("training backpropagation")["matches"][0], "random moves")]


def draw_errors(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws the squared error over moves learned, each time counted, of moves learned and of others."""
    names = {"policy_loss": "moves learned", "validation_policy_loss": "moves not learned"}
    metrics = [
        {"moves learned, each time counted": line["positions"], **{key: line[key] for key in names if key in line}}
        for line in Run.open(study.path / "runs" / "backpropagation").metrics()
    ]
    panel = Panel("squared error of a move", names, height=2.6)
    draw_metrics(metrics, path, "moves learned, each time counted", [panel])
