"""Ebert's PulverGammon: TD, backprop and mutation as ways to learn backgammon."""

from jaxgames.recipes.reproduce.report import Part, System
from jaxgames.recipes.reproduce.td_gammon import tables, trials
from jaxgames.recipes.reproduce.td_gammon.trained import PUBLISHED

_SAID = "The text says these numbers in words, most with *about*; they count as right to a quarter."

SYSTEM = System(
    "td-gammon",
    "TD-Gammon 0.0 rebuilt: three ways to learn backgammon",
    PUBLISHED["citation"],
    (
        Part(
            "step-sizes", "Section 4.3: step sizes between 0.05 and 0.5", trials.step_sizes,
            note="The text tried values between these, with all three methods: a lower one gave a better player, but "
            "learned more slowly. It says neither which values nor for how many games.", takes="an hour",
        ),
        Part(
            "table-5-1", "Table 5.1: when the best network was saved", tables.trainings,
            note="The learner `ebert-2007` is that of the text: one game after the other, a step after each position, "
            "step sizes 0.25 to 0.001 lowered by tests against the network 25,000 games younger. Not in the text, so "
            "ours: first weights of TD and backprop uniform in [-0.25, 0.25], four games for each mutant, whose "
            "network sees the board from its own side. The text's opening roll may be a double, ours never is. The "
            "text reckons with about 200,000 games for a knock-out, 200 for each that drops out; networks that are "
            "near each other take longer to be 50 points apart.",
        ),
        Part(
            "table-5-2", "Table 5.2: all six players (3.1 is part of it)", tables.compared,
            note="Row against column, points per game over 10,000 games where a row says nothing else, here in pairs "
            "with the same dice. Nothing was chosen on these opponents: the networks are winners of knock-outs.",
        ),
        Part(
            "programs", "Section 5.2.2: the best programs of the time", trials.programs,
            note="The text found about 0.75 PPG against pubeval in forums, of programs that it does not name.",
            reasons={"*": "another program: GNU Backgammon without looking ahead, and games for money without a cube"},
        ),
        Part(
            "second-opponent", "A second opponent, on which nothing was chosen", tables.second_opponent,
            note="The settings of our own learners were chosen by games against pubeval. `tidy:3` took part in none.",
        ),
        Part("figure-5-1", "Figure 5.1: against random moves", tables.figure_random, tables.drawing("random"), _SAID),
        Part("figure-5-2", "Figure 5.2: against Simple_003", tables.figure_simple, tables.drawing("simple"), _SAID),
        Part("figure-5-3", "Figure 5.3: against pubeval", tables.figure_pubeval, tables.drawing("pubeval"), _SAID),
        Part("section-5-4", "Section 5.4: Extra, 212 inputs", tables.extra),
        Part("figure-5-4", "Figure 5.4: Extra against TD of the same age", tables.figure_extra, tables.draw_extra),
        Part(
            "ours", "Our own learner", tables.ours,
            note="`fast` and `six` learn by Adam from windows of plies with symmetric values, 128 games at once: they "
            "are not the text's. 100,000 games each.",
        ),
        Part(
            "people", "Section 5.3: games of people against the best network", trials.people,
            reasons={"*": "its opponents were people"},
        ),
        Part("testers", "Section 5.3: what the testers complained of", trials.complaints),
        Part(
            "wish", "A tester's wish: 3,000,000 games", tables.longer, tables.draw_longer,
            note="The learner and the seed of `td`, so the first 700,000 games are its games. The last network plays "
            "here, not one chosen by a knock-out; `td` is the network that its knock-out has chosen. The picture is "
            "figure 5.3 continued.",
        ),
    ),
)  # fmt: skip
