"""Solved positions of Connect Four as a measure in training: one half chooses the network, the other half reports."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxgames.algos import mcts
from jaxgames.envs.core import Game
from jaxgames.matches import solved
from jaxgames.players.mcts import by_search
from jaxgames.players.player import Player
from jaxgames.runs import Panel

FILE = solved.MOVE_SCORES.name
HALVES = {"choosing": slice(0, None, 2), "reporting": slice(1, None, 2)}
"""The lines of the file that choose the best network in training, and those that only report: every second one."""
CHOOSING = ("choosing_perfect", "choosing_good")
"""The metrics by which the best network is chosen."""
SIMULATIONS = 800


def positions_of(game: Game) -> list[solved.Solved]:
    """The solved positions that come with the package; none for other boards."""
    positions = solved.read(solved.MOVE_SCORES)
    return positions if solved.board_of(positions) == game else []


def measure(player: Player, positions: Sequence[solved.Solved]) -> dict[str, float]:
    """Percent of perfect and of good moves on each half, such as `choosing_perfect`; nothing without positions."""
    if not positions:
        return {}
    right = 100.0 * np.array(solved.judge_moves(player, positions)[0])
    return {
        f"{half}_{name}": float(np.mean(right[lines, column]))
        for half, lines in HALVES.items()
        for column, name in enumerate(("perfect", "good"))
    }


def panel(metrics: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """The diagram of the learning curve, if these positions were measured."""
    names = {f"{half}_{name}": f"{name}, {half} half" for half in HALVES for name in ("perfect", "good")}
    measured = any("reporting_good" in line for line in metrics)
    return [Panel("% of moves in solved positions, policy alone", names, height=2.6)] if measured else []


def final(player: Player, network: mcts.Evaluator, discount: float, positions: Sequence[solved.Solved]) -> list[dict]:
    """The policy alone and both searches on the half that reports."""
    half, scores = positions[HALVES["reporting"]], []
    rules: dict[str, mcts.Rule] = {
        f"puct:{player.name}:{SIMULATIONS}": mcts.puct(),
        f"gumbel:{player.name}:{SIMULATIONS},scale=0": mcts.gumbel(scale=0.0),
    }
    players = [player]
    players += [by_search(name, player.game, rule, network, SIMULATIONS, discount) for name, rule in rules.items()]
    for one in players if half else []:
        scores.append(solved.score(one, half, f"{FILE}, every second line").to_dict())
    return scores
