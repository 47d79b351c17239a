"""Hill climbing by play: one network, moved a little towards each mutant that beats it."""

import dataclasses
from typing import ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.evolution import Evolution, EvolutionConfig, Scores, Strategy
from jaxgames.algos.evolution.operators import Gaussian, Mutation, candidate_bits
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.td.config import GAMES_BETWEEN_TESTS, STEP_SIZES, Tests, first_tests
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import group, setting

BOUNDS = ("clip", "scale")


class Match(Protocol):
    """Plays the champion against a mutant."""

    def __call__(
        self, champion: Float32[Array, " dimension"], mutant: Float32[Array, " dimension"], key: Key[Array, ""], /
    ) -> Float32[Array, "..."]:
        """The points of the mutant: in each game, or their sum."""
        ...


class HillClimbState(NamedTuple):
    """The champion, how many mutants it has met and how many of them have beaten it, and the tests that decide the
    step size, if any do.
    """

    champion: Float32[Array, " dimension"]
    key: Key[Array, ""]
    mutants: Int32[Array, ""]
    wins: Int32[Array, ""]
    tests: Tests | None = None


class HillClimbMetrics(NamedTuple):
    """One match: the points of the mutant in all games, and whether it won."""

    points: Float32[Array, ""]
    won: Bool[Array, ""]


