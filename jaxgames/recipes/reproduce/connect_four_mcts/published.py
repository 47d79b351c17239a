"""What S. Göppert, *Entwicklung eines Agenten für Vier gewinnt mit Monte-Carlo-Baumsuche und neuronalen Netzen*, 2020,
published: percent of the points against UCT, a draw being half a point. The thesis scales results to -1..1, so its Cp
is twice our `c`.

Each table is rows of figures by the row's setting, in the order of the columns.
"""

CP = ("0.6", "0.7", "0.8", "0.9", "1.0", "1.1", "1.2", "1.3", "1.4")
TABLE_3 = {"UCT": (42.5, 43.5, 50.6, 50.0, 49.4, 49.5, 48.7, 48.0, 46.6)}
"""Against Cp = 1.0, 900 to 1,700 games each."""

GRAPH_CP = ("0.7", "0.8", "0.9", "1.0", "1.1", "1.2")
TABLE_4 = {
    "UCT1, with symmetry": (45.3, 53.0, 46.2, 49.6, 50.0, 50.0),
    "UCT2, with symmetry": (46.2, 51.4, 51.5, 52.1, 52.1, 49.3),
    "UCT3, with symmetry": (47.0, 49.5, 50.8, 47.0, 49.0, 48.2),
    "UCT1, without": (47.4, 51.0, 49.4, 49.6, 48.4, 47.2),
    "UCT2, without": (44.6, 49.5, 46.8, 47.4, 49.8, 45.3),
    "UCT3, without": (49.3, 48.2, 45.5, 50.0, 48.4, 50.9),
}
"""Against Cp = 0.8, as all tables that follow; 500 to 800 games each."""

AMAF_CP = ("0.2", "0.3", "0.4", "0.5", "0.6")
TABLE_5 = {
    "0.3": (28.2, 35.5, 52.5, 53.3, 60.0),
    "0.5": (43.9, 58.5, 62.4, 62.1, 57.6),
    "0.8": (61.5, 55.8, 51.8, 53.0, 51.6),
}
"""By alpha."""
TABLE_6 = {
    "10": (52.1, 57.3, 55.7, 57.6, 57.0),
    "20": (56.8, 60.9, 57.7, 57.0, 56.0),
    "50": (61.0, 60.6, 59.4, 56.2, 55.5),
    "100": (61.6, 59.1, 57.6, 51.7, 52.9),
    "200": (59.6, 59.1, 53.7, 50.3, 45.6),
}
"""By k."""

LGR_CP = ("0.8", "0.9", "1.0", "1.1", "1.2")
TABLE_7 = {
    "replies not kept, none forgotten": (72.9, 74.0, 75.1, 70.3, 74.3),
    "kept, none forgotten": (73.2, 75.6, 77.8, 73.9, 74.6),
    "not kept, forgotten": (52.6, 52.7, 55.0, 53.6, 52.5),
    "kept, forgotten": (51.1, 52.4, 55.4, 56.9, 51.4),
}
TABLE_8 = {
    "0.3": (56.8, 70.6, 77.9, 78.9, 80.3),
    "0.5": (77.3, 80.2, 83.4, 81.9, 78.6),
    "0.8": (81.3, 82.4, 78.6, 76.6, 73.4),
}
TABLE_9 = {
    "10": (80.7, 81.8, 85.1, 81.7, 80.3),
    "20": (81.5, 82.1, 80.4, 81.8, 81.2),
    "50": (87.4, 81.8, 83.2, 81.0, 77.3),
    "100": (83.1, 81.3, 78.3, 80.1, 79.4),
    "200": (81.3, 79.5, 77.9, 71.7, 78.0),
}
TABLE_10 = {"AMAF-LGR": (55.6,), "RAVE-LGR": (60.3,)}
"""Against LGR, 1,000 games each."""

