"""A training run on disk: configuration, metrics, checkpoints that survive kill -9, learning curves."""

from jaxgames.runs.curves import Panel
from jaxgames.runs.data_set import DataSetFolder
from jaxgames.runs.run import Run, check_extras, environment

__all__ = ["DataSetFolder", "Panel", "Run", "check_extras", "environment"]
