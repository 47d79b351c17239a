"""The networks 9-18-9-3-1 that teach themselves tic-tac-toe: the ways to train them, and all of them as one program.

Blocks of networks are spread over devices.
"""

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.self_play_backprop import (
    CYCLE,
    FIRST,
    SECOND,
    SELF,
    Params,
    SelfPlayBackprop,
    SelfPlayConfig,
    SelfPlaySettings,
    SelfPlayState,
    SquareFeatures,
)
from jaxgames.matches.exhaustive import every_line
from jaxgames.ops.devices import device_mesh
from jaxgames.ops.settings import Settings, setting
from jaxgames.players.generic import self_play

WINDOW = 100
"""Good results are counted in so many games."""
WIDEST = 32
"""Networks of a block: their weights stay in the processor's first cache."""
KINDS = {"self": SELF, "first": FIRST, "second": SECOND}
AXIS = "blocks"


NETWORK = SelfPlayConfig("tic_tac_toe", most_plies=9).replace(hidden=(18, 9, 3), activation="tanh", output="tanh")
"""The article's layers. AForge's bipolar sigmoid, 2 / (1 + exp(-2 x)) - 1 with its usual alpha of 2, is tanh(x)."""
PUBLISHED = (90.0, 100.0)
"""Good results per 100 games that the published chart reaches."""

MIXED = ("self", "second", "first", "self", "first", "second")
"""The article's schedule: every third game is one against itself, and the network begins every other of the rest."""


