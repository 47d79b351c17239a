"""Ebert's PulverGammon: TD, backprop and mutation as ways to learn backgammon."""

from jaxgames.recipes.reproduce.report import Part, System
from jaxgames.recipes.reproduce.td_gammon import tables, trials
from jaxgames.recipes.reproduce.td_gammon.trained import PUBLISHED

_SAID = "The text gives these numbers in words, most with *about*; they count as right within a quarter."

SYSTEM = System(
    "td-gammon",
    "TD-Gammon 0.0 rebuilt: three ways to learn backgammon",
    PUBLISHED["citation"],
    (
        Part(
            "step-sizes", "Section 4.3: step sizes between 0.05 and 0.5", trials.step_sizes,
            note="The author tried values between these with all three methods: a lower one gave a better player, but "
            "learned more slowly. The text says neither which values nor for how many games.", takes="an hour",
        ),
        Part(
            "table-5-1", "Table 5.1: when the best network was saved", tables.trainings,
            note="The learner `ebert-2007` is the text's: one game after another, a step after each position, and step "
            "sizes from 0.25 down to 0.001, lowered by tests against the network of 25,000 games before. The text does "
            "not say the rest, so we chose it: the first weights of TD and backprop are uniform in [-0.25, 0.25]; a "
            "mutant plays four games, and its network sees the board from its own side. The text's opening roll may be "
            "a double, ours never is. The text expects about 200,000 games for a knock-out, 200 for each network that "
            "drops out; networks of about the same strength take longer to be 50 points apart.",
        ),
        Part(
            "table-5-2", "Table 5.2: all six players (3.1 is part of it)", tables.compared,
            note="Points per game of the first player against the second, over 10,000 games unless a row says another "
            "number, here in pairs with the same dice. Nothing was chosen by games with these opponents: the networks "
            "won knock-outs.",
        ),
        Part(
            "programs", "Section 5.2.2: the best programs of the time", trials.programs,
            note="The author found about 0.75 PPG against pubeval in forums, for programs that the text does not name.",
            reasons={"*": "another program: GNU Backgammon without look-ahead, and games for money without a cube"},
        ),
        Part(
            "second-opponent", "A second opponent, on which nothing was chosen", tables.second_opponent,
            note="We chose the settings of our own learners by games against pubeval, none by games against `tidy:3`.",
        ),
        Part("figure-5-1", "Figure 5.1: against random moves", tables.figure_random, tables.drawing("random"), _SAID),
        Part("figure-5-2", "Figure 5.2: against Simple_003", tables.figure_simple, tables.drawing("simple"), _SAID),
        Part("figure-5-3", "Figure 5.3: against pubeval", tables.figure_pubeval, tables.drawing("pubeval"), _SAID),
        Part("section-5-4", "Section 5.4: Extra, 212 inputs", tables.extra),
        Part("figure-5-4", "Figure 5.4: Extra against TD of the same age", tables.figure_extra, tables.draw_extra),
        Part(
            "ours", "Our own learner", tables.ours,
            note="`fast` and `six` are not the text's: they learn by Adam from windows of plies with symmetric values, "
            "128 games at once. Each trained for 100,000 games.",
        ),
        Part(
            "people", "Section 5.3: games of people against the best network", trials.people,
            reasons={"*": "its opponents were people"},
        ),
        Part("testers", "Section 5.3: what the testers complained of", trials.complaints),
        Part(
            "wish", "A tester's wish: 3,000,000 games", tables.longer, tables.draw_longer,
            note="This is the learner and the seed of `td`, so the first 700,000 games are the same. Here the last "
            "network plays, not one chosen by a knock-out; `td` is the network that its knock-out has chosen. The "
            "picture continues figure 5.3.",
        ),
    ),
)  # fmt: skip
