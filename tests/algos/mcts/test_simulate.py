"""Searches of whole batches against a plain search of each position: the same trees, visit by visit."""

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.ops.random_bits import fold_in, random_bits
from tests.algos.mcts import reference_rules as plain
from tests.algos.mcts.reference_mcts import Rules, Search
from tests.algos.small_games import Heap, Nim, Relay

KEY = jax.random.key(5)


@dataclass(frozen=True)
class Untied:
    """A rule with random words added to its scores, as in `reference_mcts.nudge`: rounding decides no more."""

    rule: Any

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.rule, name)
        return value if name != "schedule" else lambda simulations: Untied(value(simulations))

    def score(self, nodes):
        score = self.rule.score(nodes)

        def nudged(edges):
            bits = edges.random_bits(nodes.bits)
            return score(edges) + (fold_in(bits, edges.index + 1000) >> 9).astype(jnp.float32) / 2**26

        return nudged


@functools.cache
def table_network(most):
    """The network of `reference_rules.table_network`."""

    def apply(weights, observation):
        numbers = observation.reshape(len(observation), -1).astype(jnp.int32) @ weights % plain.VALUES
        numbers = numbers.astype(jnp.float32)
        return numbers[:, 1:] / 2**14, (numbers[:, 0] / 2**15 - 1) * most

    return apply


class Bench:
    """A game, its positions some random moves away from the start, the last of them over, and weights of a network."""

    def __init__(self, game, batch, moves, key=3):
        rng = np.random.default_rng(2)
        self.game, self.rules = game, Rules(game)
        start = jax.tree.map(np.asarray, game.init_position(jax.random.key(key)))
        found = []
        while len(found) < batch - 1:
            facts, over = self.rules(start), False
            for _ in range(rng.integers(moves + 1)):
                facts, _, over, _, _ = self.rules.follow(facts, int(rng.choice(facts.edges)))
                if over:
                    break
            if not over and not facts.awaits:
                found.append(facts.position)
        self.positions = [*found, start]
        self.weights = rng.integers(0, plain.VALUES, (int(np.prod(game.observation_shape)), game.num_actions + 1))
        stacked = jax.tree.map(lambda *x: jnp.stack(x), *self.positions)
        states = game.state(stacked, np.arange(batch) % 2)
        ended = np.arange(batch) == batch - 1
        rewards = np.where(ended[:, None], np.array([[1.0, -1.0]]), 0).astype(np.float32)
        self.states = states.replace(terminated=jnp.asarray(ended), rewards=jnp.asarray(rewards))
        self.ended = 1.0 if states.current_player[-1] == 0 else -1.0

    @property
    def network(self):
        """What the search calls, with params."""
        return mcts.network(table_network(float(self.game.max_reward)), jnp.asarray(self.weights, jnp.int32))


NIM_OF_12 = 2
"""The key of the largest heap: from smaller ones few simulations need a rollout of some moves, or look far down."""


@functools.cache
def bench(name):
    """Positions of a game. So many that lanes which go deep go on alone, or few, which compiles faster."""
    if name == "connect_four":
        return Bench(jaxgames.make(name, rows=4, cols=4, connect=3), 12, 8)
    if name == "relay":
        return Bench(Relay(), 24, 6)
    if name == "nim":
        return Bench(Nim(), 16, 3, NIM_OF_12)
    sizes = {"many_tic_tac_toe": (266, 7), "tic_tac_toe": (24, 7), "checkers": (9, 60), "backgammon": (9, 40)}
    batch, moves = sizes[name]
    return Bench(jaxgames.make(name.removeprefix("many_")), batch, moves)


@dataclass
class Case:
    """A rule of the library, the same one of the reference, and the evaluators: the network if none is named."""

    select: Any
    rule: Any
    evaluate: Any = None
    plain_evaluate: Any = None
    reference: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


