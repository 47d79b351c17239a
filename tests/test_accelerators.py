"""Kernels of programs compiled for accelerators: counted right, and not more than they were.

The TPU's compiler is asked where it is installed, which `make accelerators` does in an environment of its own.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

import jax
import pytest

import jaxgames
from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.algos.alphazero import make_learner as make_alphazero
from jaxgames.algos.td import Metrics, make_config
from jaxgames.algos.td import make_learner as make_td
from jaxgames.nets import NetworkSpec

BENCHMARKS = str(Path(__file__).parent.parent / "benchmarks")
PROGRAM = """\
HloModule jit_run

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %next = s32[] add(%i, %i)
  %moved = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%x)
  %there = f32[8]{0} copy-done(%moved)
  %y = f32[8]{0} fusion(%there), kind=kLoop, calls=%fused
  %sum = f32[8]{0} all-reduce(%y), to_apply=%add
  %inner = (s32[], f32[8]{0}) while(%p), condition=%more, body=%small
  ROOT %out = (s32[], f32[8]{0}) tuple(%next, %sum)
}

%small (q: (s32[], f32[8])) -> (s32[], f32[8]) {
  %q = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %z = f32[8]{0} get-tuple-element(%q), index=1
  %one = f32[8]{0} fusion(%z), kind=kLoop, calls=%fused
  %two = f32[8]{0} custom-call(%one), custom_call_target="gemm"
  ROOT %back = (s32[], f32[8]{0}) tuple(%j, %two)
}

%left (l: f32[8]) -> f32[8] {
  %l = f32[8]{0} parameter(0)
  ROOT %a = f32[8]{0} copy(%l)
}

%right (r: f32[8]) -> f32[8] {
  %r = f32[8]{0} parameter(0)
  %b = f32[8]{0} negate(%r)
  ROOT %c = f32[8]{0} copy(%b)
}

ENTRY %main (start: f32[8], which: s32[]) -> f32[8] {
  %start = f32[8]{0} parameter(0)
  %which = s32[] parameter(1)
  %chosen = f32[8]{0} conditional(%which, %start, %start), branch_computations={%left, %right}
  %loop = (s32[], f32[8]{0}) while(%chosen), condition=%more, body=%body
  ROOT %end = f32[8]{0} get-tuple-element(%loop), index=1
}
"""


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield lambda name: importlib.import_module(name)
    for name in [path.stem for path in Path(BENCHMARKS).glob("*.py")]:
        sys.modules.pop(name, None)


def test_kernels_are_counted_loop_by_loop(benchmarks):
    """A conditional counts with its largest branch, a loop for itself; a TPU's numbers and moves do not count."""
    compilers = benchmarks("_accelerators")
    for tpu, body in ((False, 5), (True, 3)):
        counted = compilers.count(PROGRAM, tpu)
        assert (counted.kernels, counted.main.kernels, counted.main.main.kernels) == (4, body, 2)
        assert counted.depth == 2 and counted.beside == ()
    assert compilers.collectives(PROGRAM) == {"all-reduce": (1, 32)}
    assert compilers.collectives(PROGRAM, 8) == {"all-reduce": (8, 256)}
    assert compilers.elements("(f32[2,3]{1,0:T(8,128)}, pred[])") == 7
    assert "body: 5 kernels" in compilers.listing(PROGRAM, False)


def test_a_compiler_that_is_not_here_is_one_line(benchmarks, monkeypatch, capsys):
    accelerators, compilers = benchmarks("accelerators"), benchmarks("_accelerators")
    monkeypatch.setattr(compilers, "available", lambda name: False)
    monkeypatch.setattr(compilers, "prepare", lambda: None)
    monkeypatch.setattr(sys, "argv", ["accelerators.py", "--devices", "v5e"])
    with pytest.raises(ValueError, match="^there is no compiler for v5e here: make accelerators installs it$"):
        accelerators.main()
    monkeypatch.setattr(sys, "argv", ["accelerators.py"])
    assert accelerators.main() == 0
    assert "left out" in capsys.readouterr().err


