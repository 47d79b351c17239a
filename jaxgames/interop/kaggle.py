"""Players of Connect Four as submissions to Kaggle's Connect X, and submissions as players of ours."""

import base64
import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

from jaxgames.envs.connect_four.board import Position, to_plain, words_of
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game, State
from jaxgames.interop.networks import PlayerNetwork, network_of, policy_network_of, value_head_of
from jaxgames.nets.mlp import layers_of
from jaxgames.players.host import HostTurn
from jaxgames.players.mcts import MCTSTurn
from jaxgames.players.minimax import MinimaxTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry

__all__ = ["submission", "submission_player"]

SOURCE = Path(__file__).with_name("connect_x_agent.py")
MOST_BYTES = 1_000_000
"""What a submission may measure."""


def submission(player: Player) -> str:
    """The Python file of a submission: alpha-beta for as long as a move may take, with the network of `player`.

    Of a network with a policy the values are used. A player that searches without a network becomes the same search,
    which counts threats at its horizon. Raises
    `ValueError` for a player of another game, one that neither searches nor has a network, and one that is too large.
    """
    game = player.game
    if not isinstance(game, ConnectFour):
        raise ValueError(f"{player.name} plays {game.id}; Kaggle's Connect X is connect_four")
    policy = policy_network_of(player)
    network = network_of(player) if policy is None else value_head_of(player, policy)
    if network is None and not isinstance(player.turn, MinimaxTurn | MCTSTurn):
        raise ValueError(f"{player.name} neither searches nor has a network: there is nothing to export")
    constants: dict[str, Any] = {"MADE_OF": player.name, "BOARD": (game.rows, game.cols, game.connect)}
    if network is not None:
        constants["ACTIVATIONS"] = (network.mlp.activation, network.mlp.output)
        constants["WEIGHTS"] = base64.b64encode(_weights(game, network)).decode()
    text = SOURCE.read_text("utf-8")
    for name, value in constants.items():
        before = next(line for line in text.splitlines() if line.startswith(f"{name} = "))
        text = text.replace(before, f"{name} = {value!r}", 1)
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"{player.name}: the file would have {len(text):,} bytes; expected at most {MOST_BYTES:,}")
    return text


def submission_player(game: Game, file: str) -> Player:
    """The player `kaggle:FILE`: a submission of anybody, asked as Kaggle's referee asks it.

    The referee takes the last function of the file. Raises `ValueError` for another game, and a file without one.
    """
    if not isinstance(game, ConnectFour):
        raise ValueError(f"kaggle plays connect_four, not {game.id}")
    agent = _last_function(Path(file))
    configuration = SimpleNamespace(rows=game.rows, columns=game.cols, inarow=game.connect, timeout=2, actTimeout=2)

    def move(state: State) -> int:
        cells = to_plain(state._position, game.rows, game.cols)
        stones = int(np.count_nonzero(cells))
        observation = SimpleNamespace(
            board=cells.ravel().tolist(), mark=1 + stones % 2, step=stones, remainingOverageTime=60
        )
        return int(agent(observation, configuration))

    name = f"kaggle:{file}"
    return Player(name, game, HostTurn(game, move, name))


ENTRY = PlayerEntry(
    submission_player,
    "a submission to Kaggle's Connect X, asked as its referee asks it",
    "kaggle needs a file: write kaggle:submission.py",
    ("kaggle:FILE",),
    ("FILE",),
    games=("connect_four",),
)


def _weights(game: ConnectFour, network: PlayerNetwork) -> bytes:
    """The network as .npz. Its first layer becomes what each stone on each square adds to the sums."""
    layers = layers_of(network.params)
    biases = [np.asarray(layer.get("bias", np.zeros(1, np.float32))) for layer in layers]
    kernel = np.asarray(layers[0]["kernel"])
    base, stones = _encoded(game, network.encoding)
    rows, columns = game.rows, game.cols
    columnwise = stones.transpose(0, 2, 1, 3)[:, :, ::-1]  # column by column, each from below
    added = columnwise.reshape(2, rows * columns, -1) @ kernel
    arrays = {"stones": added, "bias": base @ kernel + biases[0], "points": network.points}
    for i, layer in enumerate(layers[1:], 1):
        arrays |= {f"kernel{i}": np.asarray(layer["kernel"]), f"bias{i}": biases[i]}
    file = io.BytesIO()
    np.savez_compressed(file, layers=np.int32(len(layers)), allow_pickle=False, **arrays)
    return file.getvalue()


def _encoded(game: ConnectFour, encoding: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    """The inputs of the empty board, and what one stone changes in them: [2 players, rows, columns, inputs]."""
    rows, columns = game.rows, game.cols
    empty = jax.device_get(game.init_position(jax.random.key(0)))

    def inputs(own: int, other: int) -> np.ndarray:
        words = Position(*(words_of(stones, len(empty.own)) for stones in (own, other)))
        return np.asarray(encoding(jax.tree.map(lambda x: np.asarray(x)[None], words)))[0]

    base = inputs(0, 0)
    bits = [[1 << column * (rows + 1) + rows - 1 - row for column in range(columns)] for row in range(rows)]
    alone = [[[inputs(bit, 0) for bit in line] for line in bits], [[inputs(0, bit) for bit in line] for line in bits]]
    both = inputs(bits[-1][0], bits[-1][1])
    changes = np.asarray(alone) - base
    if not np.allclose(both, base + changes[0, -1, 0] + changes[1, -1, 1]):
        raise ValueError("the network's inputs are no sums over stones; expected the observation or cells")
    return base, changes


def _last_function(path: Path) -> Callable[[Any, Any], int]:
    if not path.is_file():
        raise ValueError(f"kaggle:{path}: there is no such file")
    names: dict[str, Any] = {"__name__": "submission"}
    try:
        exec(compile(path.read_text("utf-8"), str(path), "exec"), names)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{path}: {type(error).__name__}: {error}") from error
    functions = [value for name, value in names.items() if callable(value) and name != "__builtins__"]
    if not functions:
        raise ValueError(f"{path} has no function: expected agent(observation, configuration) as the last one")
    return functions[-1]
