"""S. Göppert's Connect Four agents by Monte-Carlo tree search: his tables beside ours."""

from functools import partial

from jaxgames.recipes.reproduce.connect_four_mcts import budget, networks, searches, tables
from jaxgames.recipes.reproduce.report import Part, System

_AGAINST = (
    "Percent of the points against UCT with Cp = 0.8, 1,000 iterations a move, a draw half a point; our c is Cp / 2."
)

_AMAF = (
    f"{_AGAINST} The text's listing 18 learns from the moves of rollouts only, and its listing 10 plays the best plain "
    "mean; ours learn from moves in the tree, too, and play the best mixed mean."
)

_LINES, _CURVES = tables.drawing("% of the points"), tables.drawing("% of the moves", ("perfect", "good"))

_by_cp = partial(partial, tables.by_cp)

SYSTEM = System(
    "connect-four-mcts",
    "Connect Four by Monte-Carlo tree search",
    searches.PUBLISHED["citation"],
    (
        Part("speeds", "Iterations per second", searches.speeds, note="The author's are of one position on one core."),
        Part(
            "move-scores", "Perfect and good moves", searches.move_scores, _CURVES,
            "Published: the mean of 10 runs on 1,000 solved positions. Ours: 2 runs on half of these positions; the "
            "interval is that of a sample of 500 positions.",
        ),
        Part(
            "table-3", "Table 3: UCT by Cp, against Cp = 1.0", _by_cp("table 3"), _LINES,
            "As below, but against Cp = 1.0. Against itself that one plays each game twice, sides changed: 50 %.",
        ),
        Part("table-6", "Table 6: RAVE", _by_cp("table 6"), _LINES, _AMAF),
        Part(
            "table-7", "Table 7: last good replies", _by_cp("table 7"), _LINES,
            f"{_AGAINST} The text does not say which of its last two rows keeps replies: we read it from their order.",
        ),
        Part("table-9", "Table 9: last good replies and RAVE", _by_cp("table 9"), _LINES, _AMAF),
        Part("table-5", "Table 5: alpha-AMAF", _by_cp("table 5"), _LINES, _AMAF),
        Part("table-8", "Table 8: last good replies and alpha-AMAF", _by_cp("table 8"), _LINES, _AMAF),
        Part("table-10", "Table 10: both against last good replies", tables.table_10),
        Part("table-4", "Table 4: UCT on graphs", _by_cp("table 4"), _LINES, _AGAINST),
        Part(
            "table-13", "Table 13: all agents in the same time", tables.table_13, _LINES,
            "Against UCT with Cp = 0.8 and so many iterations; each agent makes as many as the author's program made "
            "in that time. Trees are kept between moves.",
        ),
        Part(
            "time", "A budget of time", budget.budgets,
            note="Percent of the budget that moves take, without compilation, on a machine that does nothing else. No "
            "move may take more than 105 %.",
        ),
        Part("openings", "First moves of a search of 5 million iterations in 64 trees", searches.openings),
        Part(
            "table-1", "Table 1: errors of networks", networks.table_1,
            note="Networks learn how games of UCT against itself ended. A small sweep takes the place of the text's "
            "automatic search (AutoKeras). Errors on positions that were not learned; values from 0 to 1 (`Norm`), or "
            "from -1 to 1. Naive codes stones as 1 and 2.",
        ),
        Part(
            "table-2", "Table 2: 100 iterations with a network against 400 without", networks.table_2,
            note="A leaf is worth the network's value by its weight, and a rollout's by the rest.",
        ),
        Part(
            "table-11", "Table 11: iterations per second with networks", networks.table_11,
            note="The author's are of one position on one core, with Keras.",
        ),
        Part(
            "table-12", "Table 12: networks in the same time", networks.table_12, _LINES,
            "Against UCT with Cp = 0.8 and so many iterations; each agent makes as many as the author's made in that "
            "time. Weight 0.5. Table 13 of the text has the same figures.",
        ),
    ),
)  # fmt: skip
