"""How a population of networks plays: each with its own positions, all of them at once."""

import dataclasses
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.envs import once
from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.readings import best_of

LANES = 8
"""Games are computed in vectors of so many."""

Positions = Any
"""A pytree with leaves [n, games, ...]: for each of n networks as many positions."""


class Decision(NamedTuple):
    """What networks do, with leaves [n, games]. Where a choice is not `legal` its outcome is of no account."""

    outcome: Outcome
    legal: Bool[Array, "n games"]


class Policy(Protocol):
    """Plays for networks of one kind, given as rows of float32[n, dimension]; a hashable value."""

    @property
    def game(self) -> Game:
        """The game that it plays."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers of a row."""
        ...

    def turn(
        self, genomes: Float32[Array, "n dimension"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
        """One turn in each position; `words` are random, one for each."""
        ...


@dataclasses.dataclass(frozen=True)
class _Networks:
    """Networks that see positions in one of the game's encodings. Raises `ValueError` for an encoding that the game
    does not know, and for networks of another size.
    """

    game: Game
    genomes: Genomes
    encoding: str

    def __post_init__(self) -> None:
        known = self.game.encodings
        if self.encoding not in known:
            raise ValueError(f"unknown encoding {self.encoding!r} of {self.game.id}; known: {', '.join(known)}")
        if self.genomes.inputs != known[self.encoding].size:
            raise ValueError(
                f"the networks have {self.genomes.inputs} inputs; encoding {self.encoding!r} of {self.game.id} has "
                f"{known[self.encoding].size}"
            )

    @property
    def dimension(self) -> int:
        """As `Policy.dimension`."""
        return self.genomes.dimension

    def inputs(self, positions: Positions) -> Float32[Array, "n inputs games"]:
        """What the networks see of their positions."""
        encoding = self.game.encodings[self.encoding]
        if hasattr(encoding, "inputs_first"):  # games last, so that vector code is made over them
            seen = jax.vmap(encoding.inputs_first)(positions)
        else:
            seen = jax.vmap(lambda of_one: encoding(of_one).T)(positions)
        return _once(seen, positions)

    def outputs(
        self, genomes: Float32[Array, "n dimension"], positions: Positions
    ) -> Float32[Array, "n outputs games"]:
        """What the networks say of their positions, up to an increasing function."""
        games = _like(positions).shape[1]
        missing = -games % LANES  # 19 games take longer than 24
        positions = jax.tree.map(lambda x: jnp.pad(x, ((0, 0), (0, missing), *((0, 0),) * (x.ndim - 2))), positions)
        return _once(self.genomes.apply(genomes, self.inputs(positions), monotone=True), positions)[:, :, :games]


@dataclasses.dataclass(frozen=True)
class Outputs(_Networks):
    """Networks whose outputs name an action, in one of the ways that `game.readings` lists.

    With `strict` a network may name an illegal action; without, the outputs of legal actions alone are looked at.
    Raises `ValueError` for a reading that the game does not know, and for networks of another size.
    """

    reading: str = "highest"
    strict: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.game.readings
        if self.reading not in known:
            raise ValueError(f"unknown reading {self.reading!r} of {self.game.id}; known: {', '.join(known)}")
        if self.genomes.outputs != known[self.reading].size:
            raise ValueError(
                f"the networks have {self.genomes.outputs} outputs; reading {self.reading!r} of {self.game.id} has "
                f"{known[self.reading].size}"
            )

    def turn(
        self, genomes: Float32[Array, "n dimension"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
        """As `Policy.turn`; no random words are used."""
        del words
        outputs = self.outputs(genomes, positions)
        actions, legal = self.game.readings[self.reading](outputs, positions, self.strict)
        actions = once.index(actions, _like(positions))
        return Decision(jax.vmap(jax.vmap(self.game.play))(positions, actions), legal)


@dataclasses.dataclass(frozen=True)
class Afterstate(_Networks):
    """Networks with one output, what a position is worth to the player to act: each looks one turn ahead.

    For games whose turns are single actions. Of equally good actions the one of the lowest number is taken; NaN is
    worse than any number. Raises `ValueError` for networks of another size, and for games with chance.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.genomes.outputs != 1:
            raise ValueError(f"the networks have {self.genomes.outputs} outputs; the worth of a position is one")
        if self.game.outcome_probabilities:
            raise ValueError(f"{self.game.id} has chance: its turns are chosen by `Game.best_turn`, as in `duel`")

    def turn(
        self, genomes: Float32[Array, "n dimension"], positions: Positions, words: UInt32[Array, "n games"]
    ) -> Decision:
        """As `Policy.turn`; no random words are used."""
        del words
        legal = jax.vmap(jax.vmap(self.game.legal, out_axes=1))(positions)
        n, count, games = legal.shape
        actions = jnp.arange(count, dtype=jnp.int32)

        def play_each(position):
            return jax.vmap(lambda action: self.game.play(position, action))(actions)

        outcomes = jax.vmap(jax.vmap(play_each, out_axes=1))(positions)  # leaves [n, actions, games]
        after = jax.tree.map(lambda x: x.reshape(n, count * games, *x.shape[3:]), outcomes.position)
        worth = self.genomes.apply(genomes, self.inputs(after))[:, 0].reshape(legal.shape)
        worth = jnp.where(outcomes.over, outcomes.reward, jnp.where(outcomes.switch, -worth, worth))
        like = _like(positions)
        worth = once.number(worth, jnp.broadcast_to(like[:, None], worth.shape))
        best = best_of((action, worth[:, action], legal[:, action]) for action in range(count))
        best = once.index(best, like)
        return Decision(jax.vmap(jax.vmap(self.game.play))(positions, best), jnp.ones((n, games), bool))


def _once(values: Float32[Array, "n size games"], positions: Positions) -> Float32[Array, "n size games"]:
    """Numbers of positions, computed once though much is made of them."""
    like = jnp.broadcast_to(_like(positions)[:, None], values.shape)
    words = lax.bitcast_convert_type(values, jnp.uint32)  # a number XLA would multiply by the inverse, and fuse that
    return lax.bitcast_convert_type(once.word(words, like), jnp.float32)


def _like(positions: Positions) -> Array:
    """Whole numbers [n, games] that are part of positions."""
    words = next(leaf for leaf in jax.tree.leaves(positions) if jnp.issubdtype(leaf.dtype, jnp.integer))
    return words.reshape(*words.shape[:2], -1)[:, :, 0]
