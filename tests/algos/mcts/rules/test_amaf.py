"""All moves as first with several trees of one position."""

import types

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos import mcts
from jaxgames.algos.mcts.search import _merge_roots
from jaxgames.algos.mcts.tree import Layout
from tests.algos.small_games import Nim

TREES, POSITIONS = 3, 2


@pytest.mark.parametrize("rule", [mcts.amaf(), mcts.rave(), mcts.bounded(mcts.rave())], ids=lambda rule: str(rule)[:7])
def test_the_statistics_of_all_trees_count_at_the_root(rule):
    layout = Layout(Nim(), rule)
    rows = np.random.default_rng(0).integers(0, 9, (TREES * POSITIONS, layout.columns)).astype(np.float32)
    trees = types.SimpleNamespace(layout=layout, batch=len(rows), edges=jnp.asarray(rows))
    merged = _merge_roots(rule, trees, TREES)
    for name in ("visits", "value_sums", "amaf_visits", "amaf_value_sums"):
        part = rows[:, layout.part(name)].reshape(TREES, POSITIONS, -1)
        np.testing.assert_array_equal(merged[:, layout.part(name)], part.sum(0), err_msg=name)
