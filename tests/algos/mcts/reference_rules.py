"""Selection rules and evaluators for the search of reference_mcts.py, from the papers."""

import math
from dataclasses import dataclass, field

import numpy as np

from tests.algos.mcts.reference_mcts import fold_in

VALUES = 2**16 + 1
"""So many values a network of tables gives."""


class Rule:
    """Scores edges; keeps nothing of its own of a simulation that reached a node or passed it."""

    def arrive(self, node, created, value):
        pass

    def pass_by(self, node, value):
        pass

    def renew(self, nodes):
        """After an update of all ancestors."""

    def play(self, search):
        """The edge to be played: most visits, then the greatest mean."""
        return max(search.root.edges.values(), key=lambda edge: (edge.visits, edge.mean, -edge.number)).number

    def weights(self, search):
        """The policy found: the visits."""
        return {e: edge.visits for e, edge in search.root.edges.items()}


@dataclass
class UCT(Rule):
    """Kocsis and Szepesvari, 2006."""

    c: float

    def score(self, search, node, edge, word):
        if edge.visits == 0:  # these first, in random order; as in float32, where few words give the same
            return float(np.float32(1e9) + np.float32((fold_in(word, edge.number) >> 8) * 64))
        bound = self.c * math.sqrt(math.log(node.visits) / edge.visits)
        return (self.mean(node, edge) / search.rules.game.max_reward + 1) / 2 + bound

    def mean(self, node, edge):
        return edge.mean


@dataclass
class AMAF(UCT):
    """RAVE (Gelly and Silver, 2011) with `k`, else alpha-AMAF (Helmbold and Parker-Wood, 2009)."""

    k: float | None = None
    alpha: float | None = None

    def mean(self, node, edge):
        beta = math.sqrt(self.k / (3 * edge.visits + self.k)) if self.alpha is None else self.alpha
        return (1 - beta) * edge.mean + beta * edge.seen_total / max(edge.seen, 1)


@dataclass
class UCT2(UCT):
    """Childs, Brodeur and Kocsis, 2008: an edge is worth what all simulations through the node it leads to brought."""

    def mean(self, node, edge):
        if edge.child is None:
            return edge.mean
        worth = edge.child.worth / max(edge.child.arrivals, 1)
        return worth if edge.child.other == node.other else -worth

    def arrive(self, node, created, value):
        node.arrivals, node.worth = node.arrivals + 1, node.worth + value

    def pass_by(self, node, value):
        self.arrive(node, False, value)


@dataclass
class UCT3(UCT2):
    """The same paper: the value of a node is made anew from its first value and from those of its children."""

    def arrive(self, node, created, value):
        if created:
            node.arrivals, node.worth = 1, value

    def pass_by(self, node, value):
        worth = sum(edge.visits * self.mean(node, edge) for edge in node.edges.values())
        node.worth = (worth + node.arrivals * node.raw) / (node.visits + node.arrivals)


@dataclass
class UCD(UCT):
    """Cazenave, Mehat and Saffidine, 2012: means and counts that look `down`, `parent` and `edge` edges down."""

    down: float = 1
    parent: float = 0
    edge: float = 0
    seen: dict = field(default_factory=dict)

    def score(self, search, node, edge, word):
        if edge.visits == 0:
            return super().score(search, node, edge, word)
        total = sum(self.count(e, self.parent) for e in node.edges.values())
        bound = self.c * math.sqrt(math.log(total) / self.count(edge, self.edge))
        return (self.value(node, edge, self.down) / search.rules.game.max_reward + 1) / 2 + bound

    def value(self, node, edge, distance):
        if not distance or edge.child is None:
            return edge.mean
        worth = self.seen[id(edge.child)]["mean", distance]
        return worth if edge.child.other == node.other else -worth

    def count(self, edge, distance):
        return edge.visits if not distance or edge.child is None else self.seen[id(edge.child)]["count", distance]

    def distances(self, *most):
        return [math.inf] if math.inf in most else range(1, max(most) + 1)

    def arrive(self, node, created, value):
        if created:
            self.seen[id(node)] = {("mean", d): value for d in self.distances(self.down)}
            self.seen[id(node)] |= {("count", d): 1 for d in self.distances(self.parent, self.edge)}
            self.first[id(node)] = 1

    @property
    def first(self):
        return self.seen.setdefault("first", {})

    def pass_by(self, node, value):
        self.look(node)

    def look(self, node):
        first, known = self.first.get(id(node), 0), self.seen.setdefault(id(node), {})
        total = first + node.visits
        for d in self.distances(self.down):
            below = d if d == math.inf else d - 1
            worth = sum(edge.visits * self.value(node, edge, below) for edge in node.edges.values())
            known["mean", d] = (worth + first * node.raw) / max(total, 1)
        for d in self.distances(self.parent, self.edge):
            below = d if d == math.inf else d - 1
            known["count", d] = first + sum(self.count(edge, below) for edge in node.edges.values())

    def renew(self, nodes):
        for _ in range(16):
            for node in nodes:
                self.look(node)


