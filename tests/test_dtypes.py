"""Every array that is made has its dtype: with `jax_enable_x64` on, one without is another array, and games are wrong.

Read from the source. What a number of Python becomes beside an array is the array's dtype, so that is no matter here.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "jaxgames"
DTYPE_AT = {
    "zeros": 1, "ones": 1, "empty": 1, "full": 2, "arange": 3, "eye": 3, "identity": 1, "linspace": 5, "tri": 3,
    "bits": 2, "uniform": 2, "normal": 2, "randint": 4, "permutation": None, "gumbel": 2, "exponential": 2, "gamma": 3,
    "dirichlet": 3, "truncated_normal": 4, "one_hot": 2, "indices": 1, "logspace": 5, "geomspace": 4,
}  # fmt: skip
"""Where each function has the dtype, if not by its name."""
MODULES = ("jnp", "jax.numpy", "jax.random", "random", "jax.nn", "nn")


def made_without_dtype(source: str) -> Iterator[tuple[int, str]]:
    """The calls that make an array whose dtype depends on a flag: line and text."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        module, name = ast.unparse(call.func.value), call.func.attr
        if (module, name) == ("self", "param") and len(call.args) < 4:  # its name, initializer, shape, dtype
            yield call.lineno, ast.unparse(call)
        if module not in MODULES:
            continue
        at, named = DTYPE_AT.get(name), {keyword.arg for keyword in call.keywords}
        if at is not None and len(call.args) <= at and "dtype" not in named and not _is_typed(name, call):
            yield call.lineno, ast.unparse(call)
        elif name == "where" and len(call.args) == 3 and all(map(_is_number, call.args[1:])):
            yield call.lineno, ast.unparse(call)
        elif name in ("array", "asarray") and len(call.args) == 1 and "dtype" not in named and _is_list(call.args[0]):
            yield call.lineno, ast.unparse(call)


def _is_typed(name: str, call: ast.Call) -> bool:
    """Whether the array is filled with something that has a dtype, as a call or a name may have."""
    return name == "full" and len(call.args) == 2 and not _is_number(call.args[1])


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in ("jnp.inf", "jnp.nan", "math.inf", "math.nan", "np.inf", "np.nan")
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_list(node: ast.expr) -> bool:
    return _is_number(node) or (isinstance(node, ast.List | ast.Tuple) and all(map(_is_number, node.elts)))


def test_every_array_has_a_dtype():
    files = sorted(PACKAGE.rglob("*.py"))
    made = {
        f"{path.relative_to(PACKAGE)}:{line}": text
        for path in files
        for line, text in made_without_dtype(path.read_text("utf-8"))
    }
    assert files and not made


@pytest.mark.parametrize(
    "text",
    [
        "jnp.zeros(3)",
        "jax.random.bits(key)",
        "jnp.arange(n)",
        "jnp.where(x, 1.0, -jnp.inf)",
        "jnp.asarray([1, 2])",
        "self.param('w', zeros, (3,))",
    ],
)
def test_an_array_without_dtype_is_seen(text):
    assert list(made_without_dtype(text)) == [(1, text)]


@pytest.mark.parametrize(
    "text", ["jnp.zeros(3, bool)", "jnp.where(x, 1.0, y)", "jnp.full(3, zero)", "jnp.arange(n, dtype=d)"]
)
def test_one_with_dtype_is_not(text):
    assert not list(made_without_dtype(text))
