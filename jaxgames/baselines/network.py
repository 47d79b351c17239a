"""Trained players as functions of observations: `apply(params, observation) -> (logits, value)`.

Observations have a batch axis. `logits` rate the actions of each: the player plays the highest legal one. Their
meaning depends on the network:

- a policy network has its own logits and value;
- if a network values positions, the logit of an action is the worth of the position after it, in points, and
  `value` the best of them;
- if outputs name actions, they are the logits. Outputs that name two squares give 0 to the action that they name
  and the lowest number to all others. There is no value: it is 0.

Some look for positions in observations: the inverse of each game's `observe_position`. What is not observed is as in a
new game: in checkers Black is to act, and the last move was a capture.
"""

import dataclasses
from collections.abc import Callable, Mapping
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Shaped

from jaxgames.algos.evolution.policies import Outputs, in_lanes
from jaxgames.envs import backgammon, checkers, connect_four, tic_tac_toe
from jaxgames.envs.backgammon.board import from_counts
from jaxgames.envs.checkers.board import PLACE, status
from jaxgames.envs.checkers.plain_board import SQUARES, row_and_column
from jaxgames.envs.core import Game
from jaxgames.envs.heads import ArgmaxHead, heads_of
from jaxgames.envs.registry import as_game, make
from jaxgames.envs.turns.best import turn_worth
from jaxgames.ops import checks, json_text
from jaxgames.ops.bits import top_index, union
from jaxgames.ops.pytrees import take
from jaxgames.players import champions, from_folder
from jaxgames.players.generic import GreedyTurn, LogitsTurn, PolicyTurn, SelfPlayTurn
from jaxgames.players.packaged import PUBLISHED, Packaged, published_card
from jaxgames.players.player import Player
from jaxgames.players.registry import as_players

LOWEST = np.finfo(np.float32).min
"""The logit of an illegal action, if the network gives none."""
USUAL = 8
"""The legal actions of a position for which one pass has room."""


class Apply(Protocol):
    """A network: hashable, so that it may be a static argument of `jit`."""

    def __call__(
        self, params: Any, observation: Shaped[Array, "batch ..."], /
    ) -> tuple[Float32[Array, "batch actions"], Float32[Array, " batch"]]:
        """Logits of actions and values, both for the player who observes."""
        ...


def available_baselines() -> tuple[str, ...]:
    """The names of the networks that come with the package: champions by their game, then those from publications."""
    return (*champions.champion_games(), *PUBLISHED)


def card(name: str) -> dict[str, Any]:
    """What is known of a baseline: how it was trained, its measured strength, its checksum.

    Raises `ValueError` for an unknown name, `TypeError` for anything but a text.
    """
    checks.text("name", name, "connect_four")
    if name in PUBLISHED:
        return published_card(name)
    if name in champions.champion_games():
        return champions.card(name)
    raise ValueError(f"unknown baseline {checks.describe(name)}; available: {', '.join(available_baselines())}")


def load(name: str, game: Game | str | None = None) -> tuple[Apply, Any]:
    """A trained network by its name: `apply, params = load("connect_four")`.

    Then `logits, value = apply(params, observation)`. `name` is one of `available_baselines()`, the folder of a
    training, whose `game` it knows in most cases, or `hf://OWNER/REPOSITORY/NAME.safetensors` on the Hugging Face Hub,
    where the card `NAME.json` lies beside it. Raises `ValueError` for an unknown name, for a game that is not its own,
    for weights that are not those of the card, for files that cannot be fetched, and for players without a network;
    `ImportError` for `hf://` without `huggingface_hub`. The network refuses anything but a batch of observations of
    its game.
    """
    checks.text("name", name, "connect_four")
    if name in champions.champion_games():
        wanted = make(name) if game is None else as_game(game)
        if wanted.id != name:
            raise ValueError(f"{name} is the champion of {name}, not of {wanted.id}")
        player = from_folder.load_named(champions.CHAMPION, wanted)
    elif name.startswith(ADDRESS):
        player = _from_hub(name, game)
    else:
        (player,) = as_players(name, game=game)
    apply, params = from_player(player)
    # The others look for positions in observations, and check them there.
    return _Policy(player.game, apply) if isinstance(player.turn, LogitsTurn) else apply, params


