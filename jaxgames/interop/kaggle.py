"""Players of Connect Four as submissions to Kaggle's Connect X, and submissions as players of ours."""

import base64
import inspect
import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

from jaxgames.algos import mcts
from jaxgames.algos.mcts.rules.amaf import AMAF, RAVE
from jaxgames.algos.mcts.rules.rule import UCT
from jaxgames.envs.connect_four.board import Position, to_plain, words_of
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game, State
from jaxgames.interop.connect_x_agent import SECONDS, ConnectXBoard, position_of
from jaxgames.interop.networks import PlayerNetwork, network_of, policy_network_of, value_head_of
from jaxgames.nets.mlp import layers_of
from jaxgames.players.host import HostTurn
from jaxgames.players.mcts import MCTSTurn
from jaxgames.players.minimax import MinimaxTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry

__all__ = ["submission", "submission_player"]

ALPHA_BETA = Path(__file__).with_name("connect_x_agent.py")
TREES = Path(__file__).with_name("connect_x_mcts.py")
MOST_SECONDS = 1.5
"""Most seconds for a move, if the player's budget is a time: the referee allows 2."""
RULES: dict[type, Callable[[Any], tuple[str, float, float]]] = {
    UCT: lambda rule: ("uct", rule.c, 0.0),
    RAVE: lambda rule: ("rave", rule.c, rule.k),
    AMAF: lambda rule: ("amaf", rule.c, rule.alpha),
}
"""The selection rules that a submission knows, and their constants there."""
MOST_BYTES = 1_000_000
"""The largest submission."""
MOST_ROWS, MOST_BITS = 8, 63
"""Of a board with a network: all stones of a column are looked up in a table, and a board is a word with a bit for each
square and one on top of each column.
"""


def submission(player: Player) -> str:
    """The Python file of a submission; it depends on the kind of `player`.

    With a network: alpha-beta for as long as a move may take, with the network's values at the horizon. `uct`, `rave`
    or `amaf`: the same search by simulations, as many of them as fit into a second. Alpha-beta without a network counts
    threats at its horizon. Raises `ValueError` for a player of another game, one that neither searches nor has a
    network, one that searches in another way, one that is too large, and a network for too large a board.
    """
    game = player.game
    if not isinstance(game, ConnectFour):
        raise ValueError(f"{player.name} plays {game.id}; Kaggle's Connect X is connect_four")
    policy = policy_network_of(player)
    network = network_of(player) if policy is None else value_head_of(player, policy)
    if network is None and isinstance(player.turn, MCTSTurn):
        return _filled(_tree_source(), {"MADE_OF": player.name} | _tree_constants(player, player.turn))
    if network is None and not isinstance(player.turn, MinimaxTurn):
        raise ValueError(f"{player.name} neither searches nor has a network: there is nothing to export")
    constants: dict[str, Any] = {"MADE_OF": player.name, "BOARD": (game.rows, game.cols, game.connect)}
    if network is not None:
        if game.rows > MOST_ROWS or (game.rows + 1) * game.cols > MOST_BITS:
            raise ValueError(
                f"{player.name} has a network for a board of {game.rows} x {game.cols}; "
                f"expected at most {MOST_ROWS} rows, and (rows + 1) x columns at most {MOST_BITS}"
            )
        constants["ACTIVATIONS"] = (network.mlp.activation, network.mlp.output)
        constants["WEIGHTS"] = base64.b64encode(_weights(game, network)).decode()
    return _filled(ALPHA_BETA.read_text("utf-8"), constants)


def _filled(text: str, constants: dict[str, Any]) -> str:
    """A file with its constants. Raises `ValueError` if it is too large for the referee."""
    for name, value in constants.items():
        before = next(line for line in text.splitlines() if line.startswith(f"{name} = "))
        text = text.replace(before, f"{name} = {value!r}", 1)
    size = len(text.encode())
    if size > MOST_BYTES:
        name = constants["MADE_OF"]
        raise ValueError(f"{name}: the file would have {size:,} bytes; expected at most {MOST_BYTES:,}")
    return text


def _tree_source() -> str:
    """The search by simulations with the board that it imports."""
    board = "\n\n".join(inspect.getsource(part) for part in (ConnectXBoard, position_of))
    lines = TREES.read_text("utf-8").splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if line.startswith("from jaxgames"))
    lines[place] = f'MADE_OF = ""\nSECONDS = 0.0\n\n\n{board}\n\n'
    return "".join(lines)


def _tree_constants(player: Player, turn: MCTSTurn) -> dict[str, Any]:
    rule = RULES.get(type(turn.rule))
    plain = (player.params, turn.trees, turn.discount) == (mcts.rollout(), 1, 1.0) and type(turn) is MCTSTurn
    if rule is None or not plain:
        raise ValueError(
            f"no submission searches like {player.name}; expected uct, rave or amaf with plain rollouts and one tree"
        )
    seconds = SECONDS if turn.seconds is None else turn.seconds
    if seconds > MOST_SECONDS:
        raise ValueError(f"{player.name} thinks too long for Kaggle's 2 seconds; expected at most {MOST_SECONDS} s")
    # With a time budget the number of simulations is unlimited.
    simulations = turn.simulations if turn.seconds is None else 10**9
    return {"SECONDS": seconds, "SIMULATIONS": simulations, "RULE": rule(turn.rule), "FINAL": turn.final}


def submission_player(game: Game, file: str) -> Player:
    """The player `kaggle:FILE`: anybody's submission, called as Kaggle's referee calls it.

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
    """The network as .npz. Its first layer becomes a table of what each stone on each square adds to the sums."""
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
    """The inputs of the empty board, and how one stone changes them: [2 players, rows, columns, inputs]."""
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
