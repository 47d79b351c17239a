"""Selection rules: which edge a simulation takes from a node. The classic ones, UCT and PUCT, and RMCTS."""

import copy
import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32
from typing_extensions import override

from jaxgames.algos.mcts.nodes import Edges, Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.tree import Tree
from jaxgames.envs.core import Game
from jaxgames.ops import checks
from jaxgames.ops.random_bits import fold_in
from jaxgames.ops.settings import Settings, setting

FIRST = np.float32(1e9)
"""The score of an edge without visits, if those come first."""
MOST_NUMBER = 1e15
"""The largest constant of a rule: with larger ones, squares and products with visits overflow float32."""
A_RULE = "a rule, such as mcts.puct()"

Score = Callable[[Edges], Array]


class Statistic(Protocol):
    """What a rule keeps in the tree besides visits and sums of values, updated from the leaf upwards."""

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Updates the leaf's own node.

        Returns the tree, and what the lanes pass upwards: arrays whose first axis is lanes.
        """
        ...

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Updates one level of the paths, after its visits and sums of values.

        `value` is that of the leaf to the player at the root. Returns the tree, and what lanes pass further up. A
        statistic may also have `finish(tree, value, carried)`, which runs after the root's update and gives the tree.
        """
        ...


class Rule(Protocol):
    """Scores the edges of a node; a simulation takes the legal edge with the highest score. A rule is hashable.

    Attributes:
        edge_fields, node_fields: columns of the tree that the rule needs besides those that all trees have.
        initial: their first values if not 0, in units of `Game.max_reward`.
        statistics: update these columns.
        root_merges: how to merge fields of the roots of several trees of one position; for other fields the first
            tree's values stay.
        needs_policy: whether the evaluator has to give logits.
        wants_played: whether `statistics` use the actions that the evaluator played.
        transpositions: whether nodes of equal positions are one: "no", "positions", or "symmetries" for mirror images
            too.
        schedules_root: whether the root is scored by `root_score`, by a schedule for the whole search.
        keeps_tree: whether simulations go down a tree, one after another.
        constants: the numbers that `with_numbers` can change.
    """

    edge_fields: tuple[str, ...] = ()
    node_fields: tuple[str, ...] = ()
    initial: tuple[tuple[str, float], ...] = ()
    statistics: tuple[Statistic, ...] = ()
    root_merges: tuple[tuple[str, Callable[..., Array]], ...] = (("visits", jnp.sum), ("value_sums", jnp.sum))
    needs_policy: bool = False
    wants_played: bool = False
    transpositions: str = "no"
    schedules_root: bool = False
    keeps_tree: bool = True
    constants: tuple[str, ...] = ()

    def score(self, nodes: Nodes) -> Score:
        """The function that scores edges of these nodes."""
        ...

    def root_score(self, nodes: Nodes) -> Score:
        """As `score`, at the root."""
        return self.score(nodes)

    def schedule(self, num_simulations: int) -> Self:
        """The rule for a search of so many simulations."""
        return self

    def most_simulations(self, game: Game) -> int | None:
        """The most simulations of one search, if the rule cannot use any number."""
        return None

    def proven_edge(
        self, tree: Tree, row: Int32[Array, " n"], edge: Int32[Array, " n"]
    ) -> tuple[Bool[Array, " n"], Float32[Array, " n"]] | None:
        """Whether the value of an edge is proven, and that value to the player to act; None if nothing ever is."""
        return None

    def proven_node(self, nodes: Nodes) -> tuple[Bool[Array, "..."], Float32[Array, "..."]] | None:
        """As `proven_edge`, for nodes."""
        return None

    def preference(self, nodes: Nodes) -> Score:
        """Scores the actions at the root to choose the one to play: most visits, among equals the greatest mean."""
        most = 4.0 * nodes.layout.game.max_reward
        return lambda edges: edges.visits + edges.q / most

    def mean(self, nodes: Nodes) -> Score:
        """What an edge is worth in points, without any bonus for exploration."""
        return lambda edges: edges.q

    def mean_preference(self, nodes: Nodes) -> Score:
        """As `preference`, but by the greatest mean among the visited actions."""
        mean = self.mean(nodes)
        return lambda edges: jnp.where(edges.visits > 0, mean(edges), -4.0 * nodes.layout.game.max_reward)

    def weights(self, nodes: Nodes) -> Score:
        """The policy that the search found, not yet normalized: the visits."""
        return lambda edges: edges.visits

    def with_numbers(self, numbers: Mapping[str, Any]) -> Self:
        """The rule with other constants: arrays, one number for each tree or one for all.

        Raises `ValueError` for unknown names.
        """
        known = self.constants
        for name in numbers:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no number {name!r}; it has: {', '.join(known) or 'none'}")
        return self._with(**numbers)

    def _with(self, **values: Any) -> Self:
        """A copy with other values, unchecked: they may be traced."""
        changed = copy.copy(self)
        for name, value in values.items():
            object.__setattr__(changed, name, value)
        return changed


def exploration(default: float, help: str = "how much is explored") -> Any:
    """The setting of an exploration constant."""
    return setting(default, help, low=-1_000_000, high=1_000_000)


@dataclasses.dataclass(frozen=True)
class UCT(Settings, Rule):
    """UCT (Kocsis and Szepesvari, 2006): the mean of an edge + c sqrt(ln N / n), edges without visits first.

    Means are scaled to 0..1, from the worst to the best result of the game, as is usual for `c`. N is the number of
    visits of the node, n that of the edge. Edges without visits come in random order.
    """

    of: ClassVar[str] = "UCT"
    c: float = exploration(0.5)
    constants = ("c",)

    @override
    def score(self, nodes: Nodes) -> Score:
        return untried_first(plus_bound(nodes, self.c, self.mean(nodes)))


