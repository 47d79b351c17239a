"""Adamczyk, Brinkmann and Ward's Checkers-Simulation: minimax and evolved networks for draughts."""

from functools import partial

from jaxgames.recipes.reproduce.checkers_simulation import minimax, networks, positions
from jaxgames.recipes.reproduce.report import Part, System

SYSTEM = System(
    "checkers-simulation",
    "Checkers-Simulation: minimax and evolved networks for draughts",
    positions.PUBLISHED["citation"],
    (
        Part(
            "positions", "Section 2.1: the number of positions", positions.measure,
            note="Figures 2.1, 3.3 and the first 4.3 list methods of classes, and figure 4.1 is the equation of a "
            "unit: there is nothing in them to measure.",
        ),
        Part("figure-3-1", "Figure 3.1: search tree of depth 3", minimax.tree, minimax.draw_tree),
        Part("game", "Section 3.1: the length of a game", minimax.length),
        Part(
            "figure-3-2", "Figure 3.2: time per move of minimax", minimax.times,
            partial(minimax.draw_depths, {"plain": "plain"}, "milliseconds a move"),
            note="The text's figure comes without numbers. Ours are means over moves from games against random moves, "
            "one from each game.",
        ),
        Part(
            "cuts", "Section 3.2.1: cuts of alpha-beta in a game", minimax.cuts,
            partial(minimax.draw_depths, {"beta cuts a game": "beta", "alpha cuts a game": "alpha"}, "cuts a game"),
            note="The text does not say at which depth it counts. Its search passes no bound from one move of the root "
            "to the next. Ours does, and it tries killer moves first.",
        ),
        Part(
            "figure-3-4", "Figure 3.4: time per move of all variants", minimax.speedups,
            partial(minimax.draw_depths, {name: name for name in minimax.VARIANTS}, "milliseconds a move"),
            note="The text that we have names depth 9, but the depths and times of the figure are not in it. How long "
            "a single search takes depends much on the release of JAX: with jax 0.10 plain minimax of depth 9 took "
            "8,790 ms (of four positions); with 0.12 a search of one position at a time is far faster. Runs differ, "
            "too: in three of them, beside other work, alpha-beta was 76, 88 and 140 times as fast. Only the number of "
            "nodes is certain.",
        ),
        Part("figure-4-2", "Section 4.2 and figure 4.2: the network", networks.network, networks.draw_network),
        Part("figure-4-3", "Figure 4.3 (the second): points of an action", networks.points),
        Part("legality", "Section 4.3: legal moves in a row, where legality is learned", networks.legal_moves),
        Part(
            "self-play", "Section 4.3: networks against each other", networks.against_random, networks.draw_learning,
            "In an epoch a network of one hidden layer meets 8 of the 200, a network of ten layers 4; those of ten "
            "layers learn for 40 of the 200 epochs. In the program all play all.",
            {"* random moves, epoch 200": networks.FEWER}, takes="9 minutes",
        ),
        Part(
            "self-play-deep", "The same of ten hidden layers, for 200 epochs", partial(networks.whole, "deep-whole"),
            note="Each network meets 4 of the 200; all against all would be 50 times as many games, 16 million.",
            takes="10 minutes",
        ),
        Part(
            "self-play-all", "The same of one hidden layer, all against all",
            partial(networks.whole, "all-against-all"),
            reasons={"* random moves, epoch 200": networks.FEWER}, takes="20 minutes",
        ),
        Part("against-minimax", "Section 4.3: networks against minimax", networks.against_minimax),
        Part(
            "backpropagation", "Section 4.3: backpropagation", networks.backpropagation, networks.draw_errors,
            note="The error is the sum of squares over the 64 outputs. The text's curve has no numbers.",
        ),
        Part("comparison", "Section 6: minimax against random moves", minimax.against_random, minimax.draw_results),
    ),
)  # fmt: skip
