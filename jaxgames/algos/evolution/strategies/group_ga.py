"""Groups that evolve against each other's best: co-evolution whose opponents change only from turn to turn."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.evolution import CROSSOVERS, Evolution, ScoredConfig, Scores, Strategy
from jaxgames.algos.evolution.operators import (
    Crossover,
    Multiplicative,
    Mutation,
    Truncation,
    best_first,
    candidate_bits,
    offspring,
)
from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import setting

SCHEDULES = ("sequential", "parallel")
SHUFFLING = 2**32 - 1
"""The number that is folded into a turn's key to shuffle its opponents; those from 0 on are for the iterations."""


class PlayMatrix(Protocol):
    """Plays n candidates against k opponents."""

    def __call__(
        self,
        genomes: Float32[Array, "n dimension"],
        opponents: Float32[Array, "k dimension"],
        numbers: Int32[Array, " n"],
        key: Key[Array, ""],
        /,
    ) -> Float32[Array, "n k"]:
        """The candidates' scores, higher is better. `numbers` are those of the candidates: group * members + place."""
        ...


_Scored = Callable[[Array, Array, Array], Array]
"""Scores [groups, places] of the members [groups, places, dimension] at these places, by a key."""


class GroupState(NamedTuple):
    """The members of each group: first those that were kept, best first, with their scores, then the
    children of the last iteration, which have no scores yet (NaN, as all members before the first turn); and the number
    of rounds.
    """

    genomes: Float32[Array, "groups members dimension"]
    scores: Float32[Array, "groups members"]
    key: Key[Array, ""]
    round: Int32[Array, ""]


class GroupMetrics(NamedTuple):
    """One round: the number of scored pairings (one game each, or as many as the play matrix plays), and the members'
    scores at the end of each group's turn, as in the state.
    """

    games: Int32[Array, ""]
    scores: Float32[Array, "groups members"]