SMALL = {"POSITIONS": 16, "SIMULATIONS": 8, "OPPONENTS": 4}
"""Sizes with which programs compile in seconds; most kernels are those of large ones."""
A_STEP = {
    "tic-tac-toe, policy loop, `rollout`, 4,096 games": 11.5,
    "tic-tac-toe, policy loop, 4,096 games": 32,
    "tic-tac-toe, `rollout`, 4,096 games": 10.5,
    "tic-tac-toe, one policy step, 4,096 games": 18,
}
"""Kernels of a step on a TPU v5e, and a little more, as another release of its compiler may do otherwise."""
WHOLE = {
    "Connect Four, PUCT, linear network, 16 x 8": 114,
    "Connect Four, Gumbel, linear network, 16 x 8": 143,  # its root's step, 13 a level after it
    "Connect Four, Recursive, linear network, 16 x 8": 241,
    "Connect Four, one round, linear network, 16 x 10": 142,
    "Connect Four, UCT with rollouts, 16 x 8": 99,
    "tic-tac-toe, evolution by OpenES, 64 x 4": 210,
    "tic-tac-toe, evolution by low rank, 64 x 4": 168,
    "TD by n steps": 85,
    "AlphaZero": 308,
}
"""Kernels of programs with all of their loops, and a tenth more."""


def kernels(count):
    """Of a program with all of its loops."""
    return count.kernels + sum(map(kernels, count.loops))


def learners(accelerators):
    """Updates of small learners, with what they are called."""
    of_td = make_config("n_step", game="tic_tac_toe", encoding="cells", hidden=(8,), batch=16)
    of_alphazero = AlphaZeroConfig(NetworkSpec(hidden=(8,)), batch=16, plies=2, simulations=4, minibatch=16)
    yield "TD by n steps", accelerators.update_of(make_td(of_td))
    yield "AlphaZero", accelerators.update_of(make_alphazero(jaxgames.make("tic_tac_toe"), of_alphazero))


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="the TPU's compiler, libtpu, is not here")
def test_no_more_kernels_than_there_were(benchmarks, monkeypatch):
    """Every main program compiles for a TPU."""
    accelerators, compilers = benchmarks("accelerators"), benchmarks("_accelerators")
    for name, value in compilers.SILENT.items():
        monkeypatch.setenv(name, value)
    for name, value in SMALL.items():
        monkeypatch.setattr(accelerators, name, value)

    def counted(make):
        return compilers.count(compilers.compiled_for("v5e", *make()).text, tpu=True)

    steps = {}
    for program in accelerators.of_games("tic_tac_toe", against=False):
        one = counted(program.make)
        a_round = compilers.steps_a_round(*program.make())
        steps[program.what] = one.main.kernels / a_round if program.loops else one.kernels
    programs = {program.what: program.make for program in accelerators.of_search("connect_four", against=False)}
    programs |= {what: lambda made=made: made for what, *made in accelerators.evolution_programs("tic_tac_toe", 64)}
    programs |= {what: lambda made=made: made for what, made in learners(accelerators)}
    for found, most in ((steps, A_STEP), ({what: kernels(counted(make)) for what, make in programs.items()}, WHOLE)):
        assert found.keys() == most.keys(), found
        assert all(found[what] <= bound for what, bound in most.items()), found


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="the TPU's compiler, libtpu, is not here")
def test_chips_tell_one_another_the_sums(benchmarks, monkeypatch):
    """Of an update on four chips: the gradient and the metrics, in at most two collectives."""
    accelerators, compilers = benchmarks("accelerators"), benchmarks("_accelerators")
    for name, value in compilers.SILENT.items():
        monkeypatch.setenv(name, value)
    learner = make_td(make_config("n_step", game="tic_tac_toe", encoding="cells", hidden=(8,), batch=16))
    function, shapes = accelerators.split_update(learner, compilers.mesh("v5e", 4, "games"))
    said = compilers.collectives(compilers.compiled_for("v5e", function, shapes, on_mesh=True).text)
    weights = sum(leaf.size for leaf in jax.tree.leaves(shapes[0].params))
    assert said.keys() == {"all-reduce"} and said["all-reduce"].times <= 2
    assert said["all-reduce"].bytes == 4 * (weights + len(Metrics._fields))
