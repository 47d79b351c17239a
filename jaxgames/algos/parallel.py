"""A learner on one or several devices, of one process or many: each plays its share of the games, and all make the same
steps.

    learner = parallel.place(td.make_learner(config), devices)
    state = learner.init(key)  # or learner.place(state), for a saved state
    state, metrics = jax.jit(learner.update)(state, key)
"""

import dataclasses
from typing import Any, TypeVar

import jax
from jax.sharding import Mesh
from jaxtyping import Array, Key

from jaxgames.ops.devices import check_shares, device_mesh
from jaxgames.runs.processes import EVERYWHERE, spread

__all__ = ["Parallel", "devices_for", "place"]
L = TypeVar("L", bound=Any)
"""A learner: `config.shares()` are split, `_share` is a learner with an equal part, `_specs` say what is split."""
AXIS = "games"
GAMES_PER_DEVICE = 128
"""With fewer games on each device, waiting for the others costs more than it gains."""


def devices_for(batch: int) -> int:
    """The most local devices that get equal shares of a batch, at least `GAMES_PER_DEVICE` games each; otherwise 1."""
    numbers = range(1, jax.device_count() + 1)
    return max(n for n in numbers if n == 1 or (batch % n == 0 and batch // n >= GAMES_PER_DEVICE))


def mesh_of(config: Any, devices: int) -> Mesh:
    """The first `devices` devices.

    Raises `ValueError` if there are fewer, or if they cannot get equal shares of the games.
    """
    mesh = device_mesh(devices, AXIS)
    check_shares(config.shares(), mesh.size)
    return mesh


def place(learner: L, devices: int = 1) -> "L | Parallel":
    """The learner on the first `devices` devices; `init`, `update` and `place(state)` are the same for any number.

    With several processes all their devices must take part.

    Raises `ValueError` as `mesh_of`.
    """
    mesh = mesh_of(learner.config, devices)
    return learner if devices == 1 else Parallel(learner, mesh)


@dataclasses.dataclass(frozen=True)
class Parallel:
    """The same `init` and `update`, with the games of `learner` split over the devices of a mesh with one axis `games`.

    The settings are those of all devices together. Results depend on the number of devices: each draws its own random
    numbers, and sums are rounded differently.
    """

    learner: Any
    mesh: Mesh

    def init(self, key: Key[Array, ""]) -> Any:
        """The state before the first update, spread over the devices."""
        return self.place(self.learner.init(key))

    def place(self, state: Any) -> Any:
        """Any state of the learner, spread over the devices."""
        return spread(state, self.mesh, self.learner._specs(state, AXIS))

    def shared(self, key: Key[Array, ""]) -> Key[Array, ""]:
        """A key that all devices know."""
        return spread(key, self.mesh)

    def update(self, state: Any, key: Key[Array, ""]) -> tuple[Any, Any]:
        """Plays and learns once."""
        learner = self.learner._share(self.mesh.size, AXIS)

        def on_each(state, key):
            return learner.update(state, jax.random.fold_in(key, jax.lax.axis_index(AXIS)))

        specs = self.learner._specs(state, AXIS)
        return jax.shard_map(
            on_each, mesh=self.mesh, in_specs=(specs, EVERYWHERE), out_specs=(specs, EVERYWHERE), check_vma=False
        )(state, key)