@dataclasses.dataclass(frozen=True)
class GroupGA(Strategy):
    """Truncation selection in `groups` groups of `members`, each against the `best` best of every other group.

    A group's turn consists of `iterations` steps: members without a score in this turn are scored against the
    opponents, all are sorted, and children of the best `keep` replace the worst; parents are drawn by rank
    floor(U1 U2 keep). Since the opponents stay the same for the whole turn, kept members are never scored twice,
    and the children of the last step are scored in the next turn. A score is the sum over all opponents, NaN is the
    worst, and among equal scores the older member comes first. The opponents are shuffled before each turn, so
    that chance decides who begins if the play matrix goes by their places.

    In a round each group has one turn. `sequential`: one after the other, so a group meets groups that have already
    changed in this round. `parallel`: all at once, against the others' members at the beginning of the round.

    Raises `ValueError` for numbers that leave no opponents or no room for children, and other schedules.
    """

    dimension: int
    first: InitGenomes
    groups: int = 20
    members: int = 10
    keep: int = 5
    best: int = 2
    iterations: int = 100
    mutation: Mutation = Multiplicative(0.2)
    crossover: Crossover | None = None
    schedule: str = "sequential"

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.whole("dimension", self.dimension, 1)
        for name in ("groups", "members", "keep", "best", "iterations"):
            checks.whole(name, getattr(self, name), None)
        checks.function("first", self.first, "(key, numbers) -> genomes")
        checks.function("mutation", self.mutation, "(genomes, bits) -> genomes")
        if self.groups < 2:
            raise ValueError(f"groups={self.groups}: expected at least 2, to play against each other")
        if not 1 <= self.keep < self.members:
            raise ValueError(f"keep={self.keep} of {self.members} members: expected 1 to {self.members - 1}")
        if not 1 <= self.best <= self.members:
            raise ValueError(f"best={self.best} of {self.members} members: expected 1 to {self.members}")
        if self.iterations < 1:
            raise ValueError(f"iterations={self.iterations}: expected a number from 1")
        if self.schedule not in SCHEDULES:
            raise ValueError(f"unknown schedule {self.schedule!r}; expected one of {', '.join(SCHEDULES)}")

    @property
    def opponents(self) -> int:
        """How many opponents a candidate meets."""
        return (self.groups - 1) * self.best

    @property
    def games(self) -> int:
        """The pairings of a round. Members that pad the last part of a turn's first scores are scored twice."""
        return self.groups * self._steps * (self.members - self.keep) * self.opponents

    @override
    def init(self, key: Key[Array, ""]) -> GroupState:
        checks.key(key)
        genomes = self.first(key, jnp.arange(self.groups * self.members, dtype=jnp.int32))
        scores = jnp.full((self.groups, self.members), jnp.nan, jnp.float32)
        return GroupState(genomes.reshape(*scores.shape, self.dimension), scores, copied(key), jnp.int32(0))

    @override
    def init_from(self, key: Key[Array, ""], networks: Float32[Array, "n dimension"]) -> GroupState:
        # All members of a group are one network; there is one for each group, or for all.
        if len(networks) not in (1, self.groups):
            raise ValueError(
                f"{len(networks)} networks; expected one, or {self.groups} for as many groups (--set groups=N)"
            )
        shape = (self.groups, self.members, networks.shape[1])
        return self.init(key)._replace(genomes=jnp.broadcast_to(networks[:, None], shape))

    @override
    def generation(self, state: GroupState, evolution: Evolution) -> tuple[GroupState, Scores]:
        after, metrics = self.update(state, evolution.matrix)
        possible = jnp.float32(self.opponents * evolution.scored.games_per_opponent)
        best = metrics.scores[:, 0] / possible
        return after, Scores(jnp.max(best), jnp.mean(best), self.champions(after))

    @override
    def best_networks(self, state: GroupState) -> Float32[Array, "groups dimension"]:
        order = best_first(state.scores[:, 0])
        return self.champions(state).at[order].get(mode="clip")

    @override
    def sample(self, state: GroupState) -> Float32[Array, "members dimension"]:
        return state.genomes.reshape(-1, state.genomes.shape[-1])

    def update(self, state: GroupState, play_matrix: PlayMatrix) -> tuple[GroupState, GroupMetrics]:
        """One round."""
        key = jax.random.fold_in(state.key, state.round)
        turns = self._sequential if self.schedule == "sequential" else self._parallel
        genomes, scores = turns(state, play_matrix, key)
        return GroupState(genomes, scores, state.key, state.round + 1), GroupMetrics(jnp.int32(self.games), scores)

    def champions(self, state: GroupState) -> Float32[Array, "groups dimension"]:
        """The best member of each group."""
        return state.genomes[:, 0]

    def champion(self, state: GroupState) -> Float32[Array, " dimension"]:
        """The champion with the highest score. Scores of different groups come from different opponents, so it is only
        a guess at the best.
        """
        return state.genomes[best_first(state.scores[:, 0])[0], 0]

    def _sequential(self, state: GroupState, play_matrix: PlayMatrix, key: Key[Array, ""]) -> tuple[Array, Array]:
        others = jnp.arange(self.groups - 1, dtype=jnp.int32)

        def turn(genomes: Array, group: Array) -> tuple[Array, Array]:
            rivals = genomes.at[others + (others >= group).astype(jnp.int32), : self.best].get(mode="clip")
            own_key = jax.random.fold_in(key, group)
            met = rivals.reshape(-1, self.dimension)[_shuffled(self.opponents, own_key)]

            def scored(genomes: Array, places: Array, key: Array) -> Array:
                points = play_matrix(genomes[0], met, group * self.members + places, key)
                checks.array("the play matrix's points", points, jnp.floating, (len(places), self.opponents))
                return jnp.sum(points.astype(jnp.float32), axis=1)[None]

            own, scores = self._turn(genomes[group][None], group[None], scored, own_key)
            return lax.dynamic_update_slice_in_dim(genomes, own, group, axis=0), scores[0]

        return lax.scan(turn, state.genomes, jnp.arange(self.groups, dtype=jnp.int32))

    def _parallel(self, state: GroupState, play_matrix: PlayMatrix, key: Key[Array, ""]) -> tuple[Array, Array]:
        order = _shuffled(self.groups * self.best, key)
        met = state.genomes[:, : self.best].reshape(-1, self.dimension)[order]
        groups = jnp.arange(self.groups, dtype=jnp.int32)
        # All members play against all groups' best; games within a group are left out of the sum.
        other = groups[:, None] != (order // self.best)[None]

        def scored(genomes: Array, places: Array, key: Array) -> Array:
            numbers = (groups[:, None] * self.members + places[None]).reshape(-1)
            points = play_matrix(genomes.reshape(-1, self.dimension), met, numbers, key)
            checks.array("the play matrix's points", points, jnp.floating, (len(numbers), len(met)))
            points = points.astype(jnp.float32).reshape(self.groups, len(places), -1)
            return jnp.sum(jnp.where(other[:, None], points, 0.0), axis=2)

        return self._turn(state.genomes, groups, scored, key)

    def _turn(self, genomes: Array, groups: Array, scored: _Scored, key: Key[Array, ""]) -> tuple[Array, Array]:
        """The turns of these groups at once: their members and scores.

        First all members are scored, in parts as large as an iteration's children: so the program plays games in only
        one place, and they are compiled once.
        """
        total, count = self.groups * self.members, self.members - self.keep
        selection = Truncation(self.keep)
        elite = jnp.zeros(count, bool)
        parent = jnp.arange(1 if self.crossover is None else self.crossover.parents, dtype=jnp.int32)[None]

        def step(carry: tuple[Array, Array], number: Array) -> tuple[tuple[Array, Array], None]:
            genomes, scores = carry
            start = jnp.minimum(number * count, self.keep)
            places = start + jnp.arange(count, dtype=jnp.int32)
            iteration = jnp.maximum(number + 1 - self._parts, 0)
            points = scored(
                lax.dynamic_slice_in_dim(genomes, start, count, axis=1), places, jax.random.fold_in(key, iteration)
            )
            scores = lax.dynamic_update_slice_in_dim(scores, points, start, axis=1)
            own_key = jax.random.fold_in(key, iteration + 1)

            def children(genomes: Array, scores: Array, group: Array) -> Array:
                numbers = group * self.members + places
                # Numbers beyond the candidates', so that parents get separate bits.
                draws = (numbers[:, None] + total) * parent.size + parent
                drawn = selection(scores[: self.keep], candidate_bits(own_key, draws))
                bits = candidate_bits(own_key, numbers)
                return offspring(genomes[: self.keep], drawn, elite, bits, self.mutation, self.crossover)

            def bred() -> tuple[Array, Array]:
                ranked, points = _sorted(genomes, scores)
                born = jax.vmap(children)(ranked, points, groups)
                kept = ranked[:, : self.keep], points[:, : self.keep]
                return jnp.concatenate([kept[0], born], axis=1), jnp.concatenate([kept[1], unknown[:, :count]], axis=1)

            return lax.cond(number + 1 < self._parts, lambda: (genomes, scores), bred), None

        unknown = jnp.full(genomes.shape[:2], jnp.nan, jnp.float32)
        return lax.scan(step, (genomes, unknown), jnp.arange(self._steps, dtype=jnp.int32))[0]

    @property
    def _parts(self) -> int:
        return -(-self.members // (self.members - self.keep))

    @property
    def _steps(self) -> int:
        """How many parts are scored in a turn, each as large as an iteration's children; first come all members."""
        return self._parts + self.iterations - 1


def _shuffled(number: int, key: Key[Array, ""]) -> Int32[Array, " number"]:
    """The numbers below `number` in random order."""
    bits = candidate_bits(jax.random.fold_in(key, SHUFFLING), jnp.arange(number, dtype=jnp.int32))
    return jnp.argsort(bits).astype(jnp.int32)


def _sorted(genomes: Array, scores: Array) -> tuple[Array, Array]:
    """Each group's members, best first."""

    def group(genomes: Array, scores: Array) -> tuple[Array, Array]:
        order = best_first(scores)
        return genomes.at[order].get(mode="clip"), scores.at[order].get(mode="clip")

    return jax.vmap(group)(genomes, scores)


@dataclasses.dataclass(frozen=True)
class GroupsConfig(ScoredConfig):
    """Settings of `groups`: groups of networks that meet each other's best."""

    name: ClassVar[str] = "groups"
    unit: ClassVar[str] = "rounds"

    groups: int = setting(20, "how many groups there are", low=2, high=10_000)
    members: int = setting(10, "networks of a group", low=2, high=10_000)
    keep: int = setting(5, "how many of the best have children", low=1, high=2**24)
    rate: float = setting(
        0.2, "a mutation turns each weight x into x + r x, with r uniform in [-rate, rate]", low=0, high=10
    )
    turn: int = setting(
        100,
        "iterations of a group while all others stay as they are; in each one new members are scored, and the worst "
        "replaced",
        low=1,
        high=10**6,
    )
    schedule: str = setting(
        "sequential",
        "sequential: one group after another; parallel: all at once, against the best at the beginning of the turn",
        choices=SCHEDULES,
    )
    crossover: str = setting("none", "how two parents make a child; none: one parent", choices=CROSSOVERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep >= self.members:
            raise ValueError(f"keep={self.keep} of groups of {self.members}: expected less")

    @property
    @override
    def champions(self) -> int:
        return self.groups

    @override
    def strategy(self, mesh: Mesh | None) -> GroupGA:
        genomes = self.network.genomes()
        return GroupGA(
            genomes.dimension, genomes.init, self.groups, self.members, self.keep, iterations=self.turn,
            mutation=Multiplicative(self.rate), crossover=self.crossover_named(self.crossover), schedule=self.schedule,
        )  # fmt: skip

    @override
    def games(self, generations: int, without: tuple[str, ...] = ()) -> int:
        return generations * self.strategy(None).games * self.games_per_opponent
