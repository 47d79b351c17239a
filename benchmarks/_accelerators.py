"""Programs compiled for accelerators that are not here, and what their compilers made of them.

XLA's compilers for GPUs and TPUs run on any machine: they need a description of the device only. `compiled_for` asks
them, `count` reads the program that they made.

What counts as a kernel: each instruction of an optimized program that the device is told to do. Those are fusions,
calls of libraries (`custom-call`), products of matrices, sorts, copies, collectives, `while` and `conditional`
themselves, and every other operation that was left alone. Not counted are instructions that only name values
(parameters, constants, tuples and their elements, bitcasts), the second half of what is started and awaited apart
(`-done`), on a TPU what is done to one number, as its scalar core does it beside the others, and what only moves
arrays nearer beforehand (`copy-start`). Of a `conditional` the largest branch counts. What is in a loop counts for
that loop and not for what is around it; its condition is left out.
"""

import dataclasses
import functools
import importlib.util
import math
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.extend.core
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

TOPOLOGIES = {
    "h200": {1: "1x1x1"},
    "v5e": {1: "v5e:2x2", 4: "v5e:2x2", 16: "v5e:4x4", 64: "v5e:8x8", 256: "v5e:16x16"},
    "v5p": {1: "v5p:2x2x1", 4: "v5p:2x2x1", 16: "v5p:2x2x4", 64: "v5p:4x4x4", 256: "v5p:4x8x8"},
}
"""How devices are named to their compilers, by the number of them."""
NEEDS = {"h200": "jax_plugins.xla_cuda13", "v5e": "libtpu", "v5p": "libtpu"}
"""The modules without which a compiler is not here."""
SILENT = {
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
"""Without these the compilers look for a device, and one process alone may ask that of TPUs."""


def available(name: str) -> bool:
    """Whether the compiler for a device is here."""
    package = NEEDS[name].partition(".")[0]
    return importlib.util.find_spec(package) is not None and importlib.util.find_spec(NEEDS[name]) is not None


def prepare() -> None:
    """Before JAX's backend starts: no compiler looks for devices, and JAX itself stays on the CPU."""
    os.environ.update(SILENT)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_compilation_cache", False)


@functools.cache
def devices(name: str, number: int = 1) -> tuple[Any, ...]:
    """So many devices of a kind, as a compiler knows them."""
    from jax.experimental import topologies

    topology = TOPOLOGIES[name][number]
    if name == "h200":
        text = (Path(__file__).parent / "h200.txtpb").read_text("utf-8")
        described = topologies.get_topology_desc(
            topology_name=topology, platform="cuda", topology=topology, target_config=text
        )
    else:
        described = topologies.get_topology_desc(topology, platform="tpu")
    return tuple(described.devices[:number])


def mesh(name: str, number: int, axis: str) -> Mesh:
    """A mesh of so many of them."""
    return Mesh(np.array(devices(name, number)), (axis,))


class Compiled(NamedTuple):
    """A compiled program, and the seconds for tracing and compiling it."""

    program: Any
    seconds: float

    @property
    def text(self) -> str:
        """The optimized program."""
        return self.program.as_text()

    @property
    def temporaries(self) -> int:
        """Bytes that one device takes besides arguments and results."""
        return self.program.memory_analysis().temp_size_in_bytes

    @property
    def arguments(self) -> int:
        """Bytes of the arguments on one device."""
        return self.program.memory_analysis().argument_size_in_bytes


def placed(shapes: Any, over: Mesh, specs: Any = None) -> Any:
    """Shapes of arrays on the devices of a mesh, split by their specs; by default each device has all of them."""
    specs = jax.tree.map(lambda _: PartitionSpec(), shapes) if specs is None else specs

    def place(shape: Any, spec: PartitionSpec) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape.shape, shape.dtype, sharding=NamedSharding(over, spec))

    return jax.tree.map(place, shapes, specs)


def compiled_for(name: str, function: Callable, shapes: tuple[Any, ...], on_mesh: bool = False) -> Compiled:
    """A function compiled for arguments of these shapes on one device, or as they are `placed` on several."""
    arguments = shapes if on_mesh else placed(shapes, mesh(name, 1, "all"))
    start = time.perf_counter()
    platform = "cuda" if name == "h200" else "tpu"
    program = jax.jit(function).trace(*arguments).lower(lowering_platforms=(platform,)).compile()
    return Compiled(program, time.perf_counter() - start)


@dataclasses.dataclass(frozen=True)
class Count:
    """Kernels of a program, or of the body of a loop, without those of the loops in it."""

    kernels: int
    loops: tuple["Count", ...] = ()

    @property
    def depth(self) -> int:
        """How many loops lie within one another."""
        return max((1 + loop.depth for loop in self.loops), default=0)

    @property
    def main(self) -> "Count":
        """The loop with the most loops nested in it; of several, the one with the most kernels."""
        return max(self.loops, key=lambda loop: (loop.depth, loop.kernels))

    @property
    def beside(self) -> tuple[int, ...]:
        """Kernels of the other loops."""
        return tuple(loop.kernels for loop in self.loops if loop is not self.main)


class Instruction(NamedTuple):
    """A line of an optimized program."""

    name: str
    shape: str
    operation: str
    rest: str


