"""A training run on disk: configuration, metrics, checkpoints that survive kill -9, learning curves, archives."""

from jaxgames.runs.archive import Archive, Fronts
from jaxgames.runs.figures import Panel
from jaxgames.runs.folder import DataSetFolder
from jaxgames.runs.run import Run, check_extras, environment

__all__ = ["Archive", "DataSetFolder", "Fronts", "Panel", "Run", "check_extras", "environment"]
