"""Which random bits each part of a program uses: read from its jaxpr, nothing is compiled or run.

A path says how the bits are made of the key: `key.split(5)[2].bits > search` are those of the third of five keys, used
in the function `search`. What hashes bits in `ops/random_bits.py` is seen as `hash` and `fold_in`; numbers that are
folded in and not written in the program have letters.
"""

import contextlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from jax._src import source_info_util
from jax.extend import core

from jaxgames.algos.mcts import kernel
from jaxgames.ops import materialize, random_bits

MOVED = {
    "slice", "squeeze", "reshape", "broadcast_in_dim", "transpose", "gather", "dynamic_slice", "concatenate",
    "select_n", "copy", "random_clone", "rev", "expand_dims", "random_wrap", "random_unwrap", "split", "pad",
    "device_put", "optimization_barrier", "dynamic_update_slice", "scatter",
}  # fmt: skip
"""Primitives that use no bits: they move them."""
HASHES = {"random_bits": "hash", "fold_in": "fold_in"}
SAME = ("convert_element_type", "broadcast_in_dim", "reshape", "squeeze")
"""Primitives that change no number."""
LOOPS = ("scan", "while")
PACKAGE = "/jaxgames/"


@contextlib.contextmanager
def hashes_named() -> Iterator[None]:
    """Our hashes are calls of their own in a jaxpr, wherever they were imported to; nothing is written for XLA only."""
    fold_in, hashed = jax.jit(random_bits.fold_in), jax.jit(random_bits.random_bits, static_argnums=1)
    instead = {
        random_bits.fold_in: lambda bits, data: fold_in(bits, np.uint32(data) if isinstance(data, int) else data),
        random_bits.random_bits: hashed,
        materialize.materialize: lambda value, like, barrier=False: value,
        kernel._is_possible: lambda: False,
    }
    with pytest.MonkeyPatch.context() as patch:
        for module in [module for name, module in sys.modules.items() if name.startswith("jaxgames")]:
            for name, function in list(vars(module).items()):
                if isinstance(function, types.FunctionType) and function in instead:
                    patch.setattr(module, name, instead[function])
        jax.clear_caches()  # of what was traced before
        yield
    jax.clear_caches()


