"""Runs examples as the command line does, all in one process: `python run.py FOLDER ARGUMENT ... -- FILE ...`.

Each gets the arguments, with `--out FOLDER/NAME.png`; before that it is told to draw into a folder that is not there.
Prints a line of JSON for each: its name, exit status, what it printed, what it said of errors, and the seconds of
processor time it took; under `refused` the same of the folder that is not there.
"""

import contextlib
import io
import json
import runpy
import sys
import time
import traceback
from pathlib import Path


def run(file: Path, arguments: list[str]) -> dict:
    """One example."""
    printed, errors, status, began = io.StringIO(), io.StringIO(), 0, time.process_time()
    sys.argv = [str(file), *arguments]
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        try:
            runpy.run_path(str(file), run_name="__main__")
        except SystemExit as error:
            status = error.code
        except BaseException:
            traceback.print_exc()
            status = 1
    said = {"name": file.stem, "status": status, "printed": printed.getvalue(), "errors": errors.getvalue()}
    return said | {"seconds": time.process_time() - began}


if __name__ == "__main__":
    split = sys.argv.index("--")
    folder, arguments, files = sys.argv[1], sys.argv[2:split], sys.argv[split + 1 :]
    for name in map(Path, files):
        refused = run(name, ["--out", f"{folder}/gone/{name.stem}.png"])
        said = run(name, [*arguments, "--out", f"{folder}/{name.stem}.png"])
        print(json.dumps(said | {"refused": refused}), flush=True)