def from_player(player: Player) -> tuple[Apply, Any]:
    """The network of a player, and its parameters. Raises `ValueError` for a player without one, such as a search."""
    checks.made("player", player, ("turn", "game", "params"), "players.make(name, game)")
    turn: Any = player.turn
    if isinstance(turn, LogitsTurn):
        return turn.policy.apply, player.params
    kinds: Mapping[type, Callable[[Any], Apply]] = {
        GreedyTurn: _Values, SelfPlayTurn: _SelfTaught, PolicyTurn: _Evolved,
    }  # fmt: skip
    if network := kinds.get(type(turn)):
        return network(turn), player.params
    known = ", ".join(available_baselines())
    raise ValueError(f"{player.name} is no network; expected the folder of a training, {known}")


def _with_best(logits: Array) -> tuple[Array, Array]:
    """The logits without minus infinity, which softmax cannot take, and the best of them."""
    logits = jnp.maximum(logits, LOWEST)
    return logits, jnp.max(logits, axis=1)


@dataclasses.dataclass(frozen=True)
class _Policy:
    """A policy network of the package or of a training."""

    game: Game
    apply: Apply

    def __call__(self, params: Any, observation: Array) -> tuple[Array, Array]:
        check_observations(self.game, observation)
        return self.apply(params, observation)


