"""Former champions: a ring, and a league whose members are met the more often the more seldom they are beaten."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution import HallOfFame, League
from jaxgames.algos.evolution.strategies.population import RECENT


def test_hall_of_fame():
    hall = HallOfFame.of(jnp.zeros((2, 3)))
    for number in (1.0, 2.0, 3.0):
        hall = hall.with_champion(jnp.full(3, number, jnp.float32))
    np.testing.assert_array_equal(hall.genomes[:, 0], [3, 2])


class Reference:
    """The league in plain Python: who is where, all results of each."""

    def __init__(self, members, size):
        self.names, self.size = list(members), size
        self.rates, self.met = [0.0] * len(members), [0] * len(members)

    def play(self, places, rates):
        """Games with some members."""
        for place, rate in zip(places, rates, strict=True):
            self.met[place] += 1
            self.rates[place] += (rate - self.rates[place]) / min(self.met[place], RECENT)

    def join(self, name):
        """A champion joins."""
        if len(self.names) < self.size:
            self.names.append(name)
            self.rates.append(0.0)
            self.met.append(0)
        else:
            place = self.rates.index(max(self.rates))
            self.names[place], self.rates[place], self.met[place] = name, 0.0, 0


def test_a_league_against_plain_python():
    """Win rates, who is met how often, and who leaves, through 40 generations of a league of 6 that overflows."""
    random = np.random.default_rng(0)
    expected, league = Reference([0, 1], 6), League.of(jnp.asarray([[0.0, 0.0], [1.0, 1.0]]), 6)

    @jax.jit
    def generation(league, key, rates, name, joins):
        places = league.draw(key, 2)
        after = league.after_games(places, rates)
        joined = after.with_champion(jnp.full(2, name))
        return places, jax.tree.map(lambda one, other: jnp.where(joins, one, other), joined, after)

    for number in range(40):
        rates = random.choice(np.float32([0, 0.25, 0.5, 1]), 2)
        places, league = generation(league, jax.random.key(number), rates, jnp.float32(number + 2), number % 3 == 0)
        assert len({*places.tolist()}) == 2 and max(places) < len(expected.names)
        expected.play(places.tolist(), rates.tolist())
        if number % 3 == 0:
            expected.join(number + 2)
        count = len(expected.names)
        assert league.genomes[:count, 0].tolist() == league.genomes[:count, 1].tolist() == expected.names
        assert league.met.tolist() == expected.met + [-1] * (6 - count)
        np.testing.assert_allclose(league.win_rates[:count], expected.rates, rtol=1e-5, atol=1e-6)
    assert count == 6 and max(expected.met) > RECENT


def test_games_with_many_members_take_no_more_memory():
    """Than the numbers of each member: nothing for each pair of places and members."""
    size, count = 20_000, 200
    shapes = jax.eval_shape(lambda: (League.of(jnp.zeros((1, 1)), size), jnp.zeros(count, jnp.int32), jnp.zeros(count)))
    memory = jax.jit(League.after_games).lower(*shapes).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 4 * 4 * size


def test_members_are_drawn_by_how_seldom_they_are_beaten():
    """One by one in proportion to (1 - p)^2 of those that are left."""
    rates = np.float32([0.5, 0.0, 1.0, 0.8, 0.25])
    league = League.of(jnp.zeros((5, 1)), 7)._replace(win_rates=jnp.asarray([*rates, 0, 0], jnp.float32))
    drawn = jax.jit(jax.vmap(lambda key: league.draw(key, 2)))(jax.random.split(jax.random.key(0), 20_000))
    weights = (1 - rates) ** 2
    share = weights / weights.sum()
    second = sum(share[first] * np.where(np.arange(5) == first, 0, weights) / (weights.sum() - weights[first])
                 for first in range(5))  # fmt: skip
    for place, expected in ((0, share), (1, second)):
        np.testing.assert_allclose(np.bincount(drawn[:, place], minlength=5) / 20_000, expected, atol=0.012)
    everyone = league.draw(jax.random.key(1), 5)
    assert sorted(everyone.tolist()) == [0, 1, 2, 3, 4] and everyone[4] == 2  # who is always beaten comes last


def test_bad_input():
    with pytest.raises(ValueError, match="size 1: expected a whole number from 2 on"):
        League.of(jnp.zeros((2, 3)), 1)
    with pytest.raises(ValueError, match="count 3: expected a whole number from 1 to 2"):
        League.of(jnp.zeros((1, 3)), 2).draw(jax.random.key(0), 3)


def test_free_places_stay_free():
    """Where more are met than there are members."""
    league = League.of(jnp.ones((2, 1)), 4)
    places = league.draw(jax.random.key(0), 4)
    after = league.after_games(places, jnp.full(4, 0.5))
    assert after.met.tolist() == [1, 1, -1, -1] and after.win_rates.tolist() == [0.5, 0.5, 0, 0]
    assert after.with_champion(jnp.zeros(1)).met.tolist() == [1, 1, 0, -1]
