"""The network that learns moves of minimax by the delta rule: its error on moves that it has seen, and on others."""

from collections.abc import Mapping, Sequence
from typing import Any

from jaxgames.envs.registry import make as make_game
from jaxgames.recipes.reproduce.checkers_simulation.published import PUBLISHED
from jaxgames.recipes.reproduce.checkers_simulation.rates import rates
from jaxgames.recipes.reproduce.examples import examples
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import Run

RECIPE, SETTING = "checkers-imitation", "adamczyk-2018"
TEACHER = "alphabeta:5"
AMOUNT = (
    {"games": 8_192, "epochs": "10", "final_games": 10_000},
    {"games": 24, "epochs": "2", "final_games": 100},
)
"""Games of the teacher against itself, how often their moves are learned, games at the end; then of a quick study."""
GAMES_PER_SHARD = 256
WHY = "the text does not say which of its players made the moves, nor how large the set was in the end"


def measure(study: Study) -> list[Row]:
    """Section 4.3: what a network of one hidden layer learns, a step after each move."""
    amount: Mapping[str, Any] = study.amount(*AMOUNT)
    data = examples(study, "moves of minimax", make_game("checkers"), TEACHER, amount["games"], GAMES_PER_SHARD)
    least, most = (PUBLISHED["backpropagation"][name] / 10**6 for name in ("least positions", "most positions"))
    folder = study.train(
        "backpropagation", RECIPE, SETTING, {"epochs": amount["epochs"]}, data=str(data["folder"]),
        final_games=amount["final_games"],
    )  # fmt: skip
    best = Run.open(folder).best_info() or {}
    margin, middle = (most - least) / 2, (most + least) / 2
    learned = data["training"] / 10**6
    rows = [
        Row("positions learned", middle, learned, unit="million", published_margin=margin, why=WHY, digits=3),
        Row("positions kept to test it", None, data["validation"] / 10**6, unit="million", digits=3),
        Row("epochs until the test is best", None, best["epoch"]),
        Row("squared error of a move learned, in that epoch", None, best["policy_loss"], digits=2),
        Row("squared error of a move not learned (its curve has no numbers)", None, best["validation_policy_loss"],
            digits=2),
        Row("moves not learned that it predicts", None, 100 * best["validation_predicted"], unit="%"),
    ]  # fmt: skip
    against_random = study.result_of("training backpropagation")["matches"][0]
    return [*rows, *rates(against_random, "random moves", {}, "", "")]


def curve(study: Study) -> Sequence[Mapping[str, Any]]:
    """The metrics of the training."""
    return Run.open(study.folder / "runs" / "backpropagation").metrics()
