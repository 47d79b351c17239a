"""All uses of JAX beyond its public interface. Each piece has a fallback, so that no release of JAX stops a user.

A missing piece is None here or is replaced; `tests/ops/test_jax_internals.py` removes each and runs the rest.
"""

import contextlib
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun


def _piece(module: str, name: str) -> Any:
    """The object with this name in a module of JAX; None if the module or the name does not exist."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None


if not TYPE_CHECKING:
    ClosedJaxpr, Jaxpr, jaxpr_as_fun = (
        _piece("jax.extend.core", name) for name in ("ClosedJaxpr", "Jaxpr", "jaxpr_as_fun")
    )
Literal = _piece("jax.extend.core", "Literal")
set_xla_metadata = _piece("jax.experimental.xla_metadata", "set_xla_metadata")
io_callback = _piece("jax.experimental", "io_callback")

__all__ = ["ClosedJaxpr", "Jaxpr", "call_host", "has_programs", "is_true", "jaxpr_as_fun", "marked", "setting"]


def has_programs() -> bool:
    """Whether programs can be inspected, rebuilt and marked. Without it every search runs unmarked."""
    return None not in (ClosedJaxpr, Jaxpr, jaxpr_as_fun, set_xla_metadata)


def marked(**attributes: str | None) -> contextlib.AbstractContextManager:
    """Operations traced within get these attributes in XLA's program; None removes one. Fallback: does nothing."""
    return contextlib.nullcontext() if set_xla_metadata is None else set_xla_metadata(**attributes)


def setting(name: str) -> Any:
    """A setting of JAX, by its name; None if it has no such setting."""
    return getattr(jax.config, name, None)


def is_true(program: Any) -> bool:
    """Whether the only result of a traced function is the constant True. Fallback: never known, so False."""
    (result,) = program.jaxpr.outvars
    return Literal is not None and isinstance(result, Literal) and bool(result.val)


def call_host(function: Callable, shape: jax.ShapeDtypeStruct, *arguments: jax.Array) -> jax.Array:
    """The result of a host function, called each time a compiled program gets there.

    Fallback without `io_callback`: `pure_callback`, which XLA may call less often if its arguments repeat.
    """
    return (io_callback or jax.pure_callback)(function, shape, *arguments)
