"""Programs compared without being run: the jaxpr of a function, less what its results do not depend on, as a number.

A number of a configuration is a literal or a constant of the program that reads it. What is computed of it and then not
used on the way to a result is left out before programs are compared: two that differ do different arithmetic on the
way to the results.
"""

import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jax.interpreters.partial_eval import dce_jaxpr

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
UNREAD = ("ft_in", "ft_out", "name", "donated_invars")
"""Parameters of an equation that say how its function was called, and keep what was left out since."""


class Program:
    """The program of a function that returns a dictionary of arrays."""

    def __init__(self, function: Callable[..., dict[str, Any]], *arguments: Any):
        self._closed, self._shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
        self._known: dict[tuple[str, ...], int] = {}

    @property
    def results(self) -> tuple[str, ...]:
        """The names of its results."""
        return tuple(self._shapes)

    def of(self, *names: str) -> int:
        """A number that stands for all that these results are computed by, without names for any result."""
        names = names or self.results
        if names not in self._known:
            assert set(names) <= set(self.results), f"{names}: expected some of {', '.join(self.results)}"
            wanted = [own in names for own in self._shapes for _ in jax.tree.leaves(self._shapes[own])]
            jaxpr, _ = dce_jaxpr(self._closed.jaxpr, wanted)
            shapes = tuple(f"{name} {self._shapes[name]}" for name in names)
            self._known[names] = hash((shapes, _of_jaxpr(jaxpr, self._closed.consts, {})))
        return self._known[names]


def _of_jaxpr(jaxpr: Jaxpr, consts: Any, known: dict[int, int]) -> int:
    """A jaxpr as a number; its variables are numbered, inputs first, then in the order in which they come."""
    if id(jaxpr) in known and not consts:
        return known[id(jaxpr)]
    values = {atom: _of_value(value, known) for atom, value in zip(jaxpr.constvars, consts, strict=False)}
    numbers = {atom: number for number, atom in enumerate(jaxpr.invars)}

    def name(atom: Any) -> Any:
        if isinstance(atom, Literal):
            return _of_value(atom.val, known), str(atom.aval)
        return values[atom] if atom in values else numbers.setdefault(atom, len(numbers))

    lines = [
        (
            eqn.primitive.name,
            tuple(_of_value(eqn.params[key], known) for key in sorted(eqn.params) if key not in UNREAD),
            tuple(map(name, eqn.invars)),
            tuple(map(name, eqn.outvars)),
        )
        for eqn in jaxpr.eqns
    ]
    found = hash((tuple(lines), tuple(map(name, jaxpr.outvars))))
    if not consts:
        known[id(jaxpr)] = found
    return found


def _of_value(value: Any, known: dict[int, int]) -> Any:
    """A parameter or a constant as something that can be hashed."""
    if value is None or isinstance(value, bool | int | str | float):
        return repr(value)
    if isinstance(value, ClosedJaxpr):
        return _of_jaxpr(value.jaxpr, value.consts, known)
    if isinstance(value, Jaxpr):
        return _of_jaxpr(value, (), known)
    if isinstance(value, tuple | list):
        return tuple(_of_value(one, known) for one in value)
    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    if isinstance(value, jax.Array | np.ndarray):
        array = np.asarray(value)
        return array.shape, str(array.dtype), array.tobytes()
    return ADDRESS.sub("", repr(value))