POLICY, BOUNDED = {"policy": True}, {"bounded": True}
SHARED, MIRRORED = {"shared": "positions"}, {"shared": "symmetries"}
ROLLOUT = (mcts.rollout(), plain.rollout)
UCT, PUCT = (Untied(mcts.uct(0.8)), plain.UCT(0.8)), (Untied(mcts.puct()), plain.PUCT())
CASES = {
    "uct": Case(*UCT),
    "puct": Case(*PUCT, reference=POLICY),
    "puct_siblings": Case(
        Untied(mcts.puct(2.0, 500.0, qtransform="parent_and_siblings")), plain.PUCT(True, 2.0, 500.0), reference=POLICY
    ),
    "gumbel": Case(Untied(mcts.gumbel(4, scale=0.0)), plain.Gumbel(4, 0.0), reference=POLICY),
    "gumbel_noise": Case(Untied(mcts.gumbel(16, scale=1.0)), plain.Gumbel(16, 1.0), reference=POLICY),
    "rave": Case(Untied(mcts.rave(k=30, c=0.2)), plain.AMAF(0.2, k=30)),
    "rave_rollout": Case(Untied(mcts.rave(k=30, c=0.2)), plain.AMAF(0.2, k=30), *ROLLOUT),
    "amaf": Case(Untied(mcts.amaf(0.4, c=0.4)), plain.AMAF(0.4, alpha=0.4)),
    "amaf_rollout": Case(Untied(mcts.amaf(0.4, c=0.4)), plain.AMAF(0.4, alpha=0.4), *ROLLOUT),
    "uct1": Case(Untied(mcts.uct1(0.8)), plain.UCT(0.8), reference=SHARED),
    "uct1_mirrored": Case(Untied(mcts.uct1(0.8, symmetries=True)), plain.UCT(0.8), reference=MIRRORED),
    "uct2": Case(Untied(mcts.uct2(0.8)), plain.UCT2(0.8), reference=SHARED),
    "uct2_mirrored": Case(Untied(mcts.uct2(0.8, symmetries=True)), plain.UCT2(0.8), *ROLLOUT, reference=MIRRORED),
    "uct3": Case(Untied(mcts.uct3(0.8)), plain.UCT3(0.8), reference=SHARED),
    "uct3_mirrored": Case(Untied(mcts.uct3(0.8, symmetries=True)), plain.UCT3(0.8), reference=MIRRORED),
    "bounded_uct": Case(mcts.bounded(UCT[0]), UCT[1], *ROLLOUT, reference=BOUNDED),
    "bounded_puct": Case(mcts.bounded(PUCT[0]), PUCT[1], reference=POLICY | BOUNDED),
    "bounded_uct3": Case(mcts.bounded(Untied(mcts.uct3(0.8))), plain.UCT3(0.8), reference=SHARED | BOUNDED),
    "last_good_reply": Case(*UCT, mcts.last_good_reply(), plain.LastGoodReply(True)),
    "unforgetting_rave": Case(
        Untied(mcts.rave(100, 0.2)),
        plain.AMAF(0.2, k=100),
        mcts.last_good_reply(forget=False),
        plain.LastGoodReply(False),
    ),
    "replies_of_rollouts": Case(*UCT, mcts.last_good_reply(path=False), plain.LastGoodReply(True, path=False)),
    "mast": Case(*UCT, mcts.mast(0.5), plain.Mast(0.5)),
    "uct2_all": Case(Untied(mcts.uct2(0.8, update="all")), plain.UCT2(0.8), reference=SHARED | {"update_all": True}),
    "uct1_all": Case(
        Untied(mcts.uct1(0.8, update="all")), plain.UCT(0.8), *ROLLOUT, reference=SHARED | {"update_all": True}
    ),
    "ucd": Case(Untied(mcts.ucd(0.8, (2, 1, 3))), plain.UCD(0.8, 2, 1, 3), reference=SHARED),
    "ucd_any": Case(
        Untied(mcts.ucd(0.8, (math.inf, 0, math.inf), symmetries=True)),
        plain.UCD(0.8, math.inf, 0, math.inf),
        reference=MIRRORED,
    ),
    "ucd_all": Case(
        Untied(mcts.ucd(0.8, (2, 0, 1), update="all")),
        plain.UCD(0.8, 2, 0, 1),
        reference=SHARED | {"update_all": True},
    ),
    "max_depth": Case(*PUCT, reference=POLICY | {"max_depth": 2}, options={"max_depth": 2}),
    "shallow_uct1": Case(
        Untied(mcts.uct1(0.8, symmetries=True)),
        plain.UCT(0.8),
        reference=MIRRORED | {"max_depth": 3},
        options={"max_depth": 3},
    ),
    "shallow_uct2": Case(
        Untied(mcts.uct2(0.8)), plain.UCT2(0.8), reference=SHARED | {"max_depth": 3}, options={"max_depth": 3}
    ),
    "full": Case(*PUCT, reference=POLICY | {"slots": 9}, options={"capacity": 9}),
    "full_rave": Case(
        Untied(mcts.rave(100, 0.2)), plain.AMAF(0.2, k=100), *ROLLOUT, reference={"slots": 9}, options={"capacity": 9}
    ),
}


