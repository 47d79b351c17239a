"""Runs the notebooks and writes a page of each, with what it printed and drew: `python docs/notebooks.py [NAME ...]`.

Notebooks are files of JSON, and their cells plain Python but for the line that installs, which is left out; so nothing
else is needed to run them here. The cell with the tag `parameters` has the sizes, which tests make tiny.
"""

import argparse
import ast
import contextlib
import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
PARAMETERS = "parameters"
MAGIC = re.compile(r"^%.*\n?", re.MULTILINE)


def names() -> list[str]:
    """The notebooks that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def read(name: str) -> list[dict[str, Any]]:
    """The cells of a notebook; `source` is one text."""
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


def code(cell: Mapping[str, Any]) -> str:
    """The Python of a cell of code: all but the lines for IPython."""
    return MAGIC.sub("", cell["source"])


def run(name: str, out: Path, parameters: Mapping[str, Any] | None = None) -> str:
    """Runs a notebook in this process, and returns its page; pictures go to the folder `out`.

    `parameters` take the place of those in the notebook.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    pyplot.close("all")  # what somebody else has drawn in this process
    space: dict[str, Any] = {"__name__": "__main__"}
    page, pictures = [], 0
    for cell in read(name):
        if cell["cell_type"] == "markdown":
            page.append(re.sub(r"\.ipynb\)", ".md)", cell["source"]))
            continue
        language = "" if MAGIC.search(cell["source"]) else "python"  # what installs is no Python
        page.append(f"```{language}\n{cell['source']}\n```")
        printed, value = _execute(code(cell), f"{name}, {cell['id']}", space)
        if PARAMETERS in cell["metadata"].get("tags", ()):
            space |= parameters or {}
        picture = value._repr_svg_() if hasattr(value, "_repr_svg_") else None
        shown = printed + ("" if value is None or picture else f"{value!r}\n")
        if shown:
            page.append(f"```text\n{shown.rstrip()}\n```")
        if picture:
            pictures += 1
            (out / f"{name}-{pictures}.svg").write_text(picture, "utf-8")
            page.append(f"![What the cell shows]({name}-{pictures}.svg)")
        for number in pyplot.get_fignums():
            pictures += 1
            pyplot.figure(number).savefig(out / f"{name}-{pictures}.png", dpi=80, metadata={"Software": None})
            page.append(f"![What the cell draws]({name}-{pictures}.png)")
        pyplot.close("all")
    return "\n\n".join(page) + f"\n\nThis page was made by running [the notebook]({name}.ipynb).\n"


def _execute(source: str, where: str, space: dict[str, Any]) -> tuple[str, Any]:
    """What a cell prints, and the value of its last line, if that is an expression without a semicolon."""
    body = ast.parse(source, where).body
    shows = body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";")
    last = ast.Expression(body.pop().value) if shows else None  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), where, "exec"), space)
        value = eval(compile(last, where, "eval"), space) if last else None
    return printed.getvalue(), value


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs each notebook in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names())}; without one all")
    chosen = parser.parse_args(arguments).names
    if unknown := set(chosen) - set(names()):
        parser.error(f"unknown notebook {', '.join(sorted(unknown))}; expected {', '.join(names())}")
    if len(chosen) == 1:
        for old in (*FOLDER.glob(f"{chosen[0]}-*.png"), *FOLDER.glob(f"{chosen[0]}-*.svg")):
            old.unlink()
        page = run(chosen[0], FOLDER)
        (FOLDER / f"{chosen[0]}.md").write_text(page, "utf-8")
        return
    for name in chosen or names():
        began = time.perf_counter()
        subprocess.run([sys.executable, __file__, name], check=True)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
