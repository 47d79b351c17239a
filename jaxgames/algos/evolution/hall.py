"""Former champions that candidates meet: a hall of fame, and a league that gives the strongest of them more games."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.ops import checks

RECENT = 10
"""A win rate is the mean of the last games with a member: of all, and from so many times on the newest counts 1/10."""


class HallOfFame(NamedTuple):
    """Former champions, float32[size, dimension], in a ring: each new one takes the place of the oldest."""

    genomes: Float32[Array, "size dimension"]
    joined: Int32[Array, ""]

    @classmethod
    def of(cls, genomes: Float32[Array, "size dimension"]) -> "HallOfFame":
        """A hall that begins with these genomes."""
        return cls(genomes, jnp.int32(0))

    def with_champion(self, genome: Float32[Array, " dimension"]) -> "HallOfFame":
        """The hall after this champion joined."""
        place = jnp.arange(len(self.genomes), dtype=jnp.int32) == self.joined % len(self.genomes)
        return HallOfFame(jnp.where(place[:, None], genome[None], self.genomes), self.joined + 1)


class League(NamedTuple):
    """Former champions, of whom those are met most often that are hardest to beat: prioritised fictitious self-play.

    A member that is beaten in a share p of the games is drawn in proportion to (1 - p)^2. A new member counts as not
    beaten yet. Where all places are taken, a new one takes that of the member that is beaten most surely, of equals the
    first. Source: Vinyals et al. (2019), "Grandmaster level in StarCraft II using multi-agent reinforcement learning",
    Methods, "Prioritized fictitious self-play".
    """

    genomes: Float32[Array, "size dimension"]
    win_rates: Float32[Array, " size"]
    """The share of games, a draw being half a win, that candidates have lately won against each."""
    met: Int32[Array, " size"]
    """How often each was met; -1 where nobody has joined yet."""

    @classmethod
    def of(cls, genomes: Float32[Array, "n dimension"], size: int) -> "League":
        """A league with room for so many, which begins with these genomes.

        Raises `ValueError` where there is no room for them.
        """
        count = len(genomes)
        checks.whole("size", size, max(1, count))
        places = jnp.arange(size, dtype=jnp.int32)
        rows = jnp.pad(genomes, ((0, size - count), (0, 0)))
        return cls(rows, jnp.zeros(size, jnp.float32), jnp.where(places < count, jnp.int32(0), -1))

    @property
    def weights(self) -> Float32[Array, " size"]:
        """(1 - p)^2 of each member; 0 where nobody has joined yet."""
        return jnp.where(self.met < 0, 0.0, jnp.square(1.0 - self.win_rates))

    def draw(self, key: Key[Array, ""], count: int) -> Int32[Array, " count"]:
        """The places of so many different members, one after the other drawn in proportion to the weights of those
        that are left; members of no weight only where there are no others.

        By the largest of log(weight) + Gumbel noise: Efraimidis and Spirakis (2006), "Weighted random sampling with a
        reservoir". Raises `ValueError` for more than there are places.
        """
        checks.key(key)
        checks.whole("count", count, 1, len(self.genomes))
        noise = jax.random.gumbel(key, self.win_rates.shape, jnp.float32)
        least = np.float32(1e-12)  # far below the weight of a member that is beaten in 9,999 of 10,000 games
        keys = jnp.where(self.met < 0, -jnp.inf, jnp.log(jnp.maximum(self.weights, least)) + noise)
        return jax.lax.top_k(keys, count)[1].astype(jnp.int32)

    def after_games(self, places: Int32[Array, " count"], win_rates: Float32[Array, " count"]) -> "League":
        """The league after games with the members at these places, all different, of which candidates won such a
        share.
        """
        met = self.met.at[places].add(1)
        share = 1.0 / jnp.clip(met[places], 1, RECENT).astype(jnp.float32)
        before = self.win_rates[places]
        after = self.win_rates.at[places].set(before + share * (win_rates - before))
        return self._replace(win_rates=after, met=met)

    def with_champion(self, genome: Float32[Array, " dimension"]) -> "League":
        """The league after this champion joined: at the first free place, or at that of who is beaten most surely."""
        chosen = jnp.argmax(jnp.where(self.met < 0, jnp.inf, self.win_rates)).astype(jnp.int32)
        place = jnp.arange(len(self.genomes), dtype=jnp.int32) == chosen
        return League(
            jnp.where(place[:, None], genome[None], self.genomes),
            jnp.where(place, 0.0, self.win_rates),
            jnp.where(place, 0, self.met),
        )