def searched(case, bench, simulations, every):
    """The result of the library, and plain searches of some positions, by lane."""
    evaluate = case.evaluate or bench.network
    result = mcts.search(
        bench.game, bench.states, KEY, simulations, select=case.select, evaluate=evaluate, **case.options
    )
    words = np.asarray(random_bits(KEY, (len(bench.positions),))).tolist()
    evaluate = case.plain_evaluate or plain.table_network(bench.weights)
    lanes = range(0, len(bench.positions) - 1, every)
    searches = {
        lane: Search(bench.rules, case.rule, evaluate, words[lane], **case.reference).run(
            bench.positions[lane], simulations
        )
        for lane in lanes
    }
    return jax.device_get(result), searches


EDGES = {"visits": "visits", "value_sums": "total", "prior": "prior"}
EDGES |= {"amaf_visits": "seen", "amaf_value_sums": "seen_total"}
EDGES |= {"lower": "lower", "upper": "upper"}
NODES = {"node_visits": "arrivals", "node_value_sum": "worth"}
NEAR = {"rtol": 2e-4, "atol": 2e-4}


def assert_same_trees(tree, searches):
    """Both trees node by node, from the root on."""
    layout = tree.layout
    fields = {name: layout.read(tree.edges, name) for name in (*layout.edge_fields, *layout.node_fields)}
    edge_names, node_names = ([name for name in names if name in fields] for names in (EDGES, NODES))
    leaves = jax.tree.leaves(tree.position)
    ours, theirs = [], []
    for lane, search in searches.items():
        slots, todo = {}, [(search.root, 0)]
        while todo:
            node, slot = todo.pop()
            if id(node) in slots:
                assert slots[id(node)] == slot
                continue
            slots[id(node)] = slot
            row = slot * tree.batch + lane
            assert b"".join(leaf[row].tobytes() for leaf in leaves) == node.facts.name
            assert (
                bool(fields["opponent_to_move"][row]) == node.other
                and bool(fields["is_chance"][row]) == node.facts.awaits
            )
            child = fields["child"][row].tolist()
            assert [number for number, slot in enumerate(child) if slot != -2] == node.facts.edges
            for number, edge in node.edges.items():
                if edge.child is not None:
                    assert child[number] >= 0
                    todo.append((edge.child, int(child[number])))
                else:
                    assert child[number] == (-3 if edge.ended else -1)
            for name in edge_names:
                if not node.facts.awaits or name not in ("prior", "amaf_visits", "amaf_value_sums"):
                    ours.extend(fields[name][row, node.facts.edges].tolist())
                    theirs.extend(getattr(edge, EDGES[name]) for edge in node.edges.values())
            ours.extend(float(fields[name][row]) for name in node_names)
            theirs.extend(getattr(node, NODES[name]) for name in node_names)
        assert len(set(slots.values())) == len(slots)
    np.testing.assert_allclose(ours, theirs, **NEAR)


def assert_same_result(result, bench, searches):
    """What a search says of its trees."""
    actions = range(bench.game.num_actions)
    for lane, search in searches.items():
        edges = search.root.edges
        mean = sum(edge.total for edge in edges.values()) / search.root.visits
        weights = search.rule.weights(search)
        total = sum(weights.values())
        assert result.actions[lane] == search.rule.play(search)
        assert result.visits[lane].tolist() == [edges[a].visits if a in edges else 0 for a in actions]
        np.testing.assert_allclose(result.values[lane], mean, **NEAR)
        np.testing.assert_allclose(result.weights[lane], [weights.get(a, 0) / total for a in actions], **NEAR)