@dataclasses.dataclass(frozen=True)
class Variant(Settings):
    """One way to train the network. Raises `ValueError` for values that make no sense."""

    of = "a variant of the network"
    label: str = setting("", "the name in the diagram")
    empty: float = setting(0.01, "the input of an empty square; the player's own is 1, the opponent's -1")
    absolute: bool = setting(
        False,
        "whether the network sees the board from the first player, whose squares are 1, and an output of 1 means that "
        "the first player wins; else it sees the mover's own view",
    )
    side: bool = setting(False, "whether a tenth input says whose turn it is: 1 the first player's, -1 the second's")
    step_size: float = setting(0.025, "factor on the gradient in each step", low=0)
    weights: tuple[float, float] = setting(
        (0.0, 1.0), "the first weights and biases are uniformly random between these two numbers", low=-10, high=10
    )
    cycle: tuple[str, ...] = setting(
        MIXED,
        "the kinds of games, in turn: self-play, or against random moves, where the network moves first or second",
        choices=KINDS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != 2 or not self.weights[0] < self.weights[1]:
            text = ",".join(f"{weight:g}" for weight in self.weights)
            raise ValueError(f"weights={text}: expected two numbers, the lowest and the highest")


VARIANTS: dict[str, Variant] = {
    "faithful": Variant("as published"),
    "only-random": Variant("only random opponents", cycle=("first", "second")),
    "only-self-play": Variant("only self-play", cycle=("self",)),
    "steps-0.0125": Variant("step size 0.0125", step_size=0.0125),
    "steps-0.05": Variant("step size 0.05", step_size=0.05),
    "steps-0.075": Variant("step size 0.075", step_size=0.075),
    "large-steps": Variant("step size 0.1", step_size=0.1),
    "empty-zero": Variant("empty squares 0", empty=0.0),
    "empty-zero-0.05": Variant("empty squares 0, step size 0.05", empty=0.0, step_size=0.05),
    "absolute": Variant("board as it is: X 1, O -1", absolute=True),
    "side-input": Variant("the same with a tenth input", absolute=True, side=True),
    "side-input-0.05": Variant("tenth input, step size 0.05", absolute=True, side=True, step_size=0.05),
    "side-input-0.1": Variant("tenth input, step size 0.1", absolute=True, side=True, step_size=0.1),
    "symmetric": Variant("first weights in [-1, 1]", weights=(-1.0, 1.0)),
}
SETTINGS: dict[str, tuple[str, ...]] = {"all": tuple(VARIANTS), **{name: (name,) for name in VARIANTS}}


class Counts(NamedTuple):
    """Counts of the training games of each network, per 100 games."""

    good: Int32[Array, "blocks windows width"]
    random: Float32[Array, "blocks windows width"]
    """Of the games against random moves alone, in percent; NaN where there are none."""
    error: Float32[Array, "blocks windows width"]
    """The mean squared error of the positions."""


class Measured(NamedTuple):
    """Shares of good games while the networks do not learn, arrays of float32: draws against itself, wins against
    random moves.
    """

    self_play: Any
    first: Any
    second: Any

    @property
    def good(self) -> Any:
        """All kinds of games together, equally often."""
        return (self.self_play + self.first + self.second) / 3


@dataclasses.dataclass(frozen=True)
class Populations:
    """`blocks` blocks of `width` networks: the states have a first axis of blocks, and a block one variant.

    Block i plays with random numbers of group i % groups: the seeds of every variant start from the same weights and
    meet the same random opponents, whatever else is trained beside them.
    """

    variants: tuple[Variant, ...]
    seeds: int

    @property
    def groups(self) -> int:
        """Blocks of each variant."""
        return -(-self.seeds // WIDEST)

    @property
    def width(self) -> int:
        """Networks of a block. If the seeds do not fill the blocks, a few more networks learn that nobody looks at."""
        return -(-self.seeds // self.groups)

    @property
    def blocks(self) -> int:
        """Blocks of all variants."""
        return self.groups * len(self.variants)

    @property
    def learner(self) -> SelfPlayBackprop:
        """How a block learns. All networks have ten inputs; but for `side` the tenth is always 0."""
        return NETWORK.learner(self.width)

    def init(self, key: Key[Array, ""]) -> SelfPlayState:
        """The states of all blocks before the first game."""
        variants = [variant for variant in self.variants for _ in range(self.groups)]
        settings = jax.tree.map(lambda *x: jnp.stack(x), *map(_settings, variants))
        ranges = jnp.asarray([variant.weights for variant in variants], jnp.float32)

        def block(of):
            group, one, (low, high) = of
            state = self.learner.init(jax.random.fold_in(key, group), one)
            params = jax.tree.map(lambda weight: low + (high - low) * (0.5 * weight + 0.5), state.params)
            return state._replace(params=params)

        return jax.lax.map(block, (jnp.tile(self._group(), len(self.variants)), settings, ranges))

    def network(self, states: SelfPlayState, variant: int, seed: int) -> tuple[Params, SelfPlaySettings]:
        """The weights of one network, as one of a single member, and its settings."""
        block, member = variant * self.groups + seed // self.width, seed % self.width
        params = jax.tree.map(lambda x: x[block, ..., member : member + 1], states.params)
        return params, jax.tree.map(lambda x: x[block], states.settings)

    def train(
        self, states: SelfPlayState, key: Key[Array, ""], windows: int, devices: int
    ) -> tuple[SelfPlayState, Counts]:
        """`windows` times 100 games of each network."""

        def window(carry, _):
            (state, key), learner = carry, self.learner

            def game(state, _):
                state, metrics = learner.update(state, jax.random.fold_in(key, state.games))
                wanted = jnp.where(metrics.kind == SELF, jnp.float32(0), 1.0).astype(jnp.float32)
                good, is_random = metrics.result == wanted, metrics.kind != SELF
                return state, (good, is_random, metrics.squared_error, metrics.positions)

            state, (good, is_random, error, positions) = jax.lax.scan(game, state, length=WINDOW)
            positions = jnp.maximum(jnp.sum(positions, 0), 1).astype(jnp.float32)
            won = jnp.mean(good, 0, where=is_random[:, None], dtype=jnp.float32)
            return (state, key), Counts(jnp.sum(good, 0, dtype=jnp.int32), 100 * won, jnp.sum(error, 0) / positions)

        def block(arguments):
            state, group = arguments
            (state, _), counts = jax.lax.scan(window, (state, jax.random.fold_in(key, group)), length=windows)
            return state, counts

        return self._spread(block, states, devices)

    def measure(self, states: SelfPlayState, key: Key[Array, ""], games: int, devices: int) -> Measured:
        """The shares of good games, [blocks, width], in `games` games on either side against random moves."""

        def block(arguments):
            state, group = arguments
            learner, inner = self.learner, jax.random.fold_in(key, group)

            def results(kind, games=games):
                of_kind = jax.random.fold_in(inner, kind)
                return learner.play(state.params, state.settings, kind, of_kind, games).result.reshape(games, -1)

            against_random = jax.lax.map(results, jnp.asarray([FIRST, SECOND], jnp.int32))
            drawn = results(jnp.int32(SELF), games=1)[0] == 0
            first, second = against_random
            return Measured(*(_share(good) for good in (drawn[None], first == 1, second == -1)))

        return self._spread(block, states, devices)

    def by_variant(self, of_blocks: Any) -> np.ndarray:
        """[blocks, ..., width] as [variants, ..., seeds]."""
        values = np.asarray(of_blocks)
        values = values.reshape(len(self.variants), self.groups, *values.shape[1:])
        return np.concatenate(np.moveaxis(values, 1, 0), axis=-1)[..., : self.seeds]

    def devices_for(self, available: int) -> int:
        """The most devices that get equally many blocks."""
        return max(n for n in range(1, available + 1) if self.blocks % n == 0)

    def _group(self) -> Int32[Array, " groups"]:
        return jnp.arange(self.groups, dtype=jnp.int32)

    def _spread(self, block: Any, states: SelfPlayState, devices: int) -> Any:
        """`block` of each block and the number of its group, one after the other on each device."""
        mesh, spec = device_mesh(devices, AXIS), PartitionSpec(AXIS)
        on_each = jax.shard_map(partial(jax.lax.map, block), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
        return on_each((states, jnp.tile(self._group(), len(self.variants))))


def _share(good: Bool[Array, "games width"]) -> Float32[Array, " width"]:
    return jnp.mean(good.astype(jnp.float32), axis=0)


def _settings(variant: Variant) -> SelfPlaySettings:
    kinds = [KINDS[kind] for kind in variant.cycle]
    return SelfPlaySettings(
        step_size=jnp.float32(variant.step_size),
        cycle=jnp.asarray(kinds * (CYCLE // len(kinds)), jnp.int32),
        both_sides=jnp.bool_(True),
        features=SquareFeatures(*map(jnp.float32, (variant.empty, variant.absolute, variant.side))),
    )


def lines_lost(populations: Populations, states: SelfPlayState) -> Int32[np.ndarray, "variants seeds"]:
    """How many of all possible lines of play each network loses, from both sides."""
    states = jax.device_get(states)
    learner = dataclasses.replace(populations.learner, members=1)

    def of_network(variant: int, seed: int) -> int:
        return every_line(self_play("network", *populations.network(states, variant, seed), learner)).lost

    variants, seeds = range(len(populations.variants)), range(populations.seeds)
    return np.array([[of_network(variant, seed) for seed in seeds] for variant in variants], np.int32)
