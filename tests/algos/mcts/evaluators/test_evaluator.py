"""What evaluators give in other float dtypes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos import mcts
from jaxgames.algos.mcts.evaluators.evaluator import leaves_of
from tests.algos.small_games import Heap, Nim

GAME, HEAPS = Nim(), jnp.array([3, 6, 7], jnp.int32)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Own:
    """An evaluator of somebody's own: all moves are alike, and a heap is worth an eighth of its size."""

    dtype: str = dataclasses.field(metadata={"static": True})
    size: float = 8
    has_policy = True

    def init(self, game, batch):
        return ()

    def __call__(self, game, leaves, memory, track):
        value = leaves.position.left.astype(self.dtype) / self.size
        return mcts.Evaluation(value, jnp.zeros((len(value), 3), self.dtype)), memory


@pytest.mark.parametrize("select", ["puct", "gumbel", "one_round"])
def test_values_of_other_dtypes_are_taken_as_float32(select):
    states = GAME.state(Heap(HEAPS), np.zeros(3, np.int32))
    wide, narrow = (
        mcts.search(GAME, states, jax.random.key(0), 4, select=select, evaluate=Own(dtype))
        for dtype in ("float32", "bfloat16")
    )
    assert narrow.values.dtype == narrow.weights.dtype == jnp.float32
    for one, other in zip(wide[:4], narrow[:4], strict=True):
        np.testing.assert_array_equal(one, other)


def test_methods_of_equal_objects_are_one_program():
    """A network that is made anew for each evaluation is not compiled anew."""

    @dataclasses.dataclass(frozen=True)
    class Net:
        width: int = 3

        def apply(self, params, observation):
            raise NotImplementedError

    for made in (mcts.network, mcts.valued):
        assert made(Net().apply, 0) == made(Net().apply, 0) != made(Net(4).apply, 0)


def test_a_mixture_is_the_weighted_mean_of_both():
    leaves = leaves_of(GAME, Heap(HEAPS), np.zeros(3, bool), np.ones(3, bool), np.zeros(3), np.zeros(3, np.uint32))
    found, _ = mcts.mixture(0.25, Own("float32"), Own("float32", -4))(GAME, leaves, ((), ()), False)
    np.testing.assert_allclose(found.value, np.asarray(HEAPS) * (0.25 / 8 - 0.75 / 4))