QUICK = {
    # Every rule in a game that compiles fast; what is special to larger games below.
    "nim": [
        "uct",
        "puct",
        "puct_siblings",
        "gumbel_noise",
        "rave_rollout",
        "amaf_rollout",
        "uct1",
        "uct2",
        "uct3",
        "bounded_uct",
        "replies_of_rollouts",
        "uct2_all",
        "ucd",
    ],
    "many_tic_tac_toe": ["unforgetting_rave"],
    "tic_tac_toe": ["shallow_uct1", "full_rave"],
    "connect_four": ["uct3_mirrored"],
    # With chance; in backgammon searches meet others in `test_levels.py`.
    "relay": ["bounded_puct", "last_good_reply", "mast"],
}
SLOW = {
    "many_tic_tac_toe": list(CASES),
    "tic_tac_toe": ["puct_siblings", "gumbel_noise", "uct2_mirrored"],
    "connect_four": ["puct_siblings", "rave_rollout", "bounded_uct", "last_good_reply", "mast", "ucd_any", "ucd_all"],
    "nim": ["mast", "uct1_all", "ucd_all"],
    "relay": ["rave_rollout", "uct3", "gumbel", "bounded_uct3"],
    "checkers": ["uct", "puct", "amaf_rollout", "last_good_reply"],
    "backgammon": ["rave", "bounded_puct", "uct2"],
}
SIMULATIONS = {"nim": 64, "tic_tac_toe": 32, "connect_four": 64, "backgammon": 16}
RUNS = [(game, name) for game, names in QUICK.items() for name in names]
RUNS += [
    pytest.param(game, name, marks=pytest.mark.slow)
    for game, names in SLOW.items()
    for name in names
    if name not in QUICK.get(game, [])
]


@pytest.mark.parametrize(("game", "name"), RUNS)
def test_trees_are_those_of_a_plain_search(game, name):
    case, at = CASES[name], bench(game)
    result, searches = searched(case, at, SIMULATIONS.get(game, 24), every=5 if len(at.positions) > 100 else 1)
    assert_same_trees(result.tree, searches)
    if not case.reference.get("bounded"):
        assert_same_result(result, at, searches)
    assert result.values[-1] == at.ended
    assert not result.visits[-1].any() and not result.weights[-1].any()


def test_shared_nodes_outlive_a_move():
    """All below a move stays, also where a child is older than one of its parents; the table has that, and no more."""
    case, at = CASES["uct1"], bench("nim")
    found = mcts.search(at.game, at.states, KEY, SIMULATIONS["nim"], select=case.select, evaluate=at.network)
    left = np.asarray(at.states._position.left) - 1
    tree = mcts.advance(found.tree, at.game.state(Heap(jnp.asarray(left)), 1 - at.states.current_player))

    def whole(tree, lane, root):
        """The heap of each slot from a root on, and whether a child is older than its parent."""
        lefts, children = tree.position.left, tree.layout.read(tree.edges, "child")
        lefts, children = np.asarray(lefts).reshape(-1, tree.batch), np.asarray(children).reshape(-1, tree.batch, 3)
        heaps, todo, older = {root: int(lefts[root, lane])}, [root], False
        while todo:
            slot = todo.pop()
            for action, child in enumerate(children[slot, lane].astype(int)):
                if child >= 0:
                    assert lefts[child, lane] == heaps[slot] - action - 1
                    older |= child < slot
                    todo += [child] * (child not in heaps)
                    heaps[child] = heaps[slot] - action - 1
        return heaps, older

    table, child, disordered = np.asarray(tree.table).reshape(-1, tree.batch), found.tree.root("child"), 0
    for lane in range(len(left) - 1):
        (heaps, _), (before, older) = whole(tree, lane, 0), whole(found.tree, lane, int(child[lane, 0]))
        assert heaps[0] == left[lane] and sorted(heaps.values()) == sorted(before.values())
        assert sorted(table[:, lane][table[:, lane] > 0] - 1) == sorted(heaps) == list(range(len(heaps)))
        disordered += older
    assert disordered
