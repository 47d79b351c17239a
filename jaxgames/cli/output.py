"""What the commands have in common."""

import json
from typing import Any


def print_json(result: dict[str, Any]) -> None:
    """The result of a command with `--json`."""
    print(json.dumps(result, indent=2))