@dataclass
class PUCT(Rule):
    """Silver et al., 2018; with `siblings` values are scaled as in MuZero (Schrittwieser et al., 2020)."""

    siblings: bool = False
    init: float = 1.25
    base: float = 19652.0

    def score(self, search, node, edge, word):
        total = node.visits + 1
        rate = math.sqrt(total) * (self.init + math.log((total + self.base + 1) / self.base)) / (edge.visits + 1)
        value = 0.0
        if edge.visits:
            most = search.rules.game.max_reward
            values = [-most, most]
            if self.siblings:
                own = (node.raw + sum(e.total for e in node.edges.values())) / total
                values = [own, *(e.mean for e in node.edges.values() if e.visits)]
            value = (edge.mean - min(values)) / max(max(values) - min(values), 1e-8)
        return value + edge.prior * rate


@dataclass
class Gumbel(Rule):
    """Danihelka et al., 2022, with the constants of mctx."""

    considered: int = 16
    scale: float = 0.0

    def score(self, search, node, edge, word):
        return self.improved(search, node)[edge.number] - edge.visits / (1 + node.visits)

    def root_score(self, search, node, edge, word):
        considered = min(self.considered, len(node.edges))
        to_come = halving(considered, search.simulations)[node.visits]
        return self.worth(search, edge) if edge.visits == to_come else -1e30

    def worth(self, search, edge):
        uniform = ((fold_in(search.word, edge.number) >> 9) + 0.5) / 2**23
        noise = -self.scale * math.log(-math.log(uniform))
        return noise + math.log(edge.prior) + self.completed(search, search.root)[edge.number]

    def play(self, search):
        most = max(edge.visits for edge in search.root.edges.values())
        found = [edge for edge in search.root.edges.values() if edge.visits == most]
        return max(found, key=lambda edge: (self.worth(search, edge), -edge.number)).number

    def weights(self, search):
        return self.improved(search, search.root)

    def improved(self, search, node):
        completed = self.completed(search, node)
        weights = {e: node.edges[e].prior * math.exp(completed[e] - max(completed.values())) for e in node.edges}
        return {e: weight / sum(weights.values()) for e, weight in weights.items()}

    def completed(self, search, node):
        """Values between the least and the greatest, those of edges without visits, and of all actions that are not
        legal, being the mixed value of appendix D.
        """
        visited = [edge for edge in node.edges.values() if edge.visits]
        mean = sum(e.prior * e.mean for e in visited) / sum(e.prior for e in visited) if visited else 0.0
        mixed = (node.raw + node.visits * mean) / (node.visits + 1)
        values = {e: edge.mean if edge.visits else mixed for e, edge in node.edges.items()}
        every = [*values.values(), *([mixed] if len(values) < search.num_edges else [])]
        scale = 0.1 * (50 + max(edge.visits for edge in node.edges.values()))
        span = max(max(every) - min(every), 1e-8)
        return {e: scale * (value - min(every)) / span for e, value in values.items()}


