"""What an evaluator is: it gives leaves a value, and possibly a policy.

This file has those without rollouts: networks (`network`, or `valued` without a policy), mixtures, and exact values.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.envs.core import Game, Value
from jaxgames.ops import checks
from jaxgames.ops.pytrees import by_its_object
from jaxgames.ops.random_bits import fold_in
from jaxgames.tables.lookup import LeafKnowledge

AN_EVALUATOR = "an evaluator, such as mcts.rollout() or mcts.network(apply, params)"


class Evaluation(NamedTuple):
    """An evaluation of a batch of positions.

    Attributes:
        value: points to the player to act.
        logits: of the actions; None if the evaluator has no policy.
        played: the AMAF keys (`Game.amaf_key`) of the actions by which a rollout played on, as sets of bits: those of
            the player to act, then those of the other; None if it played none.
    """

    value: Float32[Array, " batch"]
    logits: Float32[Array, "batch actions"] | None = None
    played: UInt32[Array, "batch 2 words"] | None = None


class Evaluator(Protocol):
    """Evaluates leaves. A pytree whose arrays are parameters; its memory, if it has one, is another pytree."""

    @property
    def has_policy(self) -> bool:
        """Whether it gives logits."""
        ...

    def init(self, game: Game, batch: int) -> Any:
        """The memory before the first simulation; by default there is none."""
        return ()

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Evaluates the leaves where `needs_eval`; elsewhere it may return any finite value.

        Args:
            game: the game.
            leaves: the positions, and how the search came to them.
            memory: what the evaluator has learned so far.
            track: whether the rule wants `Evaluation.played`.

        Returns:
            The evaluation and the new memory.
        """
        ...


def check_evaluator(name: str, value: Any) -> Any:
    """An evaluator that was made; raises `TypeError` for anything else."""
    return checks.made(name, value, ("has_policy", "init", "__call__"), AN_EVALUATOR)


def check_memory(evaluate: Evaluator, game: Game, batch: int, memory: Any) -> None:
    """Raises `ValueError` unless it is a memory of this evaluator for so many trees; None means no memory yet."""
    if memory is None:  # asked in every search, and to trace `init` takes as long as many simulations
        return
    expected = jax.eval_shape(lambda: evaluate.init(game, batch))
    if _shapes(memory) == _shapes(expected):
        return
    name = type(evaluate).__name__
    if not jax.tree.leaves(expected):
        raise ValueError(f"memory {checks.describe(memory)}: {name} learns nothing; leave memory out")
    raise ValueError(
        f"memory {checks.describe(memory)}: expected result.memory of a search by {name} in {batch:,} trees"
    )


def _shapes(memory: Any) -> Any:
    leaves, structure = jax.tree.flatten(memory)
    return structure, [(getattr(leaf, "shape", None), getattr(leaf, "dtype", None)) for leaf in leaves]


def evaluated(
    evaluate: Evaluator, game: Game, leaves: SelectedLeaf, memory: Any, track: bool
) -> tuple[Evaluation, Any]:
    """An evaluator's result, in float32; raises `TypeError` or `ValueError` unless it is an evaluation of so many
    positions.
    """
    result = evaluate(game, leaves, memory, track)
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Evaluation)):
        raise TypeError(f"the evaluator gives {checks.describe(result)}: expected (mcts.Evaluation, memory)")
    (value, logits, played), after = result
    batch = len(leaves.needs_eval)
    checks.array("the evaluator's value", value, jnp.floating, (batch,))
    if logits is not None:
        checks.array("the evaluator's logits", logits, jnp.floating, (batch, game.num_actions))
        logits = logits.astype(jnp.float32)
    return Evaluation(value.astype(jnp.float32), logits, played), after


def empty_key_sets(game: Game, positions: Any) -> UInt32[Array, "batch 2 words"]:
    """Sets of AMAF keys of two players, all empty."""
    keys = jax.eval_shape(jax.vmap(game.amaf_key, in_axes=(0, None)), positions, jax.ShapeDtypeStruct((), jnp.int32))
    return jnp.zeros((keys.shape[0], 2, keys.shape[1]), jnp.uint32)


