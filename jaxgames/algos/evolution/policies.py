"""How a population of networks plays: each with its own positions, all of them at once."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32
from typing_extensions import override

from jaxgames.algos.evolution.genomes import Apart, Candidates, Genomes, in_rows
from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.heads import best_of, heads_of
from jaxgames.ops import checks
from jaxgames.ops.materialize import materialize

LANES = 8
"""The number of games in a vector: 19 games take longer than 24."""
FEW_ACTIONS = 16
"""If a game has at most so many actions, all of them are tried, one after the other."""

Positions = Any
"""A pytree with leaves [n, games, ...]: for each of n networks as many positions."""


POLICY, POLICY_PARTS = "a policy, such as evolution.Outputs(game, genomes, encoding)", ("turn", "game", "dimension")
"""What is expected of a policy, and what it has."""


class Decision(NamedTuple):
    """The turns that networks play, with leaves [n, games]. Outcomes of illegal choices are arbitrary."""

    outcome: Outcome
    legal: Bool[Array, "n games"]


class Policy(Protocol):
    """How networks of one kind play; the networks are rows of float32[n, dimension]. A hashable value."""

    @property
    def game(self) -> Game:
        """The game that it plays."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers of a row."""
        ...

    def turn(
        self, genomes: Float32[Array, "n dimension"], positions: Positions, bits: UInt32[Array, "n games"]
    ) -> Decision:
        """One turn in each position; `bits` are 32 random ones for each."""
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
        checks.native_fields(self)
        a_game(self.game)
        checks.made("genomes", self.genomes, ("layers", "inputs"), "evolution.Genomes(network, inputs)")
        checks.text("encoding", self.encoding, "cells")
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
        """Numbers of a row."""
        return self.genomes.dimension

    def inputs(self, positions: Positions) -> Float32[Array, "n inputs games"]:
        """The positions as the networks see them."""
        return jnp.swapaxes(self.inputs_first(positions), 0, 1)

    def inputs_first(self, positions: Any) -> Float32[Array, "inputs a b"]:
        """Positions [a, b] as the networks see them, with the inputs first."""
        encoding, first = self.game.encodings[self.encoding], len(jax.tree.leaves(positions)[0])
        positions = flat(positions)
        if hasattr(encoding, "inputs_first"):  # games last, so that vector code is made over them
            seen = encoding.inputs_first(positions)
        else:
            seen = encoding(positions).T
        seen = materialize(seen, opaque_ints(positions)[None])
        return seen.reshape(len(seen), first, -1)

    def outputs(
        self, genomes: Float32[Array, "n dimension"] | Apart, positions: Positions
    ) -> Float32[Array, "n outputs games"]:
        """The networks' outputs for their positions, up to an increasing function."""
        n, games = jax.tree.leaves(positions)[0].shape[:2]
        positions = in_lanes(positions)
        outputs = self.genomes.apply(genomes, self.inputs(positions), monotone=True)
        return materialize(outputs, rows(opaque_ints(flat(positions)), n)[:, None])[:, :, :games]

    def outputs_last(self, candidates: Candidates, positions: Any) -> Float32[Array, "games outputs n"]:
        """The outputs of networks in another form than rows, for positions [games, n]."""
        outputs = self.genomes.apply_last(candidates, self.inputs_first(positions), monotone=True)
        return jnp.swapaxes(materialize(outputs, rows(opaque_ints(flat(positions)), outputs.shape[1])), 0, 1)

    def turn(self, genomes: Any, positions: Positions, bits: UInt32[Array, "n games"]) -> Decision:
        """One turn in each position; no random bits are used."""
        if in_rows(genomes):
            return self._choose(genomes, positions, last=False)
        positions = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), positions)
        return jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), self.turn_last(genomes, positions, bits.T))

    def turn_last(self, candidates: Candidates, positions: Any, bits: UInt32[Array, "games n"]) -> Decision:
        """The same for networks in another form than rows: positions and decisions are [games, n]."""
        del bits
        return self._choose(candidates, positions, last=True)

    def _choose(self, networks: Any, positions: Any, last: bool) -> Decision:
        """The turns in positions [n, games]; if the networks are `last`, in positions [games, n]."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Outputs(_Networks):
    """Networks whose outputs name an action, by one of `heads_of(game)`.

    With `strict` a network may name an illegal action; without, only the outputs of legal actions count. Raises
    `ValueError` for a head that the game does not know, and for networks of another size.
    """

    head: str = "highest"
    strict: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.text("head", self.head, "highest")
        known = heads_of(self.game)
        if self.head not in known:
            raise ValueError(f"unknown head {self.head!r} of {self.game.id}; known: {', '.join(known)}")
        if self.genomes.outputs != known[self.head].size:
            raise ValueError(
                f"the networks have {self.genomes.outputs} outputs; head {self.head!r} of {self.game.id} has "
                f"{known[self.head].size}"
            )

    @override
    def _choose(self, networks: Any, positions: Any, last: bool) -> Decision:
        named = (self.outputs_last if last else self.outputs)(networks, positions)
        actions, legal = heads_of(self.game)[self.head](named, positions, self.strict)
        actions = materialize(actions, rows(opaque_ints(flat(positions)), len(named)))
        return Decision(_played(self.game, positions, actions), legal)


@dataclasses.dataclass(frozen=True)
class Afterstate(_Networks):
    """Networks with one output, the value of a position for the player to act: each looks one action ahead.

    For games whose turns are single actions. Among equally good actions the lowest number is taken; NaN is
    worse than any number. Raises `ValueError` for networks of another size, and for games with chance.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.genomes.outputs != 1:
            raise ValueError(f"the networks have {self.genomes.outputs} outputs; the worth of a position is one")
        if self.game.outcome_probabilities:
            raise ValueError(f"{self.game.id} has chance: its turns are chosen by `Game.best_turn`, as in `duel`")

    @override
    def _choose(self, networks: Any, positions: Any, last: bool) -> Decision:
        n, games = jax.tree.leaves(positions)[0].shape[:2]
        here = flat(positions)
        opaque = opaque_ints(here)
        legal = jax.vmap(self.game.legal, out_axes=1)(here)
        outcomes = self._of_actions(here, len(legal))
        positions_after = [rows(outcome.position, n) for outcome in outcomes]
        after = jax.tree.map(lambda *of_each: jnp.concatenate(of_each, axis=0 if last else 1), *positions_after)
        if last:
            worth = self.genomes.apply_last(networks, self.inputs_first(after)).reshape(len(legal), n, games)
            worth = jnp.swapaxes(worth, 0, 1)
        else:
            worth = self.genomes.apply(networks, self.inputs(after))[:, 0].reshape(n, len(legal), games)
        worth = materialize(worth, rows(opaque, n)[:, None])

        def choices() -> Iterator[tuple[int, Array, Array]]:
            for action, outcome in enumerate(outcomes):
                _, switch, over, reward = rows(outcome, n)
                of_action = jnp.where(switch, -worth[:, action], worth[:, action])
                yield action, jnp.where(over, reward, of_action), rows(legal[action], n)

        best = materialize(best_of(choices()), rows(opaque, n))
        return Decision(_played(self.game, positions, best), jnp.ones((n, games), bool))

    def _of_actions(self, positions: Any, count: int) -> list[Outcome]:
        """The outcome of each action in a flat batch of positions.

        Few actions are tried one after the other, which is twice as fast; many at once, since 128 copies of the rules
        of draughts would take a minute to compile.
        """
        opaque = opaque_ints(positions)

        def play(action: Int32[Array, ""]) -> Outcome:
            outcome = jax.vmap(lambda position: self.game.play(position, action))(positions)
            return jax.tree.map(lambda x: materialize(x, opaque), outcome)

        if count <= FEW_ACTIONS:
            return [play(jnp.int32(action)) for action in range(count)]
        outcomes = jax.vmap(play)(jnp.arange(count, dtype=jnp.int32))
        return [jax.tree.map(lambda x, action=action: x[action], outcomes) for action in range(count)]