def halving(considered, simulations):
    """Sequential halving: for each simulation, the visits that its action has had before."""
    rounds, left, visits, found = max(1, math.ceil(math.log2(considered))), considered, 0, []
    while len(found) < simulations:
        for _ in range(max(1, int(simulations / (rounds * left)))):
            found += [visits] * left
            visits += 1
        left = max(2, left // 2) if considered > 1 else 1
    return found[:simulations]


def table_network(weights):
    """Values and logits as whole numbers of the observation, so that sums of values are exact."""

    def evaluate(search, leaf):
        numbers = (leaf.facts.view.ravel() @ weights) % VALUES
        logits = numbers[1:] / 2**14
        return (numbers[0] / 2**15 - 1) * search.rules.game.max_reward, logits.tolist(), (0, 0)

    return evaluate


def rollout(search, leaf, reply=None, note=None):
    """A game played on by random moves or by `reply(facts, other, mark)`, if there is one."""
    rules, played = search.rules, [0, 0]
    facts, other, mark = rules.draw(leaf.facts, fold_in(leaf.word, 1)), False, leaf.mark
    for ply in range(10**6):
        word = fold_in(leaf.word, 2 + ply)
        action = reply(facts, other != leaf.other, mark) if reply else None
        action = rules.random_action(facts, word) if action is None else action
        after, switch, over, reward, done = rules.follow(facts, action)
        if note:
            note(other != leaf.other, mark, (action, done))
        mark, played[other] = done, played[other] | done
        if over:
            return -reward if other else reward, None, tuple(played)
        facts, other = rules.draw(after, fold_in(word, 1)), other != switch


@dataclass
class LastGoodReply:
    """Drake, 2009, and with forgetting Baier and Drake, 2010. The search's memory has, for each player, by the mark of
    the move before, the reply: an action and its mark.
    """

    forget: bool
    path: bool = True

    def __call__(self, search, leaf):
        moves = []

        def reply(facts, other, mark):
            if not self.path and not moves:
                return None
            action, done = search.memory.get((other, mark), (None, 0))
            return action if action in facts.legal and facts.marks[action] == done else None

        value, _, played = rollout(search, leaf, reply, lambda *move: moves.append(move))
        self.learn(search, leaf.path, -value if leaf.other else value, moves if self.path else moves[1:])
        return value, None, played

    def learn(self, search, path, value, moves=()):
        """Of a game of this value to the player at the root: its path in the tree, and the moves from there on."""
        before, known = 0, []
        for node, edge in path if self.path else ():
            if not node.facts.awaits:
                known.append((node.other, before, (edge.number, node.facts.marks[edge.number])))
                before = node.facts.marks[edge.number]
        for other, mark, move in [*known, *moves] if value else ():
            if (value > 0) != other:
                search.memory[other, mark] = move
            elif self.forget and search.memory.get((other, mark)) == move:
                del search.memory[other, mark]


@dataclass
class Mast:
    """Finnsson and Bjoernsson, 2008. The search's memory has, for each player and mark, games and sums of values."""

    temperature: float

    def __call__(self, search, leaf):
        value, _, played = self.play_on(search, leaf)
        by = [0, 0]
        by[leaf.other], by[not leaf.other] = played
        self.learn(search, leaf.path, -value if leaf.other else value, by)
        return value, None, played

    def play_on(self, search, leaf):
        rules, played = search.rules, [0, 0]
        facts, other = rules.draw(leaf.facts, fold_in(leaf.word, 1)), False
        for ply in range(10**6):
            word = fold_in(leaf.word, 2 + ply)
            weights = []
            for action in range(rules.game.num_actions):
                games, total = search.memory.get((other != leaf.other, facts.marks[action]), (0, 0.0))
                mean = total / max(games, 1) / rules.game.max_reward
                weights.append(math.exp(mean / self.temperature) if action in facts.legal else 0.0)
            drawn, action, seen = (word >> 8) / 2**24 * sum(weights), 0, weights[0]
            while not (seen > drawn and weights[action] > 0):
                action += 1
                seen += weights[action]
            after, switch, over, reward, done = rules.follow(facts, action)
            played[other] |= done
            if over:
                return (-reward if other else reward), None, tuple(played)
            facts, other = rules.draw(after, fold_in(word, 1)), other != switch

    def learn(self, search, path, value, by=(0, 0)):
        by = list(by)
        for node, edge in path:
            if not node.facts.awaits:
                by[node.other] |= node.facts.marks[edge.number]
        for other in (False, True):
            for bit in range(by[other].bit_length()):
                if by[other] >> bit & 1:
                    games, total = search.memory.get((other, 1 << bit), (0, 0.0))
                    search.memory[other, 1 << bit] = games + 1, total + (-value if other else value)