NAMES_ONLY = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier", "add-dependency",
    "partition-id", "replica-id",
}  # fmt: skip
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast")
BYTES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2, "f32": 4, "s32": 4, "u32": 4}
HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
NUMBERS = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")


def computations(text: str) -> tuple[dict[str, list[Instruction]], str]:
    """The computations of an optimized program by name, and the name of the one that runs."""
    found: dict[str, list[Instruction]] = {}
    entry, current = "", None
    for line in text.splitlines():
        if head := HEAD.match(line):
            current = found.setdefault(head[2], [])
            entry = head[2] if head[1] else entry
        elif current is not None and (read := LINE.match(re.sub(r"/\*.*?\*/", "", line))):
            current.append(Instruction(*read.groups()))
    return found, entry


def count(text: str, tpu: bool) -> Count:
    """The kernels of an optimized program, loop by loop."""
    found, entry = computations(text)

    def of(name: str) -> Count:
        kernels, loops = 0, []
        for one in found[name]:
            parts = {"while": ["body"], "call": ["to_apply"]}.get(one.operation, [])
            inner = [of(_named(one, part)) for part in parts]
            if one.operation == "conditional":
                inner = [of(branch) for branch in _branches(one)]
                kernels += 1 + max(branch.kernels for branch in inner)
                loops += [loop for branch in inner for loop in branch.loops]
            elif one.operation == "call":
                kernels += inner[0].kernels
                loops += inner[0].loops
            elif one.operation == "while":
                kernels += 1
                loops += inner
            else:
                kernels += is_kernel(one, tpu)
        return Count(kernels, tuple(loops))

    return of(entry)


def steps_a_round(function: Callable, shapes: tuple[Any, ...]) -> int:
    """How many steps the scan that unrolls most of them has in its body; 1 if none unrolls any."""

    def of(jaxpr: Any) -> int:
        most = 1
        for equation in jaxpr.eqns:
            inner = (of(part) for part in jax.extend.core.jaxprs_in_params(equation.params))
            most = max(most, int(equation.params.get("unroll", 1)), *inner)
        return most

    return of(jax.make_jaxpr(function)(*shapes).jaxpr)


def is_kernel(one: Instruction, tpu: bool) -> bool:
    """Whether an instruction is work of its own for the device."""
    if one.operation in NAMES_ONLY or one.operation.endswith("-done"):
        return False
    if not tpu:
        return True
    alone = one.operation not in ("fusion", "custom-call") and elements(one.shape) == 1
    return not alone and one.operation not in ("copy-start", "slice-start")


class Said(NamedTuple):
    """What a device is told by collectives of one kind in a run of the program."""

    times: int
    bytes: int
    """Of the results, which each device has after them."""


def collectives(text: str, repeats: int = 1) -> dict[str, Said]:
    """What devices tell one another, by kind; what is in a loop runs `repeats` times, as the text does not say it."""
    found, entry = computations(text)
    said: dict[str, Said] = {}

    def walk(name: str, times: int) -> None:
        for one in found[name]:
            kind = one.operation.removesuffix("-start")
            if kind in COLLECTIVES:
                before = said.get(kind, Said(0, 0))
                said[kind] = Said(before.times + times, before.bytes + times * size(one.shape))
            elif one.operation == "while":
                walk(_named(one, "body"), repeats)
            elif one.operation == "call":
                walk(_named(one, "to_apply"), times)
            elif one.operation == "conditional":
                for branch in _branches(one):
                    walk(branch, times)

    walk(entry, 1)
    return said


def elements(shape: str) -> int:
    """The elements of an array, or of all arrays of a tuple."""
    return sum(math.prod(int(n) for n in dims.split(",") if n) for _, dims in NUMBERS.findall(_plain(shape)))


def size(shape: str) -> int:
    """Its bytes, without padding."""
    return sum(
        BYTES.get(kind, 4) * math.prod(int(n) for n in dims.split(",") if n)
        for kind, dims in NUMBERS.findall(_plain(shape))
    )


def _plain(shape: str) -> str:
    """A shape without layouts."""
    return re.sub(r"\{.*?\}", "", shape)


def _named(one: Instruction, part: str) -> str:
    found = re.search(rf"\b{part}=%?([\w.\-]+)", one.rest)
    if found is None:
        raise ValueError(f"{one.name}: expected {part}=... in {one.rest[:80]}")
    return found[1]


def _branches(one: Instruction) -> list[str]:
    found = re.search(r"branch_computations=\{(.*?)\}", one.rest)
    if found:
        return [name.strip(" %") for name in found[1].split(",")]
    return [_named(one, "true_computation"), _named(one, "false_computation")]


def listing(text: str, tpu: bool) -> str:
    """The kernels of all loops, each with the results it has and the operation that it came from."""
    found, entry = computations(text)
    bodies = [_named(one, "body") for part in found.values() for one in part if one.operation == "while"]
    lines = []
    for body in bodies or [entry]:
        kernels = [one for one in found[body] if is_kernel(one, tpu)]
        lines.append(f"{body}: {len(kernels)} kernels")
        for one in kernels:
            source = re.search(r'op_name="([^"]*)"', one.rest)
            inputs = one.rest.partition(")")[0]
            named = source[1][-60:] if source else ""
            lines.append(f"    {one.operation} {one.name}: {_plain(one.shape)[:90]} <- {inputs[:110]}  {named}")
    return "\n".join(lines)