@dataclasses.dataclass(frozen=True)
class HillClimb(Strategy):
    """Pollack and Blair (1998), "Co-Evolution in the Successful Learning of Backgammon Strategy": the champion plays
    against a mutant of itself, and if the mutant makes more than `margin` points in all games together (NaN is no win),

        champion <- champion + factor * (mutant - champion).

    The step is small, since a mutant may win by luck. Weights begin at zero. The bound `clip` keeps each weight
    in [-limit, limit], also in mutants; `scale` divides all weights of the champion by the same number when
    one of them is outside (Ebert 2007, section 2.4). With `tested` the factor is one of `STEP_SIZES`; tests lower it
    when the champion stops improving. Raises `ValueError` for a factor outside (0, 1], a limit that is not above
    0, an odd number of games, and another bound.
    """

    dimension: int
    mutation: Mutation = Gaussian(0.05)
    factor: float = 0.05
    limit: float = 1.0
    margin: float = 0.0
    bound: str = "clip"
    games: int = 4
    """Games of champion and mutant in a generation, in pairs with the same dice."""
    tested: bool = False

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.whole("dimension", self.dimension)
        if checks.whole("games", self.games) % 2:
            raise ValueError(f"games={self.games}: expected an even number, since they come in pairs")
        checks.function("mutation", self.mutation, "(genomes, bits) -> genomes")
        for name in ("factor", "limit", "margin"):
            checks.number(name, getattr(self, name), "a number")
        checks.text("bound", self.bound, BOUNDS[0])
        if not 0 < self.factor <= 1:
            raise ValueError(f"factor={self.factor}: expected a number above 0, and at most 1")
        if not self.limit > 0:
            raise ValueError(f"limit={self.limit}: expected a number above 0")
        if self.bound not in BOUNDS:
            raise ValueError(f"bound={self.bound!r}: expected one of {', '.join(BOUNDS)}")

    @override
    def init(self, key: Key[Array, ""]) -> HillClimbState:
        checks.key(key)
        champion = jnp.zeros(self.dimension, jnp.float32)
        tests = first_tests(champion) if self.tested else None
        return HillClimbState(champion, copied(key), jnp.int32(0), jnp.int32(0), tests)

    @override
    def generation(self, state: HillClimbState, evolution: Evolution) -> tuple[HillClimbState, Scores]:
        # The best score is 1 if the mutant has won, the mean its points per game.
        def match(champion: Array, mutant: Array, key: Key[Array, ""]) -> Float32[Array, " games"]:
            return evolution.duel(mutant, champion, key, self.games // 2)

        after, metrics = self.update(state, match)
        return after, Scores(metrics.won.astype(jnp.float32), metrics.points * np.float32(1 / self.games))

    @override
    def best_networks(self, state: HillClimbState) -> Float32[Array, "1 dimension"]:
        return state.champion[None]

    @override
    def sample(self, state: HillClimbState) -> Float32[Array, "2 dimension"]:
        return jnp.stack([state.champion, self.mutant(state)])

    def update(self, state: HillClimbState, match: Match) -> tuple[HillClimbState, HillClimbMetrics]:
        """One match with one mutant."""
        tests = state.tests
        step_size = jnp.float32(self.factor) if tests is None else jnp.asarray(STEP_SIZES, jnp.float32)[tests.place]
        key = jax.random.fold_in(state.key, state.mutants)
        mutant = self.mutant(state)
        checks.function("match", match, "(champion, mutant, key) -> points")
        points = checks.floats("the match's points", match(state.champion, mutant, jax.random.fold_in(key, 1)))
        won = jnp.sum(points) > np.float32(self.margin)
        moved = self._bounded(state.champion + step_size * (mutant - state.champion))
        champion = jnp.where(won, moved, state.champion)
        wins = state.wins + won.astype(jnp.int32)
        after = state._replace(champion=champion, mutants=state.mutants + 1, wins=wins)
        return after, HillClimbMetrics(jnp.sum(points), won)

    def mutant(self, state: HillClimbState) -> Float32[Array, " dimension"]:
        """The mutant that the champion meets next."""
        key = jax.random.fold_in(state.key, state.mutants)
        bits = candidate_bits(key, jnp.zeros(1, jnp.int32))
        mutant = self.mutation(state.champion[None], bits)[0]
        return self._bounded(mutant) if self.bound == "clip" else mutant

    def champion(self, state: HillClimbState) -> Float32[Array, " dimension"]:
        """The champion."""
        return state.champion

    def _bounded(self, weights: Float32[Array, " dimension"]) -> Float32[Array, " dimension"]:
        if self.bound == "clip":
            return jnp.clip(weights, -self.limit, self.limit)
        return weights / jnp.maximum(1.0, jnp.max(jnp.abs(weights)) / self.limit)


@dataclasses.dataclass(frozen=True)
class HillClimbConfig(EvolutionConfig):
    """Settings of `hill_climb`: one champion against a mutant."""

    name: ClassVar[str] = "hill_climb"

    network: NetworkConfig = group(NetworkConfig(plays="afterstate"))
    sigma: float = setting(0.05, "the standard deviation of the noise on each weight", low=0, high=10)
    factor: float = setting(
        0.05,
        "how far the champion moves towards a mutant that wins",
        above=0,
        high=1,
        when={"schedule": "constant"},
    )
    duel: int = setting(4, "games between champion and mutant, in pairs with the same dice", low=1, high=10**6)
    schedule: str = setting(
        "constant",
        "constant: the factor stays; tested: it goes from 0.25 down to 0.001, a step each time the champion stops "
        "getting better, which is tested every 1,000 games",
        choices=("constant", "tested"),
    )
    bound: str = setting(
        "clip",
        "how weights stay in [-1, 1]; clip: each weight is cut off there; scale: all are divided by the same number",
        choices=BOUNDS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.plays == "outputs":
            raise ValueError("hill_climb needs networks that value positions: plays=afterstate or outcomes")
        if self.duel % 2:
            raise ValueError(f"duel={self.duel} games: expected an even number, since they come in pairs")
        if self.schedule == "tested" and GAMES_BETWEEN_TESTS % self.duel:
            raise ValueError(f"duel={self.duel} games: expected a divisor of 1,000, after which there is a test")

    @property
    @override
    def generations_per_line(self) -> int | None:
        return GAMES_BETWEEN_TESTS // self.duel if self.schedule == "tested" else None

    @override
    def strategy(self, mesh: Mesh | None) -> HillClimb:
        return HillClimb(
            self.network.genomes().dimension, Gaussian(self.sigma), self.factor, bound=self.bound, games=self.duel,
            tested=self.schedule == "tested",
        )  # fmt: skip

    @override
    def games(self, generations: int, without: tuple[str, ...] = ()) -> int:
        return generations * self.duel
