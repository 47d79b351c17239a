"""Two processes are one run: the same generations."""

from pathlib import Path

import jax
import numpy as np

from tests.algos.evolution.test_evaluate import ES, run
from tests.runs.several import ends, start

GENERATIONS = """
import dataclasses
import numpy as np
from jaxgames.algos.evolution.evaluate import population_mesh
from test_evaluate import ES, run
mesh = population_mesh()
with processes.ending_together():
    np.savez(file, *run(dataclasses.replace(ES, mesh=mesh), jax.random.key(3), 16, mesh, 3))
"""


def test_two_processes_are_one(tmp_path):
    """Three generations of OpenES: both processes know all scores and the champion."""
    files = [tmp_path / "0.npz", tmp_path / "1.npz"]
    # The program imports its neighbour by its path, so that it knows nothing of the settings of these tests.
    running = start(GENERATIONS, files, Path(__file__).parent)
    one = run(ES, jax.random.key(3), 256, None, 3)
    assert [status for status, _ in ends(running, 100)] == [0, 0]
    for file in files:
        results = np.load(file)
        for name, expected in zip(results.files, one, strict=True):
            np.testing.assert_allclose(results[name], expected, atol=1e-5)
