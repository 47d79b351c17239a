"""Random legal play by OpenSpiel's Python API, one game at a time."""

import random
import time
from typing import Any

from _common import peer


class OpenSpiel:
    """A game of OpenSpiel, played on for some seconds each time it is run; one process, one core.

    The ways to play, by mode: `PLAIN` is the loop of OpenSpiel's own `example.py` without what it prints; `LEAN` makes
    only the calls that a game without chance cannot do without, which that loop could be tuned to; `OBSERVED` is
    `PLAIN`, and asks in every step for the tensor of the observation, the mask and the rewards.
    """

    PLAIN = "called from Python"
    LEAN = "called from Python, leanest loop"
    OBSERVED = "called from Python, with observation and mask"
    by, unit, compile_seconds = "OpenSpiel", "steps", None

    def __init__(self, name: str, seconds: float, seed: int, mode: str = PLAIN):
        self.mode, self.seconds = mode, seconds
        self.game = peer("pyspiel").load_game(name)
        self.random = random.Random(seed)
        self.state = self.game.new_initial_state()
        self.first = self.second = self.games = 0
        self.run()
        self.first = self.second = self.games = 0

    def run(self) -> tuple[int, int]:
        """Steps made, and games that ended."""
        play = self._lean if self.mode == self.LEAN else self._plain
        steps, games, end = 0, self.games, time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            play(64)
            steps += 64
        return steps, self.games - games

    def shares(self) -> tuple[int, float, float]:
        """How many games are played, and the shares that the first player wins and loses of them."""
        self.run()
        return self.games, self.first / self.games, self.second / self.games

    def _plain(self, steps: int) -> None:
        state, choice, observed = self.state, self.random.choice, self.mode == self.OBSERVED
        for _ in range(steps):
            if state.is_chance_node() or state.is_simultaneous_node():
                raise ValueError(f"{self.game} has chance or simultaneous moves: nothing here plays them")
            action = choice(state.legal_actions(state.current_player()))
            if observed:
                state.observation_tensor()
                state.legal_actions_mask()
                state.rewards()
            state.apply_action(action)
            if state.is_terminal():
                state = self._over(state)
        self.state = state

    def _lean(self, steps: int) -> None:
        state, draw = self.state, self.random.random
        for _ in range(steps):
            actions = state.legal_actions()
            state.apply_action(actions[int(draw() * len(actions))])
            if state.is_terminal():
                state = self._over(state)
        self.state = state

    def _over(self, state: Any) -> Any:
        """Notes who won, and begins anew."""
        result = state.returns()[0]
        self.games += 1
        self.first += result > 0
        self.second += result < 0
        return self.game.new_initial_state()