def leaves_of(
    game: Game,
    position: Any,
    opponent: Bool[Array, " n"],
    needs_eval: Bool[Array, " n"],
    reward: Float32[Array, " n"],
    bits: UInt32[Array, " n"],
) -> SelectedLeaf:
    """Positions without a tree, as leaves."""
    none = jnp.zeros_like(bits, jnp.int32)
    return SelectedLeaf(
        position=position, opponent_to_move=opponent, amaf_key=empty_key_sets(game, position)[:, 0],
        needs_eval=needs_eval, exact_value=jnp.where(opponent, -reward, reward), bits=bits, path=[], tree=None,
        row=none, edge=none, child=jnp.zeros_like(reward), is_unexpanded=needs_eval, is_end=~needs_eval,
        is_exact=~needs_eval, slot=jnp.int32(0),
    )  # fmt: skip


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Network(Evaluator):
    """See `network`."""

    params: Any
    apply: Callable = dataclasses.field(metadata={"static": True})
    has_policy = True

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Applies the network to the observations."""
        observation = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(leaves.position)
        output = self.apply(self.params, observation)
        batch = len(leaves.needs_eval)
        logits, value = checks.policy_and_value(output, batch, game.num_actions, game.id)
        return Evaluation(value.astype(jnp.float32), logits.astype(jnp.float32)), memory


def network(apply: Callable, params: Any) -> Network:
    """A network `apply(params, observation) -> (logits [B, actions], value [B])`, the value in points.

    Logits of illegal actions are ignored, unless they are NaN: one NaN makes all logits of its position equal, and the
    value of the whole search NaN. `apply` has to be hashable; other `params` need no new compilation. At a chance node
    the network sees the position before chance.
    """
    checks.function("apply", apply, "(params, observation) -> (logits, value)")
    return Network(params, by_its_object(apply))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Valued(Evaluator):
    """See `valued`."""

    params: Any
    make_value: Callable[[Any], Value] = dataclasses.field(metadata={"static": True})
    has_policy = True

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Computes the values."""
        value = checks.floats("the value of positions", self.make_value(self.params)(leaves.position))
        checks.array("the value of positions", value, jnp.floating, (len(leaves.needs_eval),))
        return Evaluation(value, jnp.zeros((len(value), game.num_actions), jnp.float32)), memory


def valued(make_value: Callable[[Any], Value], params: Any) -> Valued:
    """Values of positions, `make_value(params)(positions)` as in `Game.best_turn`, and a uniform policy.

    `make_value` has to be hashable. In backgammon such a value is for positions before a roll; here it also values
    positions within a turn, and does not see the remaining dice.
    """
    checks.function("make_value", make_value, "(params) -> value")
    return Valued(params, by_its_object(make_value))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Mixture:
    """See `mixture`."""

    first: Evaluator
    second: Evaluator
    weight: Float32[Array, ""] | float

    @property
    def has_policy(self) -> bool:
        """Whether one of them has a policy."""
        return self.first.has_policy or self.second.has_policy

    def init(self, game: Game, batch: int) -> Any:
        """The memories of both."""
        return self.first.init(game, batch), self.second.init(game, batch)

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Evaluates by both."""
        one, first = self.first(game, leaves, memory[0], track)
        two, second = self.second(game, leaves._replace(bits=fold_in(leaves.bits, 1)), memory[1], track)
        value = self.weight * one.value + (1 - self.weight) * two.value
        logits = two.logits if one.logits is None else one.logits
        return Evaluation(value, logits, two.played if one.played is None else one.played), (first, second)


def mixture(weight: float, first: Evaluator, second: Evaluator) -> Mixture:
    """The value `weight` x that of the first evaluator + (1 - `weight`) x that of the second.

    For example a network and rollouts, as in AlphaGo (Silver et al., 2016, with weight 0.5). The policy is that of the
    first evaluator that has one. Raises `ValueError` for a weight outside 0..1.
    """
    if not isinstance(weight, jax.core.Tracer):
        checks.share("weight", weight)
    weight = weight if isinstance(weight, jax.Array) else checks.native(weight)
    return Mixture(check_evaluator("first", first), check_evaluator("second", second), weight)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ExactLeaves:
    """See `exact_leaves`."""

    evaluate: Evaluator
    scores: Any
    lookup: LeafKnowledge = dataclasses.field(metadata={"static": True})

    @property
    def has_policy(self) -> bool:
        """That of the other evaluator."""
        return self.evaluate.has_policy

    def init(self, game: Game, batch: int) -> Any:
        """The memory of the other evaluator."""
        return self.evaluate.init(game, batch)

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Evaluates all, and takes the exact value where there is one."""
        evaluation, memory = self.evaluate(game, leaves, memory, track)
        known, worth = self.lookup.at_leaf(self.scores, leaves.position)
        return evaluation._replace(value=jnp.where(known, self.lookup.points(worth), evaluation.value)), memory


def exact_leaves(evaluate: Evaluator, lookup: LeafKnowledge, scores: Any) -> ExactLeaves:
    """The evaluator, but with exact points if the lookup knows a leaf; `scores` are the lookup's arrays."""
    return ExactLeaves(check_evaluator("evaluate", evaluate), scores, lookup)