@dataclasses.dataclass(frozen=True)
class PUCT(Settings, Rule):
    """PUCT (Silver et al., 2018): value + P sqrt(N) (c_init + ln((N + c_base + 1) / c_base)) / (n + 1).

    P is the network's policy, N the visits of the node including the first one, n those of the edge. Edges without
    visits have value 0. Values are scaled to 0..1, by `qtransform` under the names of mctx. "min_max": from the worst
    to the best result of the game. "parent_and_siblings": from the least to the greatest value among the node and its
    edges, as in MuZero (Schrittwieser et al., 2020) and by default in mctx.
    """

    of: ClassVar[str] = "PUCT"
    c_init: float = exploration(1.25, "how much the policy counts")
    c_base: float = setting(19652.0, "visits after which the policy counts more", low=1e-6, high=1e9)
    qtransform: str = setting("min_max", "how values are scaled", choices=("min_max", "parent_and_siblings"))
    edge_fields = ("prior",)
    needs_policy = True

    @override
    def score(self, nodes: Nodes) -> Score:
        total = nodes.sum(lambda edges: edges.visits) + 1
        rate = jnp.sqrt(total) * (self.c_init + jnp.log((total + (self.c_base + 1)) / self.c_base))
        low, span = self._range(nodes, total)

        def score(edges):
            value = jnp.where(edges.visits > 0, (edges.q - low) / span, 0)
            return value + edges.prior * (rate / (edges.visits + 1))

        return score

    def _range(self, nodes: Nodes, total: Array) -> tuple[Array | float, Array | float]:
        """The value that becomes 0, and the span up to the one that becomes 1."""
        if self.qtransform == "min_max":
            most = float(nodes.layout.game.max_reward)
            return -most, 2 * most
        node_value = (nodes.node("raw_value") + nodes.sum(lambda edges: edges.value_sums)) / total

        def value(edges):
            return jnp.where(edges.visits > 0, edges.q, node_value)

        low = jnp.minimum(node_value, nodes.min(value))
        return low, jnp.maximum(jnp.maximum(node_value, nodes.max(value)) - low, 1e-8)


@dataclasses.dataclass(frozen=True)
class Recursive(Settings, Rule):
    """A search level by level, see `mcts.levels` (Frankston and Howard, 2026): few, large batches of the network.

    Its tree does not follow the values, so its simulations are worth less than those of PUCT, but take less time. It
    needs a network with a policy, and keeps no tree.
    """

    of: ClassVar[str] = "the recursive search"
    c: float = setting(1.25, "how much the policy counts beside the values", above=0)
    needs_policy = True
    schedules_root = True
    keeps_tree = False

    @override
    def score(self, nodes: Nodes) -> Score:
        raise NotImplementedError("the trees of this search are not walked down")


def check_rule(name: str, value: Any) -> Any:
    """A selection rule that was made; raises `TypeError` for anything else."""
    return checks.made(name, value, ("score", "schedule", "schedules_root"), A_RULE)


def check_numbers(numbers: Any, trees: int) -> None:
    """Raises `TypeError` or `ValueError` unless these are constants by name, for so many trees."""
    if numbers is not None and not isinstance(numbers, Mapping):
        raise TypeError(
            f"numbers {checks.describe(numbers)}: expected constants of the rule by name, such as {{'c': 0.5}}"
        )
    for name, value in (numbers or {}).items():
        expected = f"numbers {name} {checks.describe(value)}: expected one number, or one for each of {trees} trees"
        known = not isinstance(value, jax.Array)  # arrays on a device are not checked
        if not checks.is_array(value) and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TypeError(expected)
        if np.shape(value) not in ((), (trees,)) or str(getattr(value, "dtype", "")) == "bool":
            raise ValueError(expected)
        if known and not np.all(np.abs(value) <= MOST_NUMBER):
            raise ValueError(f"numbers {name} {checks.describe(value)}: expected numbers from -1e15 to 1e15")


def plus_bound(nodes: Nodes, c: Any, mean: Score, count: Score | None = None, total: Array | None = None) -> Score:
    """A mean in points, scaled to 0..1, + c sqrt(ln N / n); n is `count` and N `total`, by default visits.

    Computed as sqrt(c^2 ln N / n). A product c x sqrt(...) could be fused with the sum into one instruction, which
    rounds only once; the compiler may do this for some edges only, and equal edges would then differ.
    """
    most = nodes.layout.game.max_reward
    c = of_nodes(nodes, c)
    sign = math.copysign(1, c) if isinstance(c, float | int) else jnp.where(c < 0, jnp.float32(-1), 1.0)
    count = count or (lambda edges: edges.visits)
    log = c**2 * jnp.log(jnp.maximum(nodes.sum(count) if total is None else total, 1))
    return lambda edges: (mean(edges) / most + 1) / 2 + sign * jnp.sqrt(log / jnp.maximum(count(edges), 1))


def of_nodes(nodes: Nodes, number: Any) -> Any:
    """A constant of a rule; if it is an array, one for each tree, in a shape that broadcasts against edges."""
    return nodes.expand_dims(number[nodes.lanes]) if getattr(number, "ndim", 0) else number


def untried_first(score: Score) -> Score:
    """As `score`, but edges without visits come before all others, in random order."""

    def first(edges):
        bits = edges.random_bits(edges.nodes.bits)
        noise = (fold_in(bits, edges.index) >> 8).astype(jnp.float32) * 64  # float32 near FIRST has steps of 64
        return jnp.where(edges.visits == 0, FIRST + noise, score(edges))

    return first
