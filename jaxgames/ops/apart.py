"""Questions about this machine that could crash the program: a separate process asks them, once for all programs."""

import concurrent.futures
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from jaxgames.ops import json_text
from jaxgames.ops.jax_internals import setting

SECONDS = 120
YES, NO = 0, 3


def ask(question: Callable[[], bool], about: str, is_safe: bool = False) -> bool:
    """The answer to a question. If the process dies it is no; if it takes too long it is no for now.

    The answer is kept in `answers.json`, beside JAX's compiled programs if they are kept on disk, otherwise in the
    user's cache. If it cannot be kept it is asked again.

    Args:
        question: a function of a module, under its own name.
        about: what the answer depends on, such as versions.
        is_safe: whether this process can ask it: then in a thread, in which nothing is being traced.
    """
    name = f"{question.__module__}.{question.__name__}: {about}, XLA_FLAGS {os.environ.get('XLA_FLAGS', '')}"
    kept = _kept()
    if isinstance(kept.get(name), bool):
        return bool(kept[name])
    if is_safe:
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            answer = thread.submit(question).result()
    else:
        reply = _asked_apart(question)
        if reply is None:
            return False
        answer = reply
    if answer or not is_safe:  # a no from this process may be due to its own settings
        _keep(kept | {name: answer})
    return answer


def _asked_apart(question: Callable[[], bool]) -> bool | None:
    """The answer of a separate process; None if there was none in time."""
    code = f"import {question.__module__} as m; raise SystemExit({YES} if m.{question.__name__}() else {NO})"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=SECONDS, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode == YES


def _file() -> Path:
    """Where answers are kept."""
    beside = setting("jax_compilation_cache_dir")
    if beside and "://" not in beside:
        return Path(beside) / "jaxgames" / "answers.json"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "jaxgames" / "answers.json"


def _kept() -> dict[str, object]:
    try:
        answers = json_text.loads(_file().read_text("utf-8"))
    except (OSError, ValueError, RecursionError, RuntimeError):
        return {}
    return answers if isinstance(answers, dict) else {}


def _keep(answers: dict[str, object]) -> None:
    try:
        path = _file()
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f"{path.name}.{os.getpid()}")
        half.write_text(json.dumps(answers, indent=0) + "\n", "utf-8")
        half.replace(path)
    except (OSError, RuntimeError):
        return
