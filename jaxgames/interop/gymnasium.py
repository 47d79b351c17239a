"""Our games as Gymnasium environments: `env(game, opponent)` has one agent, which plays against a player."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.interop import spaces
from jaxgames.ops import checks
from jaxgames.players import make as make_player
from jaxgames.players.player import Player

__all__ = ["env"]

SEATS = ("first", "second")


def env(
    game: Game | str, opponent: Player | str = "random", seat: str | None = None, render_mode: str | None = None
) -> Any:
    """A game against a player as a Gymnasium environment.

    Args:
        game: the game, or its id.
        opponent: a player or its spec, such as `champion:easy`.
        seat: whether the agent moves `first` or `second`; None: drawn for each game.
        render_mode: `ansi` (the game's notation), `svg` (a drawing) or None.

    Observations are the game's; `info["action_mask"]` and `action_masks()` say which actions are legal. A step is one
    action of the agent and all actions of the opponent that follow. The reward is the agent's when the game ends; an
    illegal action ends it at -1.

    Raises `ImportError` if Gymnasium is missing, `ValueError` for unknown arguments.
    """
    rules = make(game) if isinstance(game, str) else game
    player = make_player(opponent, rules) if isinstance(opponent, str) else opponent
    try:
        from gymnasium import Env
        from gymnasium.spaces import Discrete
    except ImportError as error:
        raise ImportError(f"not installed: {error.name}; install with: pip install 'jaxgames[interop]'") from None
    modes = {"ansi": rules.to_string, "svg": rules.to_svg}
    spaces.check_choice("render_mode", render_mode, modes)
    spaces.check_choice("seat", seat, SEATS)
    if player.game != rules:
        raise ValueError(f"{player.name} plays {player.game}, not {rules}")
    act = Player.act if player.on_host else jax.jit(Player.act)

    class GameAgainstPlayer(Env):
        """One game after the other against the same player."""

        metadata = {"render_modes": list(modes), "render_fps": 1}

        def __init__(self) -> None:
            self.observation_space, self.action_space = spaces.observation_box(rules), Discrete(rules.num_actions)
            self.render_mode = render_mode

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
            super().reset(seed=seed)
            self.state = spaces.new_game(rules, self._number())
            begins = int(self.state.current_player)
            self.agent = self._number() % 2 if seat is None else begins ^ (seat == "second")
            self.memory = player.init_memory(1)
            self._let_opponent_play()
            return self._seen(), self._info()

        def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
            if not spaces.over(self.state):
                self._play(checks.whole("action", action, None))
                reward = self._reward() + self._let_opponent_play()
            else:
                reward = 0.0
            return self._seen(), reward, bool(self.state.terminated), bool(self.state.truncated), self._info()

        def action_masks(self) -> np.ndarray:
            """bool[actions]: the legal actions, as maskable learners ask for them."""
            return spaces.legal_mask(self.state).astype(bool)

        def render(self) -> str | None:
            return modes[render_mode](self.state) if render_mode else None

        def _number(self) -> int:
            return int(self.np_random.integers(2**32))

        def _play(self, action: int) -> None:
            self.state = spaces.step(self.state, jnp.int32(action), jax.random.key(self._number()))

        def _let_opponent_play(self) -> float:
            reward = 0.0
            while not spaces.over(self.state) and int(self.state.current_player) != self.agent:
                states = jax.tree.map(lambda x: jnp.asarray(x)[None], self.state)
                actions, self.memory = act(player, states, jax.random.key(self._number()), self.memory)
                self._play(int(actions[0]))
                reward += self._reward()
            return reward

        def _reward(self) -> float:
            return float(self.state.rewards[self.agent])

        def _seen(self) -> np.ndarray:
            return spaces.observed(self.state, self.agent)

        def _info(self) -> dict[str, Any]:
            return {"action_mask": spaces.legal_mask(self.state)}

    return GameAgainstPlayer()
