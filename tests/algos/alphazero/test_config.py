"""Settings of AlphaZero: what makes no sense, and what a run keeps."""

import pytest

import jaxgames
from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.nets import NetworkSpec

GAME = jaxgames.make("tic_tac_toe")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"batch": 0}, "batch 0: expected a whole number from 1 on"),
        ({"search": "uct"}, "search 'uct': expected one of gumbel, puct"),
        ({"buffer_plies": 30}, "expected a multiple of plies"),
        ({"result_share": 1.5}, "expected a number from 0 to 1"),
        ({"simulations": 1}, "simulations 1: expected a whole number from 2 on"),
        ({"form": "cnn"}, "form 'cnn': expected one of mlp, windows, residual"),
        ({"form": "conv"}, "form 'conv': expected one of mlp, windows, residual"),
        ({"reuse": True}, "reuse=true has no effect without search=puct"),
        ({"noise_alpha": 0.1}, "noise_alpha=0.1 has no effect without search=puct"),
        ({"search": "puct", "considered": 8}, "considered=8 has no effect without search=gumbel"),
        ({"played": "choice", "temperature": 0.5}, "temperature=0.5 has no effect without played=policy"),
        ({"fast_simulations": 4}, "fast_simulations=4 has no effect without fast_share above 0"),
        ({"window": 3}, "window=3 has no effect without form=windows"),
        ({"form": "windows", "blocks": 3, "channels": 0}, "channels 0: expected a whole number from 1 on"),
        ({"step_size": 0.001, "last_step_size": 0.002}, "last_step_size=0.002: expected at most step_size=0.001"),
        ({"discount": 0.0}, "discount 0.0: expected a number above 0, at most 1"),
        ({"temperature": 1e-39}, "temperature 1e-39: expected a number from 1e-06 on"),
    ],
)
def test_settings_that_make_no_sense(changes, line):
    with pytest.raises(ValueError, match=line):
        AlphaZeroConfig().replace(**changes)


@pytest.mark.parametrize("form", ["residual", "windows"])
def test_a_tower_needs_planes(form):
    with pytest.raises(ValueError, match="choose form=mlp"):
        AlphaZeroConfig(NetworkSpec(form)).make_network(jaxgames.make("backgammon"))


def test_a_window_fits_on_the_board():
    with pytest.raises(ValueError, match=r"window 4: expected 1 to 3 for a board \[3, 3, 2\]"):
        AlphaZeroConfig(NetworkSpec("windows")).make_network(GAME)


def test_a_run_keeps_its_settings():
    config = AlphaZeroConfig(NetworkSpec("windows", (8,), window=2), discount=0.9)
    settings = config.to_json()
    assert AlphaZeroConfig.from_json(settings) == config
    assert not {"blocks", "convolutions", "activation", "reuse", "fast_simulations"} & settings.keys()
    with pytest.raises(ValueError, match="setting 'batch' of AlphaZero is missing"):
        AlphaZeroConfig.from_json({name: value for name, value in settings.items() if name != "batch"})
