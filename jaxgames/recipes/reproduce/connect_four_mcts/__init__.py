"""S. Göppert's Connect Four agents by Monte-Carlo tree search: his tables beside ours."""

from functools import partial

from jaxgames.recipes.reproduce.connect_four_mcts import networks, searches, tables
from jaxgames.recipes.reproduce.report import Part, System

_AGAINST = (
    "Figures are percent of the points against UCT with Cp = 0.8. Both make 1,000 iterations a move; a draw is half a "
    "point; our c is Cp / 2."
)

_AMAF = (
    f"{_AGAINST} The text's listing 18 learns only from the moves of rollouts, and its listing 10 plays the best plain "
    "mean. The published program also learns from moves in the tree and plays the best mixed mean; so do ours."
)

_LINES = partial(tables.draw, "% of the points")

_SINGLE = "chance, it seems: of 179 such rows about nine differ by chance, and ours is 1 % higher on average"
_COMPILED = "ours is compiled code for many positions on two cores; the text's a Python program for one on one core"
_WHOLE = "Tables 3 to 10 and 13 together (a likely cause is the opponent: see the tables against Cp = 1.0)"


def _table(number: int, title: str, note: str, takes: str) -> Part:
    """A table of searches by Cp, against the opponent of the text."""
    measure, reasons = partial(tables.by_cp, f"table {number}"), {"*": _SINGLE}
    return Part(f"table-{number}", f"Table {number}: {title}", measure, _LINES, note, reasons, _WHOLE, takes)


def _against_default(number: int, takes: str) -> Part:
    """The same against the opponent that the saved trials of the program had."""
    return Part(
        f"table-{number}-default", f"Table {number} against Cp = 1.0",
        partial(tables.by_cp, f"table {number}", against=0.5), _LINES,
        "The text says that the opponent has Cp = 0.8 from table 4 on. But the trials that are saved with the program "
        "name no setting of the opponent; then its Cp is 1.0. The published figures are those of the table above.",
        {"*": "chance, or these trials had yet another opponent"}, takes=takes,
    )  # fmt: skip


SYSTEM = System(
    "connect-four-mcts",
    "Connect Four by Monte-Carlo tree search",
    searches.PUBLISHED["citation"],
    (
        Part(
            "speeds", "Iterations per second", searches.speeds, note="The author's search one position on one core.",
            reasons={
                "*at once": _COMPILED,
                "*UCT's speed": "our plain rollouts are vector code on bits; compared with them, looking up and "
                "counting cost more",
            },
        ),
        Part(
            "move-scores", "Perfect and good moves", searches.move_scores,
            partial(tables.draw, "% of the moves", kinds=("perfect", "good")),
            "Published and ours are means of 10 runs on the same 1,000 solved positions. The intervals are for other "
            "runs on these positions, not for other positions.",
            {
                "RAVE*, ?0 iterations*": "in the program an action counts the moves of other games only after it was "
                "tried; ours counts them from the node's first iteration on, which matters in short searches",
                "*": "chance, it seems: of 86 such rows about four differ by chance, and on average ours is the same",
            },
            takes="7 minutes",
        ),
        _table(
            3, "UCT by Cp, against Cp = 1.0",
            "As below, but against Cp = 1.0. Against itself, UCT with Cp = 1.0 plays each game twice, with sides "
            "changed: 50 %.",
            "3 minutes",
        ),
        _table(6, "RAVE", _AMAF, "10 minutes"),
        _against_default(6, "10 minutes"),
        _table(
            7, "last good replies",
            f"{_AGAINST} The text does not say which of its last two rows keeps replies: we took it from their order.",
            "7 minutes",
        ),
        _table(9, "last good replies and RAVE", _AMAF, "14 minutes"),
        _table(5, "alpha-AMAF", _AMAF, "6 minutes"),
        _against_default(5, "6 minutes"),
        _table(8, "last good replies and alpha-AMAF", _AMAF, "7 minutes"),
        Part("table-10", "Table 10: both against last good replies", tables.table_10, whole=_WHOLE),
        _table(4, "UCT on graphs", _AGAINST, "25 minutes"),
        _against_default(4, "25 minutes"),
        Part(
            "table-13", "Table 13: all agents in the same time", tables.table_13, _LINES,
            "The opponent is UCT with Cp = 0.8 and the iterations that the row names. Each agent makes as many as the "
            "author's program made in that time. Trees are kept between moves.",
            {"*": _SINGLE}, _WHOLE, "73 minutes",
        ),
        Part(
            "time", "A budget of time", searches.budgets,
            note="Figures say how much of its budget a move takes, in percent, without compilation, on a machine that "
            "does nothing else. No move may take more than 105 %.",
        ),
        Part("openings", "First moves of a search of 5 million iterations in 64 trees", searches.openings),
        Part(
            "figure-18", "Figure 18: training on 20,000 positions", partial(networks.curves, "figure-18"),
            partial(networks.draw_curves, "figure-18"),
            "Trained for 100 epochs, with values from -1 to 1. The text gives numbers only for the naive coding.",
            {
                "positions*": "other searches play other games: ours made 500 iterations, the text does not say how "
                "many its players made",
                "of these*": "ours learn all but a twentieth of the positions; the text's learn a random part",
                "Naiv*": "other games, and other positions for validation",
            },
            takes="20 minutes",
        ),
        *(
            Part(
                f"figure-{number}", f"Figure {number}: training on all positions, values {values}",
                partial(networks.curves, f"figure-{number}"), partial(networks.draw_curves, f"figure-{number}"),
                "Trained for 50 of the text's 300 epochs: after 50 its curves are nearly flat.",
                {"*": networks.WHY_CURVES}, takes="25 minutes",
            )
            for number, values in ((19, "from 0 to 1"), (20, "from -1 to 1"))
        ),
        Part(
            "table-1", "Table 1: errors of networks", networks.table_1,
            note="Networks learn how games of UCT against itself ended. A small sweep takes the place of the text's "
            "automatic search (AutoKeras). Errors are those on positions that were not learned. Values go from 0 to 1 "
            "(`Norm`), or from -1 to 1. The naive coding writes stones as 1 and 2.",
            reasons={"naive*": networks.WHY_FEW, "*": networks.WHY},
        ),
        Part(
            "table-2", "Table 2: 100 iterations with a network against 400 without", networks.table_2,
            note="A leaf's value is the network's value times the weight, plus a rollout's result times the rest.",
            reasons={"*": networks.OTHER_NETWORKS},
        ),
        Part(
            "table-2-times", "Table 2: its column of times", networks.times,
            reasons={"*": "ours is compiled code for 400 games at once on two cores; the text's a Python program"},
            takes="an hour",
        ),
        Part(
            "table-11", "Table 11: iterations per second with networks", networks.table_11,
            note="The author's search one position on one core, with Keras.",
            reasons={"*": _COMPILED},
        ),
        Part(
            "table-12", "Table 12: networks in the same time", networks.table_12, _LINES,
            "The opponent is UCT with Cp = 0.8 and the iterations that the row names. Each agent makes as many as the "
            "author's made in that time. The weight is 0.5. Table 13 of the text has the same figures.",
            {"*": networks.OTHER_NETWORKS},
        ),
        Part(
            "kaggle", "Section 7: the contest", searches.kaggle,
            reasons={"*": "needs an account there; `jaxgames export kaggle` writes an agent to submit"},
        ),
    ),
)  # fmt: skip
