"""`import jaxgames` is light: fast, and without effects on JAX. So is the command line until it is told what to do."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys, time
start = time.process_time()  # of this process, however busy the machine is
import jax
before, loaded = dict(jax.config.values), set(sys.modules)
middle = time.process_time()
import jaxgames
share = (time.process_time() - middle) / (middle - start)
from jax._src import xla_bridge
from jaxgames import cli
cli._parser(["--help"])
print(json.dumps({
    "share": share,
    "flags": [name for name in before if jax.config.values[name] != before[name]],
    "backends": list(xla_bridge._backends),
    "heavy": sorted({name.split(".")[0] for name in set(sys.modules) - loaded}
                    & {"flax", "optax", "orbax", "matplotlib", "rich", "tyro", "pgx", "pyspiel", "gnubg", "fastapi"}),
    "recipes": "jaxgames.recipes" in sys.modules,
}))
"""


def measured():
    root = Path(__file__).parents[1]
    out = subprocess.run([sys.executable, "-c", SCRIPT], cwd=root, check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def test_import_is_light_and_the_command_line_needs_no_recipes_to_begin():
    runs = [measured() for _ in range(3)]
    assert min(run["share"] for run in runs) < 0.35  # of what jax itself takes, on any machine
    for run in runs:
        assert run["flags"] == [] and run["backends"] == [] and run["heavy"] == [] and not run["recipes"]