def _played(game: Game, positions: Positions, actions: Int32[Array, "n games"]) -> Outcome:
    """What the actions lead to."""
    return rows(jax.vmap(game.play)(flat(positions), actions.ravel()), len(actions))


def in_lanes(positions: Positions) -> Positions:
    """The positions, padded with empty ones to full vectors: 19 games take longer than 24."""
    missing = -jax.tree.leaves(positions)[0].shape[1] % LANES
    return jax.tree.map(lambda x: jnp.pad(x, ((0, 0), (0, missing), *((0, 0),) * (x.ndim - 2))), positions)


def flat(tree: Any) -> Any:
    """Leaves [n, games, ...] as [n * games, ...]."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), tree)


def rows(tree: Any, n: int) -> Any:
    """Leaves [n * games, ...] as [n, games, ...]."""
    return jax.tree.map(lambda x: x.reshape(n, -1, *x.shape[1:]), tree)


def opaque_ints(positions: Any) -> Array:
    """A whole number for each of a flat batch of positions: `materialize` needs one that XLA cannot know."""
    bits = next(leaf for leaf in jax.tree.leaves(positions) if jnp.issubdtype(leaf.dtype, jnp.integer))
    return bits.reshape(len(bits), math.prod(bits.shape[1:]))[:, 0]
