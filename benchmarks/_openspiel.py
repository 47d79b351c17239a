"""Random legal play by OpenSpiel's Python API, one game at a time, as its examples play."""

import random
import time
from typing import Any

from _common import peer


class OpenSpiel:
    """A game of OpenSpiel, played on for some seconds each time it is run; one process, one core.

    Every step asks for the legal actions, draws one by Python's `random`, applies it, and asks whether the game is
    over; then a new one begins. With `observe`, every step also asks for the tensor of the observation, the mask and
    the rewards.
    """

    PLAIN = "called from Python"
    by, unit, compile_seconds = "OpenSpiel", "steps", None

    def __init__(self, name: str, seconds: float, seed: int, observe: bool = False):
        self.mode = "called from Python, with observation and mask" if observe else self.PLAIN
        self.game = peer("pyspiel").load_game(name)
        self.seconds, self.observe = seconds, observe
        self.random = random.Random(seed)
        self.state = self.game.new_initial_state()
        self.first = self.second = self.games = 0
        self.run()
        self.first = self.second = self.games = 0

    def run(self) -> tuple[int, int]:
        """Steps made, and games that ended."""
        steps, games, end = 0, self.games, time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            self._play(64)
            steps += 64
        return steps, self.games - games

    def shares(self) -> tuple[int, float, float]:
        """How many games are played, and the shares that the first player wins and loses of them."""
        self.run()
        return self.games, self.first / self.games, self.second / self.games

    def _play(self, steps: int) -> None:
        state, draw = self.state, self.random.random
        for _ in range(steps):
            actions = state.legal_actions()
            if self.observe:
                self._look(state)
            state.apply_action(actions[int(draw() * len(actions))])
            if state.is_terminal():
                result = state.returns()[0]
                self.games += 1
                self.first += result > 0
                self.second += result < 0
                state = self.game.new_initial_state()
        self.state = state

    @staticmethod
    def _look(state: Any) -> None:
        state.observation_tensor()
        state.legal_actions_mask()
        state.rewards()
