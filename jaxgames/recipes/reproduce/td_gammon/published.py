"""What L. D. Ebert's text has published: tables 5.1 and 5.2, sections 5.1, 5.2 and 5.4. PPG are points per game."""

PLAYERS = ("random", "simple", "pubeval", "mutation", "backprop", "td")
"""The six players, in the order of table 5.2."""

PPG = {
    "simple": {"random": 1.57},
    "pubeval": {"random": 2.50, "simple": 1.37},
    "mutation": {"random": 2.58, "simple": 0.82, "pubeval": -0.91},
    "backprop": {"random": 2.63, "simple": 1.35, "pubeval": -0.18, "mutation": 0.80},
    "td": {"random": 2.57, "simple": 1.46, "pubeval": 0.26, "mutation": 1.14, "backprop": 0.53},
}
"""Table 5.2 below its diagonal: row against column, over 10,000 games each."""

BEST_AFTER = {"mutation": 829_000, "backprop": 823_000, "td": 611_000}
"""Table 5.1: the games after which the best network of each method was saved."""
TRAINED = {"mutation": 1_100_000, "backprop": 1_100_000, "td": 700_000}
"""Section 5.1: the games of each training, "more than" so many."""

FLAT_AGAINST_RANDOM = {"mutation": 200_000, "backprop": 400_000, "td": 0}
"""Section 5.1: the games after which the curves of figure 5.1 are flat, at about `FLAT` points per game."""
FLAT = 2.5
OVERTAKES = 350_000
"""Figure 5.2: backprop overtakes mutation."""
TOP_AGAINST_PUBEVAL = {"mutation": 500_000, "backprop": 700_000, "td": 200_000}
"""Figure 5.3: the top is reached."""

EXTRA_BEST_AFTER = 701_000
EXTRA_TRAINED = 1_000_000
EXTRA_PPG = -0.0154
EXTRA_POINTS = (7082, 7236)
EXTRA_FASTER = 5_000
"""Section 5.4: 212 inputs; its best network against that of 198 inputs, and the games in which it learns faster."""
EXTRA_INPUTS = 212

SAMPLING = 0.03
"""Half the 95 % interval of a mean of 10,000 games: a game's points have a standard deviation of about 1.5."""
