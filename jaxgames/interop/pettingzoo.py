"""Our games as PettingZoo environments: `env(game)` is an AEC environment of two agents."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.interop import spaces
from jaxgames.ops import checks

__all__ = ["env"]

AGENTS = ("player_0", "player_1")


def env(game: Game | str, render_mode: str | None = None) -> Any:
    """A game as a PettingZoo AEC environment.

    Agents are `player_0` and `player_1`, the player ids; which of them begins is drawn. Observations are dictionaries
    of `observation` and `action_mask` (all 0 for the agent that is not to act). The rewards come when the game ends;
    an illegal action ends it at -1. `render_mode` is None, `ansi` (the game's notation) or `svg` (a drawing).

    Raises `ImportError` if PettingZoo is missing, `ValueError` for an unknown game or render mode.
    """
    rules = make(game) if isinstance(game, str) else game
    try:
        from gymnasium.spaces import Box, Dict, Discrete
        from pettingzoo import AECEnv
    except ImportError as error:
        raise ImportError(f"not installed: {error.name}; install with: pip install 'jaxgames[interop]'") from None
    modes = {"ansi": rules.to_string, "svg": rules.to_svg}
    spaces.check_choice("render_mode", render_mode, modes)
    of_observation = Dict(
        {"observation": spaces.observation_box(rules), "action_mask": Box(0, 1, (rules.num_actions,), np.int8)}
    )
    of_action = Discrete(rules.num_actions)

    class GameEnv(AECEnv):
        """One game, agent after agent."""

        metadata = {
            "name": f"{rules.id}_{rules.version}",
            "render_modes": list(modes),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        possible_agents = list(AGENTS)

        def __init__(self) -> None:
            super().__init__()
            self.render_mode = render_mode
            self.observation_spaces = dict.fromkeys(AGENTS, of_observation)
            self.action_spaces = dict.fromkeys(AGENTS, of_action)
            self._seeds = np.random.default_rng()

        def observation_space(self, agent: str) -> Any:
            return self.observation_spaces[agent]

        def action_space(self, agent: str) -> Any:
            return self.action_spaces[agent]

        def reset(self, seed: int | None = None, options: Any = None) -> None:
            if seed is not None:
                self._seeds = np.random.default_rng(seed)
            self.state_now = spaces.new_game(rules, int(self._seeds.integers(2**32)))
            self.agents = list(AGENTS)
            self.rewards, self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0), dict.fromkeys(AGENTS, 0.0)
            self.terminations, self.truncations = dict.fromkeys(AGENTS, False), dict.fromkeys(AGENTS, False)
            self.infos: dict[str, dict] = {agent: {} for agent in AGENTS}
            self.agent_selection = AGENTS[int(self.state_now.current_player)]

        def observe(self, agent: str) -> dict[str, np.ndarray]:
            acts = agent == self.agent_selection and not spaces.over(self.state_now)
            mask = spaces.legal_mask(self.state_now) if acts else np.zeros(rules.num_actions, np.int8)
            return {"observation": spaces.observed(self.state_now, AGENTS.index(agent)), "action_mask": mask}

        def step(self, action: int | None) -> None:
            agent = self.agent_selection
            if self.terminations[agent] or self.truncations[agent]:
                self._was_dead_step(action)
                return
            action = checks.whole("action", action, None)
            self._cumulative_rewards[agent] = 0.0
            key = jax.random.key(int(self._seeds.integers(2**32)))
            state = self.state_now = spaces.step(self.state_now, jnp.int32(action), key)
            self.rewards = dict(zip(AGENTS, np.asarray(state.rewards).tolist(), strict=True))
            self.terminations = dict.fromkeys(AGENTS, bool(state.terminated))
            self.truncations = dict.fromkeys(AGENTS, bool(state.truncated))
            self.agent_selection = AGENTS[int(state.current_player)]
            self._accumulate_rewards()

        def render(self) -> str | None:
            return modes[render_mode](self.state_now) if render_mode else None

        def close(self) -> None:
            pass

    return GameEnv()
