"""Genetic algorithms in plain NumPy, one candidate and one gene after the other: what the operators must equal.

The random words are those of the library by their definition (a hash of numbers), written down here once more with
Python's whole numbers. Genomes are float32; everything else is plain Python.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

MASK = 2**32 - 1
GOLDEN = 0x9E3779B9
SHUFFLING = 2**32 - 1


# Words.


def hashed(word: int) -> int:
    word = ((word ^ (word >> 16)) * 0x21F0AAAD) & MASK
    word = ((word ^ (word >> 15)) * 0x735A2D97) & MASK
    return word ^ (word >> 15)


def fold_in(word: int, number: int) -> int:
    return hashed((word + number * GOLDEN) & MASK)


def random_word(key: list[int], number: int) -> int:
    """Word `number` of a key, given as its words."""
    for part in key:
        number = fold_in(number, part)
    return number


def candidate_word(key: list[int], number: int) -> int:
    return fold_in(fold_in(number, random_word(key, 0)), random_word(key, 1))


def below(word: int, number: int) -> int:
    return (word * number) >> 32


def fraction(word: int) -> np.float32:
    return np.float32((word >> 8) / 2**24)


def signed_fraction(word: int) -> np.float32:
    return np.float32((word - 2**32 if word >= 2**31 else word) / 2**31)


def normal(word: int) -> float:
    """Mean 0 and variance 1 over all words: of the number of ones 16 and 8, of what is between 1/12 and 0."""
    between = (((word * 0x735A2D97) & MASK) >> 8) / 2**24
    return (bin(word).count("1") + between - 16.5 + 2**-25) / math.sqrt(8 + 1 / 12)


# Mutation.

CHANGES = {
    "multiplicative": lambda x, word, size: x + size * signed_fraction(word) * x,
    "cubic": lambda x, word, size: x + size * signed_fraction(word) ** 3 * x,
    "gaussian": lambda x, word, size: x + size * normal(word),
}


def mutated(genome: np.ndarray, word: int, kind: str, size: float) -> np.ndarray:
    genes = []
    for gene, x in enumerate(genome):
        changed = np.float32(CHANGES[kind](float(x), fold_in(word, gene), float(np.float32(size))))
        genes.append(changed if np.isfinite(changed) else x)
    return np.array(genes, np.float32)


# Crossover.


def segments(parents: list[np.ndarray], word: int, cuts: int) -> np.ndarray:
    dimension = len(parents[0])
    places = sorted(1 + below(fold_in(word, cut), dimension - 1) for cut in range(cuts))
    child, start = [], 0
    for turn, end in enumerate([*places, dimension]):
        child.extend(parents[turn % len(parents)][start:end])
        start = end
    return np.array(child, np.float32)


def whole_layers(parents: list[np.ndarray], word: int, sizes: tuple[int, ...]) -> np.ndarray:
    child, start = [], 0
    for layer, size in enumerate(sizes):
        child.extend(parents[below(fold_in(word, layer), len(parents))][start : start + size])
        start += size
    return np.array(child, np.float32)


# Selection.


def best_first(scores) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: (-(-math.inf if math.isnan(scores[i]) else scores[i]), i))


def truncation(word: int, keep: int) -> int:
    return int(fraction(fold_in(word, 0)) * fraction(fold_in(word, 1)) * np.float32(keep))


def tournament(word: int, size: int, population: int) -> int:
    return min(below(fold_in(word, number), population) for number in range(size))


# Algorithms. Keys come as functions: `key_of(numbers) -> list of words`, folded from the run's key by these numbers.


def bred(parents: list[np.ndarray], word: int, mutation: tuple[str, float], cuts: int | None) -> np.ndarray:
    child = parents[0] if cuts is None else segments(parents, fold_in(word, MASK), cuts)
    return mutated(child, word, *mutation)


def next_generation(genomes, scores, key, keep, elites, mutation, cuts):
    """The candidates after those that scored so, by truncation selection."""
    order = best_first(scores)
    population, count = len(genomes), 1 if cuts is None else 2
    children = [genomes[i] for i in order[:elites]]
    for number in range(elites, population):
        draws = [candidate_word(key, population + number * count + i) for i in range(count)]
        parents = [genomes[order[truncation(draw, keep)]] for draw in draws]
        children.append(bred(parents, candidate_word(key, number), mutation, cuts))
    return children


class Groups:
    """Groups of members that meet the best of the others: `genomes[group][place]`, best first.

    `play(genome, opponent, place, number, key)` is one score, against the opponent at this place of the shuffled ones;
    how often it was asked for is counted.
    """

    def __init__(self, genomes, play, keep, best, iterations, mutation, cuts=None):
        self.genomes, self.play = [list(group) for group in genomes], play
        self.keep, self.best, self.iterations, self.mutation, self.cuts = keep, best, iterations, mutation, cuts
        self.scores = [[math.nan] * len(group) for group in genomes]
        self.games = 0

    def score(self, group, place, genome, rivals, key):
        number = group * len(self.genomes[0]) + place
        self.games += len(rivals)
        return sum(self.play(genome, rival, where, number, key) for where, rival in rivals)

    def rivals(self, group, genomes, key, everyone=False):
        """The best of the other groups, each with its place among all that are shuffled."""
        met = [
            (other, genome)
            for other, members in enumerate(genomes)
            if everyone or other != group
            for genome in members[: self.best]
        ]
        shuffled = [met[i] for i in sorted(range(len(met)), key=lambda i: candidate_word(key, i))]
        return [(place, genome) for place, (other, genome) in enumerate(shuffled) if other != group]

    def turn(self, group, rivals, key_of):
        members, total = self.genomes[group], sum(map(len, self.genomes))
        places, count = range(len(members)), 1 if self.cuts is None else 2
        scored = [(None, member) for member in members]
        for iteration in range(self.iterations):
            for place, (score, member) in enumerate(scored):
                if score is None:
                    scored[place] = self.score(group, place, member, rivals, key_of(iteration)), member
            scored = [scored[i] for i in best_first([score for score, _ in scored])]
            kept, key = scored[: self.keep], key_of(iteration + 1)
            scored = list(kept)
            for place in places[self.keep :]:
                number = group * len(members) + place
                draws = [candidate_word(key, (number + total) * count + i) for i in range(count)]
                parents = [kept[truncation(draw, self.keep)][1] for draw in draws]
                child = bred(parents, candidate_word(key, number), self.mutation, self.cuts)
                scored.append((None, child))
        self.scores[group] = [math.nan if score is None else score for score, _ in scored]
        self.genomes[group] = [genome for _, genome in scored]

    def sequential_round(self, key_of):
        for group in range(len(self.genomes)):
            rivals = self.rivals(group, self.genomes, key_of(group, SHUFFLING))
            self.turn(group, rivals, lambda number, group=group: key_of(group, number))

    def parallel_round(self, key_of):
        before = [list(group) for group in self.genomes]
        for group in range(len(self.genomes)):
            self.turn(group, self.rivals(group, before, key_of(SHUFFLING), everyone=True), key_of)


# First genomes.


def uniform(dimension: int, low: float = -1.0, high: float = 1.0):
    """First genomes whose genes are uniform in [low, high], each row drawn by its number alone."""

    def first(key, numbers):
        def row(number):
            return jax.random.uniform(jax.random.fold_in(key, number), (dimension,), jnp.float32, low, high)

        return jax.vmap(row)(numbers)

    return first
