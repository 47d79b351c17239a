"""The benchmarks' shared helpers, and one benchmark run from end to end; what they measure is no matter of tests."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def helpers(monkeypatch):
    """The modules that the scripts import from beside them."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    names = ("_common", "_figures", "_machine", "table")
    yield type("Helpers", (), {name.strip("_"): importlib.import_module(name) for name in names})
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def result():
    """What a tiny run prints as JSON."""
    script = [sys.executable, str(BENCHMARKS / "move_choice.py"), "--quick", "--json"]
    run = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), run.stderr


def test_timings_have_other_inputs_each_time_and_no_warm_up(helpers):
    program, seconds = helpers.common.compiled(lambda x: x + 1, jnp.float32(0))
    assert seconds > 0
    timings = helpers.common.timed(lambda number: program(jnp.float32(number)), float, repeats=3, warm_ups=2)
    assert [timing.amount for timing in timings] == [3.0, 4.0, 5.0]
    assert all(timing.wall > 0 for timing in timings)


def test_a_rate_is_the_median_of_its_repeats(helpers):
    timings = [helpers.figures.Timing(10, wall, 2 * wall) for wall in (1.0, 2.0, 5.0)]
    figure = helpers.common.rate("work", "us", "units/s", timings, at_least=6.0)
    assert (figure.value, figure.range, figure.cores, figure.reached) == (5.0, (2.0, 10.0), 2.0, False)


def test_ratios_are_of_rates_only(helpers):
    rates = [helpers.figures.Figure("work", by, "units/s", (value,)) for by, value in (("us", 300.0), ("peer", 20.0))]
    losses = [helpers.figures.Figure("loss", by, "points", (0.1,)) for by in ("us", "peer")]
    assert helpers.figures.Comparison("work", *rates).ratio == 15.0
    assert helpers.figures.Comparison("loss", *losses).ratio is None


def test_names_of_machines(helpers):
    cpu = {"cpu": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "cores": 8, "devices": ["cpu: cpu"]}
    assert helpers.machine.machine_name(cpu) == "intel-xeon-platinum-8481c-8-cores"
    gpu = cpu | {"devices": ["gpu: NVIDIA H200"]}
    assert helpers.machine.machine_name(gpu) == "nvidia-h200-1-devices"


def test_a_run_prints_figures_machine_and_versions(result):
    content, table = result
    assert {"subject", "date", "machine", "versions", "figures", "comparisons", "checks"} <= content.keys()
    assert content["machine"]["cores"] >= 1 and content["versions"]["jax"]
    by_random = next(figure for figure in content["figures"] if figure["what"] == "random")
    assert by_random["low"] < by_random["value"] < by_random["high"]
    assert "equity" in table and "random" in table


def test_the_table_of_the_readme(helpers, result):
    content = result[0] | {
        "comparisons": [
            {
                "what": "games",
                "unit": "games/s",
                "ours_text": "4,600",
                "peer": 400.0,
                "peer_text": "400",
                "peer_name": "pgx",
                "ratio": 11.5,
                "published": "",
            }
        ]
    }
    (text,) = helpers.table.tables([content])
    assert "| games | 4,600 games/s | 400 games/s (pgx) | 12x |" in text.splitlines()
    assert content["machine"]["cpu"] in text


def test_void_figures_are_not_saved(helpers, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark", "--quick", "--save"])
    with pytest.raises(SystemExit):
        helpers.common.parsed(helpers.common.parser("a benchmark"))
    assert "void" in capsys.readouterr().err
