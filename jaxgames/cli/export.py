"""`jaxgames export onnx RUN` and `jaxgames export kaggle SPEC`: players as files for other people's programs."""

import argparse
import json
from pathlib import Path
from typing import Any

from jaxgames.cli.common import add_shared, print_json


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    onnx = kinds.add_parser("onnx", help="the network of a training, for programs without JAX")
    onnx.add_argument("player", metavar="RUN", help="a run folder, one of its checkpoints, or champion@1")
    onnx.set_defaults(command=_onnx)
    kaggle = kinds.add_parser("kaggle", help="a submission to Kaggle's Connect X: one file that needs NumPy only")
    kaggle.add_argument("player", metavar="SPEC", help="a player of Connect Four that searches or has a network")
    kaggle.set_defaults(command=_kaggle)
    for kind in (onnx, kaggle):
        kind.add_argument("--out", required=True, metavar="FILE", help="where to write it; never overwritten")
        kind.add_argument("--game", help="the game (else that of the run)")
        add_shared(kind, "--json", "--plugin")


def _onnx(options: argparse.Namespace) -> None:
    from jaxgames.interop import onnx

    out = _new_file(options.out)
    said = onnx.export(_player(options, None), out)
    _report(options, said | {"file": str(out), "bytes": out.stat().st_size})


def _kaggle(options: argparse.Namespace) -> None:
    from jaxgames.interop import kaggle
    from jaxgames.runs.files import replace

    out = _new_file(options.out)
    content = kaggle.submission(_player(options, "connect_four")).encode()
    replace(out, content)
    _report(options, {"player": options.player, "file": str(out), "bytes": len(content)})


def _player(options: argparse.Namespace, usual: str | None) -> Any:
    from jaxgames import make
    from jaxgames.players import game_of
    from jaxgames.players import make as make_player

    game = options.game or game_of(options.player) or usual
    if game is None:
        raise ValueError(f"which game does {options.player} play? name it with --game")
    return make_player(options.player, make(game))


def _new_file(name: str) -> Path:
    path = Path(name)
    if path.exists():
        raise ValueError(f"{path} exists already and is never overwritten; choose another name")
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be made: there is no folder {path.parent}")
    return path


def _report(options: argparse.Namespace, said: dict[str, Any]) -> None:
    if options.json:
        print_json(said)
    else:
        rest = {name: value for name, value in said.items() if name not in ("file", "bytes")}
        print(f"{said['file']}: {said['bytes']:,} bytes, {json.dumps(rest)}")