SCALES = ("1,000", "2,000", "3,000", "4,000")
TABLE_13 = {
    "UCT1": (47.9, 47.7, 50.5, 46.8),
    "UCT2": (47.5, 44.9, 44.9, 45.0),
    "UCT3": (43.7, 39.8, 42.4, 40.9),
    "AMAF": (59.2, 60.3, 60.8, 55.1),
    "RAVE": (61.7, 57.6, 59.9, 60.2),
    "LGR": (68.9, 73.9, 76.9, 79.6),
    "AMAF-LGR": (76.2, 77.7, 78.2, 82.8),
    "RAVE-LGR": (76.0, 82.7, 83.4, 81.4),
}
"""In the time that UCT needs for so many iterations; trees kept between moves."""
SPEEDS = {
    "UCT": 7000,
    "UCT1": 5952,
    "UCT2": 5952,
    "UCT3": 4866,
    "AMAF": 5665,
    "RAVE": 5665,
    "LGR": 4579,
    "AMAF-LGR": 3947,
    "RAVE-LGR": 3947,
}
"""Iterations per second of the author's Python program, one position at a time, on one core of a Ryzen 5 3600."""

TABLE_1 = {
    "DenseNetNorm": (0.022, 0.107),
    "ConvNetNorm": (0.039, 0.076),
    "DenseNet": (0.351, 0.398),
    "ConvNet": (0.130, 0.116),
}
"""Squared and absolute error on the positions of validation, values from 0 to 1 (`Norm`) or from -1 to 1."""
GUESS, NAIVE = (0.896, 0.9), (0.887, 0.886)
"""The same of a constant, and of stones coded as 1 and 2, learned from 20,000 positions; values from -1 to 1."""
NET_WEIGHTS = ("0.5", "0.85")
TABLE_2 = {
    "DenseNet": (30.0, 16.9),
    "DenseNetNorm": (46.8, 22.2),
    "ConvNet": (46.7, 20.1),
    "ConvNetNorm": (54.1, 34.2),
}
"""100 iterations with a network at such a weight against 400 of UCT."""
TABLE_11 = {
    "DenseNet": 909,
    "ConvNet": 386,
    "LGR-DenseNet": 833,
    "LGR-ConvNet": 377,
    "RAVE-LGR-DenseNet": 772,
    "RAVE-LGR-ConvNet": 364,
}
"""Iterations per second. From here on networks learned values from 0 to 1, at weight 0.5."""
TABLE_12 = {
    "DenseNet": (40.2, 49.0, 60.5, 62.7),
    "ConvNet": (17.0, 39.0, 44.3, 53.8),
    "LGR-DenseNet": (45.2, 63.5, 70.8, 77.5),
    "LGR-ConvNet": (23.5, 53.5, 62.2, 63.7),
    "RAVE-LGR-DenseNet": (65.5, 76.4, 77.9, 84.9),
    "RAVE-LGR-ConvNet": (38.8, 63.6, 76.5, 78.2),
}
"""In the time that UCT needs for so many iterations; table 13 prints the same figures again."""
MATCH = {"table 2": 400, "table 12": 300}
"""Games of each figure."""

ITERATIONS = (20, 50, 100, 200, 400, 800)
MOVE_SCORES = {
    "random": ((25.8, 67.8),),
    "UCT": ((38.9, 75.1), (48.8, 80.8), (58.1, 85.2), (65.0, 88.5), (68.4, 89.5), (71.1, 91.2)),
    "UCT1": ((40.0, 75.7), (49.0, 81.0), (58.6, 85.3), (64.4, 87.9), (68.6, 89.7), (70.6, 91.0)),
    "UCT2": ((39.6, 75.6), (49.2, 81.0), (57.4, 85.1), (64.5, 88.2), (68.2, 89.4), (70.4, 91.0)),
    "AMAF": ((43.1, 77.8), (56.5, 85.0), (64.2, 88.0), (68.6, 89.9), (72.0, 91.8), (73.5, 92.5)),
    "RAVE": ((45.5, 78.7), (58.3, 85.8), (66.5, 89.0), (70.4, 90.6), (72.5, 92.0), (74.6, 92.8)),
    "LGR": ((40.2, 76.0), (49.6, 81.3), (59.0, 86.0), (65.9, 89.2), (70.1, 90.9), (73.5, 93.0)),
    "RAVE-LGR": ((46.4, 79.2), (57.6, 85.6), (66.6, 89.7), (71.9, 92.1), (75.0, 93.3), (76.8, 94.5)),
}
"""Percent of perfect and of good moves on 1,000 solved positions, the mean of 10 (random: 5) runs: result files in the
repository of the thesis. The thesis itself does not print them.
"""