def paths(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """All uses of random bits by a function, in the order of the program, within `hashes_named`.

    Keys among the arguments are `key`, `key2` and so on; the last argument, if it is uint32, is `bits`.
    """
    jaxpr = jax.make_jaxpr(function)(*arguments).jaxpr
    keys = [var for var in jaxpr.invars if jax.dtypes.issubdtype(var.aval.dtype, jax.dtypes.prng_key)]
    labels = {var: f"key{number}" if number > 1 else "key" for number, var in enumerate(keys, 1)}
    if not keys:
        labels[jaxpr.invars[-1]] = "bits"
    walk = _Walk()
    for label in dict(walk.run(jaxpr, labels, {})).values():
        walk.note(label, "result")
    return _short(walk.found)


def _short(found: list[str]) -> list[str]:
    """Numbers in a row as one line: `fold_in(0 to 8)`."""
    lines: list[str] = []
    for line in found:
        before = re.fullmatch(r"(.*fold_in\()(?:(\d+) to )?(\d+)(\) > .*)", lines[-1]) if lines else None
        if before and line == f"{before[1]}{int(before[3]) + 1}{before[4]}":
            lines[-1] = f"{before[1]}{before[2] or before[3]} to {int(before[3]) + 1}{before[4]}"
        else:
            lines.append(line)
    return lines


def reused(found: list[str]) -> list[str]:
    """Bits that are used in two places: these have something to do with each other."""
    where: dict[str, set[str]] = {}
    for line in found:
        path, _, place = line.partition(" > ")
        where.setdefault(path, set()).add(place)
    return [f"{path} > {', '.join(sorted(places))}" for path, places in where.items() if len(places) > 1]


class _Traced(NamedTuple):
    """A number that a program does not say: a variable, and what was added to it."""

    var: Any
    text: str = ""


def _letter(number: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[number % 26] + "'" * (number // 26)


class _Walk:
    """Follows labels through a jaxpr and what it calls."""

    def __init__(self, place: str = "", letters: dict[str, dict[Any, str]] | None = None) -> None:
        self.found: list[str] = []
        self.place = place
        self.letters = {} if letters is None else letters

    def note(self, label: str, place: str) -> None:
        """A use, once."""
        if (line := f"{label} > {place}") not in self.found:
            self.found.append(line)

    def run(self, jaxpr: Any, labels: dict[Any, str], known: dict[Any, Any]) -> list[tuple[Any, str]]:
        """The labels of the results."""
        labels, known = dict(labels), dict(known)
        for equation in jaxpr.eqns:
            self._equation(equation, labels, known)
        return [(var, labels[var]) for var in jaxpr.outvars if isinstance(var, core.Var) and var in labels]

    def _equation(self, equation: Any, labels: dict[Any, str], known: dict[Any, Any]) -> None:
        inputs = [None if isinstance(one, core.Literal) else labels.get(one) for one in equation.invars]
        values = [one.val if isinstance(one, core.Literal) else known.get(one, _Traced(one)) for one in equation.invars]
        name, out = equation.primitive.name, equation.outvars
        if not any(inputs):
            self._constant(equation, values, known)
            return
        label = "|".join(dict.fromkeys(filter(None, inputs)))
        if name == "random_split":
            labels[out[0]] = f"{label}.split({','.join(map(str, equation.params['shape']))})"
        elif name == "random_fold_in":
            labels[out[0]] = f"{label}.fold_in({self._number(values[1], label)})"
        elif name == "random_bits":
            labels[out[0]] = f"{label}.bits"
        elif name == "unstack":
            labels.update({one: f"{label}[{number}]" if len(out) > 1 else label for number, one in enumerate(out)})
        elif name in MOVED:
            labels[out[0]] = label + self._part(equation, values)
            for more in out[1:]:
                labels[more] = label
        elif name in ("pjit", "jit") and equation.params["name"] in HASHES:
            kind = HASHES[equation.params["name"]]
            labels[out[0]] = (
                f"{label}.{kind}({self._number(values[1], label)})" if kind == "fold_in" else f"{label}.hash"
            )
        elif any(_jaxprs(equation.params)):
            self._call(equation, inputs, values, labels)
        else:
            self.note(label, _place_of(equation) or self.place)

    def _number(self, value: Any, label: str) -> str:
        """A number as text; one that the program does not say has a letter, among those folded into these bits."""
        if isinstance(value, _Traced):
            among = self.letters.setdefault(label, {})
            return among.setdefault(value.var, _letter(len(among))) + value.text
        return str(np.asarray(value))

    def _part(self, equation: Any, values: list[Any]) -> str:
        """Which part of an array is taken, if the program says it."""
        name, params = equation.primitive.name, equation.params
        if name == "slice":
            ends = zip(params["start_indices"], params["limit_indices"], equation.invars[0].aval.shape, strict=True)
            cut = [f"{a}" if b - a == 1 else f"{a}:{b}" for a, b, size in ends if b - a != size]
            return f"[{','.join(cut)}]" if cut else ""
        return "[...]" if name in ("dynamic_slice", "gather") else ""

    def _constant(self, equation: Any, values: list[Any], known: dict[Any, Any]) -> None:
        """Numbers that are folded in stay known: those written in the program, and what is added to others."""
        name, out = equation.primitive.name, equation.outvars
        if name in SAME and values:
            known[out[0]] = values[0]
        elif name in ("add", "mul", "sub") and {type(one) is _Traced for one in values} == {True, False}:
            number, of = sorted(values, key=lambda one: type(one) is _Traced)
            if np.ndim(number) == 0:
                known[out[0]] = of._replace(text=f"{of.text} {name} {np.asarray(number)}")

    def _call(self, equation: Any, inputs: list[Any], values: list[Any], labels: dict[Any, str]) -> None:
        name, params = equation.primitive.name, equation.params
        numbers = [None] * len(values) if name in LOOPS else values
        if name == "scan":
            once = len(inputs) - len(_arrays_scanned(equation))
            inputs = [one and at >= once and f"{one}[each]" or one for at, one in enumerate(inputs)]
        skipped = {"while": params.get("cond_nconsts", 0), "cond": 1}.get(name, 0)
        bodies = [params["body_jaxpr"]] if name == "while" else list(_jaxprs(params))
        place = _place_of(equation) or self.place
        for closed in bodies:
            jaxpr, walk = getattr(closed, "jaxpr", closed), _Walk(place, self.letters)
            given = list(zip(jaxpr.invars, inputs[skipped:], numbers[skipped:], strict=True))
            within = {var: label for var, label, _ in given if label}
            results = dict(walk.run(jaxpr, within, {var: value for var, _, value in given if value is not None}))
            ours = name in (*LOOPS, "cond", "shard_map") or PACKAGE in str(jaxpr.debug_info.func_src_info)
            for line in walk.found:  # a function of JAX uses the bits where it is called
                self.note(line.partition(" > ")[0], line.partition(" > ")[2] if ours else place)
            for var, outer in zip(jaxpr.outvars, equation.outvars, strict=True):
                if isinstance(var, core.Var) and var in results:
                    labels[outer] = results[var]


def _arrays_scanned(equation: Any) -> list[Any]:
    """The inputs of which each step of a loop gets a row."""
    jaxpr, inputs = equation.params["jaxpr"], equation.invars
    inner = getattr(jaxpr, "jaxpr", jaxpr).invars
    same = [one.aval.shape == other.aval.shape for one, other in zip(inputs, inner, strict=True)]
    return inputs[len(same) - same[::-1].index(True) if True in same else 0 :]


def _jaxprs(params: dict[str, Any]) -> Iterator[Any]:
    for value in params.values():
        if hasattr(value, "jaxpr") or hasattr(value, "eqns"):
            yield value
        elif isinstance(value, tuple | list):
            yield from (one for one in value if hasattr(one, "jaxpr") or hasattr(one, "eqns"))


def _place_of(equation: Any) -> str:
    """The functions of the package that use the bits, the inner one last; those of `ops` are looked through."""
    names: list[str] = []
    for frame in source_info_util.user_frames(equation.source_info.traceback):
        name = frame.function_name.rpartition(".")[2]
        ours = PACKAGE in frame.file_name and f"{PACKAGE}ops/" not in frame.file_name
        if ours and name[0] != "<" and name not in names:
            names.append(name)
    return " ".join(reversed(names[:2]))