@dataclasses.dataclass(frozen=True)
class _Values:
    """By the values of positions."""

    turn: GreedyTurn

    def __call__(self, params: Any, observation: Array) -> tuple[Array, Array]:
        game, value = self.turn.game, self.turn.make_value(params)
        positions = positions_of(game, observation)
        legal = jax.vmap(game.legal)(positions)
        batch, actions = legal.shape
        if not batch:  # an empty batch has no best turn
            return jnp.zeros(legal.shape, jnp.float32), jnp.zeros(0, jnp.float32)
        total, size = jnp.sum(legal, dtype=jnp.int32), min(USUAL, actions) * batch
        # The legal actions of all positions in one list, worked off in as many passes as it takes.
        (entries,) = jnp.nonzero(legal.reshape(-1), size=legal.size + size, fill_value=0)
        entries = entries.astype(jnp.int32)

        def value_some(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            start, logits = carry
            entry = jax.lax.dynamic_slice_in_dim(entries, start, size)
            outcome = jax.vmap(game.play)(take(positions, entry // actions), entry % actions)
            worth = turn_worth(outcome, value)
            if game.outcome_probabilities:  # the turn may go on: then by its best continuation, before the next dice
                goes_on = ~(outcome.over | outcome.turn_passes)
                worth = jnp.where(goes_on, game.best_turn(outcome.position, value)[1], worth)
            inside = start + jnp.arange(size, dtype=jnp.int32) < total
            return start + size, logits.at[jnp.where(inside, entry, legal.size)].set(worth, mode="drop")

        first = jnp.int32(0), jnp.full(legal.size, LOWEST)
        _, logits = jax.lax.while_loop(lambda carry: carry[0] < total, value_some, first)
        return _with_best(logits.reshape(legal.shape))


@dataclasses.dataclass(frozen=True)
class _SelfTaught:
    """By the values of the self-taught networks, which see whose turn it is."""

    turn: SelfPlayTurn

    def __call__(self, params: Any, observation: Array) -> tuple[Array, Array]:
        return _with_best(self.turn.action_values(params, positions_of(self.turn.learner.game, observation)))


@dataclasses.dataclass(frozen=True)
class _Evolved:
    """By the outputs of an evolved network."""

    turn: PolicyTurn

    def __call__(self, params: Any, observation: Array) -> tuple[Array, Array]:
        policy: Any = self.turn.network.policy()
        assert isinstance(policy, Outputs)
        head = heads_of(policy.game)[policy.head]
        positions = jax.tree.map(lambda x: x[None], positions_of(policy.game, observation))
        # `policy.outputs` without `materialize`, which blocks gradients.
        seen = policy.inputs(in_lanes(positions))
        outputs = policy.genomes.apply(params[None], seen, monotone=True)[:, :, : len(observation)]
        if isinstance(head, ArgmaxHead):
            logits = outputs[0].T
        else:
            actions = head(outputs, positions)[0][0]
            named = actions[:, None] == jnp.arange(policy.game.num_actions, dtype=jnp.int32)[None]
            logits = jnp.where(named, jnp.float32(0), LOWEST)
        return logits, jnp.zeros(len(observation), jnp.float32)


# Files of the Hugging Face Hub: those of a baseline, `NAME.safetensors` and its card `NAME.json`

ADDRESS, WEIGHTS = "hf://", ".safetensors"


def _from_hub(name: str, game: Game | str | None = None) -> Player:
    """The player whose weights are `hf://OWNER/REPOSITORY/NAME.safetensors`; files are fetched only once.

    Raises `ImportError` without `huggingface_hub`, `ValueError` if there are no such files, they cannot be fetched, or
    they are not those of a baseline.
    """
    owner, _, rest = name.removeprefix(ADDRESS).removesuffix(WEIGHTS).partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file and name.endswith(WEIGHTS)):
        raise ValueError(f"{name}: expected hf://OWNER/REPOSITORY/NAME.safetensors")
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise ImportError("not installed: huggingface_hub; install with: pip install 'jaxgames[huggingface]'") from None
    try:
        card, weights = (Path(hf_hub_download(f"{owner}/{repository}", file + kind)) for kind in (".json", WEIGHTS))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{name} cannot be fetched: {reason}") from None
    try:
        facts = json_text.loads(card.read_bytes())
        run = Packaged(weights.parent, weights.name.removesuffix(WEIGHTS), facts, f"ask {owner} for both files")
        return from_folder.load_run(run, name, as_game(facts["game"] if game is None else game))
    except (KeyError, TypeError, AttributeError, JSONDecodeError) as error:
        raise ValueError(f"{name}: {card.name} is no card of a baseline ({type(error).__name__}: {error})") from None


# Positions from observations

ROWS, COLUMNS = np.transpose([row_and_column(square) for square in range(1, SQUARES + 1)])
"""Of the squares of draughts."""


def positions_of(game: Game, observations: Shaped[Array, "batch ..."]) -> Any:
    """The positions in which the player to act sees these observations.

    Raises `ValueError` for a game that is not known here, and as `check_observations`.
    """
    if game.id not in POSITION_OF:
        known = ", ".join(POSITION_OF)
        raise ValueError(f"positions of {game.id} are not known from observations; those of {known} are")
    check_observations(game, observations)
    return jax.vmap(lambda observation: POSITION_OF[game.id](game, observation))(observations)


def check_observations(game: Game, observations: Any) -> None:
    """Raises `ValueError` or `TypeError` unless these are a batch of observations of the game."""
    one = jax.eval_shape(lambda key: game.init(key).observation, jax.random.key(0))
    checks.array("observation", observations, one.dtype, (None, *one.shape), f"of {game.id}")


def _word(flags: Array, places: Any) -> Array:
    """The set whose bit `places[i]` is flag i, where that is below 32."""
    bit_of = np.where(places < 32, np.uint32(1) << (places % 32).astype(np.uint32), np.uint32(0))
    return union(jnp.where(flags.astype(bool), jnp.asarray(bit_of), jnp.uint32(0)))


def _of_tic_tac_toe(game: Any, observation: Array) -> tic_tac_toe.Position:
    own, other = (_word(observation[..., plane].ravel(), np.arange(9)) for plane in (0, 1))
    return tic_tac_toe.Position(own | other << 16)


def _of_connect_four(game: Any, observation: Array) -> connect_four.Position:
    empty = game.init_position(jax.random.key(0))
    squares = game.stones(empty).places

    def words(plane: int) -> tuple[Array, ...]:
        stones = observation[..., plane].ravel()
        return tuple(_word(stones & (squares >= 32 * k), np.abs(squares - 32 * k)) for k in range(len(empty.own)))

    return connect_four.Position(words(0), words(1))


def _of_checkers(game: Any, observation: Array) -> checkers.Position:
    planes = (_word(observation[ROWS, COLUMNS, plane], PLACE) for plane in range(5))
    men, kings, other_men, other_kings, jumper = planes
    place = jnp.where(jumper != 0, 64 + top_index(jumper), jnp.uint32(0))
    board = men | kings, other_men | other_kings, kings | other_kings
    return checkers.Position(*board, status(jnp.bool_(False), place, jnp.uint32(0)))


def _of_backgammon(game: Any, observation: Array) -> backgammon.Position:
    points, bar, dice = (observation[part].astype(jnp.int32) for part in (slice(24), slice(24, 26), slice(28, 34)))
    own = jnp.append(jnp.maximum(points[::-1], 0), bar[0])
    other = jnp.append(jnp.maximum(-points, 0), -bar[1])
    digits = dice.astype(jnp.uint32) << (jnp.uint32(4) * jnp.arange(6, dtype=jnp.uint32))
    return backgammon.Position(from_counts(own), from_counts(other), jnp.sum(digits, dtype=jnp.uint32))


POSITION_OF: Mapping[str, Callable[[Any, Array], Any]] = {
    "tic_tac_toe": _of_tic_tac_toe,
    "connect_four": _of_connect_four,
    "checkers": _of_checkers,
    "backgammon": _of_backgammon,
}
"""By the id of the game."""
