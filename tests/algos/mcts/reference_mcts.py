"""Monte-Carlo tree search one position at a time: objects and loops, written from the papers, to compare trees with.

Arithmetic is Python's, in double precision; random words are those of the library's streams, so that trees can be
compared visit by visit. The rules of a game are the game's own, one position at a time.
"""

import math
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.envs.core import Game


def fold_in(word, number):
    """Word `number` of the stream that a word begins."""
    word = (word + number * 0x9E3779B9) & 0xFFFFFFFF
    word = ((word ^ (word >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    word = ((word ^ (word >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return word ^ (word >> 15)


class Facts:
    """What the rules say of one position: `after` its actions or, if it awaits chance, its outcomes."""

    def __init__(self, position, told):
        self.position, self.told = position, told
        self.awaits = bool(told["awaits"])
        self.legal = np.flatnonzero(told["legal"]).tolist()
        self.edges = list(range(len(told["drawn"][0]))) if self.awaits else self.legal
        self.view = told["view"].astype(np.int64)
        self.marks = [sum(int(word) << 32 * k for k, word in enumerate(row)) for row in told["marks"]]
        self.name = name_of(position)


class Rules:
    """The rules of a game, each position asked about once."""

    def __init__(self, game):
        self.game, self.known = game, {}
        outcomes = jnp.arange(len(game.outcome_probabilities), dtype=jnp.int32)
        actions = jnp.arange(game.num_actions, dtype=jnp.int32)
        bounds = np.cumsum(np.asarray(game.outcome_probabilities, np.float64))[:-1]
        self.bounds = np.round(bounds * 2**32).astype(np.int64).tolist()

        @jax.jit
        def ask(position):
            drawn = jax.vmap(game.chance, (None, 0))(position, outcomes) if len(outcomes) else position
            return {
                "legal": game.legal(position),
                "played": jax.vmap(game.play, (None, 0))(position, actions),
                "marks": jax.vmap(game.amaf_key, (None, 0))(position, actions),
                "drawn": jax.tree.leaves(drawn),
                "view": game.observe_position(position, jnp.bool_(True)),
            }

        self.ask = ask
        own = type(game).draw_action is not Game.draw_action  # another order of the legal actions
        self.draw_own = jax.jit(game.draw_action) if own else None

    def __call__(self, position):
        name = name_of(position)
        if name not in self.known:
            told = jax.device_get(self.ask(position))
            told["awaits"] = bool(self.bounds) and any(
                (x != y).any() for x, y in zip(told["drawn"], jax.tree.leaves(position), strict=True)
            )
            self.known[name] = Facts(position, told)
        return self.known[name]

    def follow(self, facts, edge):
        """Facts of the position an edge leads to, whether the other player is to act there, over, reward, mark."""
        if facts.awaits:
            leaves = [leaf[edge] for leaf in facts.told["drawn"]]
            position = jax.tree.unflatten(jax.tree.structure(facts.position), leaves)
            return self(position), False, False, 0.0, 0
        position, switch, over, reward = jax.tree.map(lambda x: x[edge], facts.told["played"])
        return self(position), bool(switch), bool(over), float(reward), facts.marks[edge]

    def draw(self, facts, word):
        """The position after chance, if it is awaited."""
        return self.follow(facts, self.outcome(word))[0] if facts.awaits else facts

    def outcome(self, word):
        return sum(word >= bound for bound in self.bounds)

    def random_action(self, facts, word):
        """The action drawn by a word: by its rank among the legal ones, in the game's order."""
        if self.draw_own:
            return int(self.draw_own(facts.position, np.uint32(word)))
        return facts.legal[word * len(facts.legal) >> 32]


def name_of(position):
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(position))


@dataclass
class Edge:
    """What is known of one edge, to the player to act at its node."""

    number: int
    prior: float = 0.0
    visits: int = 0
    total: float = 0.0
    child: "Node | None" = None
    ended: bool = False
    seen: int = 0
    seen_total: float = 0.0
    lower: float = -1.0
    upper: float = 1.0

    @property
    def mean(self):
        return self.total / max(self.visits, 1)


@dataclass
class Node:
    """A position in the tree; `other` says that the player to act is not the one at the root."""

    facts: Facts
    other: bool
    edges: dict
    raw: float = 0.0
    arrivals: int = 0
    worth: float = 0.0

    @property
    def visits(self):
        return sum(edge.visits for edge in self.edges.values())


@dataclass
class Leaf:
    """What a simulation came to: the position, who is to act, by which path, and the mark of the move before."""

    facts: Facts
    other: bool
    path: list
    mark: int
    word: int


@dataclass
class Search:
    """A search of one position. `rule` scores edges (see reference_rules.py), `evaluate(search, leaf)` gives the value
    to the player to act, logits or None, and the marks played by that player and the other one.
    """

    rules: Rules
    rule: object
    evaluate: object
    word: int
    max_depth: int = 10**9
    slots: int = 10**9
    policy: bool = False
    shared: str = "no"
    bounded: bool = False
    update_all: bool = False
    nodes: int = 1
    table: dict = field(default_factory=dict)
    memory: dict = field(default_factory=dict)
    root: Node = None

    def run(self, position, simulations):
        facts = self.rules(position)
        self.root = self.node(facts, False)
        self.table[self.shared_name(self.root)] = self.root
        if self.policy:
            value, logits, _ = self.evaluate(self, Leaf(facts, False, [], 0, fold_in(self.word, 0)))
            self.root = self.node(facts, False, value, logits)
            self.table[self.shared_name(self.root)] = self.root
        self.simulations = simulations
        for number in range(1, simulations + 1):
            self.simulate(number)
        return self

    def node(self, facts, other, value=0.0, logits=None):
        most = self.rules.game.max_reward
        node = Node(facts, other, {e: Edge(e, lower=-most, upper=most) for e in facts.edges}, value)
        if self.policy and logits is not None:
            top = max(logits[action] for action in facts.legal)
            weights = {action: math.exp(logits[action] - top) for action in facts.legal}
            for action in facts.legal:
                prior = weights[action] / sum(weights.values())
                if action in node.edges:
                    node.edges[action].prior = prior
        return node

    def shared_name(self, node):
        """By what nodes are the same: the position, or the least of its images, and whose turn it is."""
        if self.shared != "symmetries" or len(self.rules.game.symmetries) < 2:
            return node.facts.name, node.other
        seen = node.facts.view.ravel()
        return min(seen[s.elements].tobytes() for s in self.rules.game.symmetries), node.other

    def simulate(self, number):
        word = fold_in(self.word, number)
        node, path = self.root, []
        while True:
            edge = self.choose(node, fold_in(word, len(path)), not path)
            path.append((node, edge))
            settled = self.bounded and edge.lower == edge.upper
            if edge.child is None or settled or len(path) == self.max_depth:
                break
            node = edge.child
        facts, switch, over, reward, mark = self.rules.follow(node.facts, edge.number)
        other, value, logits, played, exact = node.other != switch, reward, None, (0, 0), over
        if self.bounded and not over and settled:
            value, exact = edge.lower, True
        sign = -1 if node.other else 1  # from the player who took the last edge to the one at the root
        if not exact:
            value, logits, played = self.evaluate(self, Leaf(facts, other, path, mark, fold_in(word, 2**31)))
            sign = -1 if other else 1
        elif hasattr(self.evaluate, "learn"):
            self.evaluate.learn(self, path, value * sign)
        reached, created = edge.child, False
        if over:
            edge.ended = True
        elif edge.child is None:
            new = self.node(facts, other, value, logits)
            there = self.table.get(self.shared_name(new)) if self.shared != "no" else None
            if there is not None:
                edge.child = reached = there
            elif number < self.slots:
                edge.child, reached, created = new, new, True
                self.table[self.shared_name(new)] = new
        self.back_up(path, reached if not over else None, created, value * sign, exact, other, played)

    def choose(self, node, word, at_root):
        if node.facts.awaits:
            return node.edges[self.rules.outcome(fold_in(word, self.num_edges))]
        planned = at_root and hasattr(self.rule, "root_score")
        score, scores = self.rule.root_score if planned else self.rule.score, {}
        for number, edge in node.edges.items():
            scores[number] = score(self, node, edge, word)
            if not planned:
                scores[number] += nudge(word, number)
            if self.bounded:
                scores[number] = bounded(node, edge, scores[number])
        return node.edges[max(scores, key=lambda number: (scores[number], -number))]

    @property
    def num_edges(self):
        return max(self.rules.game.num_actions, len(self.rules.game.outcome_probabilities))

    def back_up(self, path, reached, created, value, exact, other, played):
        """`value` is to the player at the root, `played` of the player to act at the leaf and the other one."""
        most = self.rules.game.max_reward
        bounds = (value, value) if exact else (-most, most)
        marks = {other: played[0], not other: played[1]}
        if reached is not None:
            see(reached, marks, value)
            self.rule.arrive(reached, created, -value if reached.other else value)
        for node, edge in reversed(path):
            gain = -value if node.other else value
            edge.visits += 1
            edge.total += gain
            if not node.facts.awaits:
                marks[node.other] |= node.facts.marks[edge.number]
            see(node, marks, value)
            self.rule.pass_by(node, gain)
            low, high = (-bounds[1], -bounds[0]) if node.other else bounds
            edge.lower, edge.upper = max(edge.lower, low), min(edge.upper, high)
            bounds = self.node_bounds(node)
            bounds = (-bounds[1], -bounds[0]) if node.other else bounds
        if self.update_all:
            self.update_ancestors(path, reached, value)

    def update_ancestors(self, path, reached, value):
        """All edges, once each, from which the leaf's node or a node of the path can be reached."""
        nodes, todo = [], [self.root]
        while todo:
            node = todo.pop()
            if all(node is not other for other in nodes):
                nodes.append(node)
                todo += [edge.child for edge in node.edges.values() if edge.child is not None]
        passed = [id(node) for node, _ in path] + ([id(reached)] if reached is not None else [])
        known = set(passed)
        while True:
            above = {id(n) for n in nodes for e in n.edges.values() if e.child is not None and id(e.child) in known}
            if above <= known:
                break
            known |= above
        for node in nodes:
            gain = -value if node.other else value
            for edge in node.edges.values():
                leads = edge.child is not None and id(edge.child) in known
                if leads and all(edge is not taken for _, taken in path):
                    edge.visits += 1
                    edge.total += gain
            if id(node) in known and id(node) not in passed:
                self.rule.pass_by(node, gain)
        self.rule.renew(nodes)

    def node_bounds(self, node):
        if node.facts.awaits:
            chances = self.rules.game.outcome_probabilities
            return tuple(sum(chances[e] * getattr(node.edges[e], x) for e in node.edges) for x in ("lower", "upper"))
        return tuple(max(getattr(edge, x) for edge in node.edges.values()) for x in ("lower", "upper"))


def nudge(word, edge):
    """Added to scores, so that no two are equal: which is the greatest is then not up to rounding."""
    return (fold_in(word, edge + 1000) >> 9) / 2**26


def see(node, marks, value):
    """All moves as first: of the node's player, those taken there or later."""
    if node.facts.awaits:
        return
    for edge in node.edges.values():
        if node.facts.marks[edge.number] & marks[node.other]:
            edge.seen += 1
            edge.seen_total += -value if node.other else value


def bounded(node, edge, score):
    """Cazenave and Saffidine, 2010: an edge is pruned if it is worth no more than the best one is for sure; are all of
    them, one that is sure to be the best is taken.
    """
    sure = max(e.lower for e in node.edges.values())
    return score if edge.upper > sure else -1 if edge.lower == sure else -2
