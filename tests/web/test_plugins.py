"""Players of plug-ins on the page: chosen by name, played beside the others, and losing by what they do wrong."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.cli import main
from jaxgames.envs.registry import make
from jaxgames.players import jax_player, python_player, registry
from jaxgames.web.offered_players import OfferedPlayers
from tests.web.pages import PERSON, page, serving


def last(state):
    """Plays the legal action with the highest number; gives up on the middle."""
    if state.observation[1, 1].any():
        raise RuntimeError("the middle\nis taken")
    return int(np.flatnonzero(state.legal_action_mask)[-1])


PLUGINS = {
    "last": python_player(last, help="the last cell", game="tic_tac_toe"),
    "highest": jax_player(lambda states, bits: 8 - jnp.argmax(states.legal_action_mask[:, ::-1], axis=-1)),
    "stubborn": jax_player(lambda states, bits: jnp.zeros(len(bits), jnp.int32)),
    "unnamed": python_player(last),
}
NAMED = ["last", "highest", "stubborn", "a_game"]


@pytest.fixture(scope="module")
def http():
    with pytest.MonkeyPatch.context() as patch:
        for name, player in PLUGINS.items():
            patch.setitem(registry.PLAYERS, name, registry.entry_of(name, player))
        with serving(plugins=NAMED) as (_, client):
            yield client


def against(one, spec):
    one.create("tic_tac_toe", [PERSON, {"kind": "player", "spec": spec}])
    one.do("speed", seconds=0)


def test_named_plugins_are_listed_with_their_games_and_no_others(http):
    games = {game["id"]: game["players"] for game in http.get("/api/games").json()["games"]}
    listed = {player["name"]: player for player in games["tic_tac_toe"]}
    assert {"last", "highest", "stubborn"} <= set(listed) and not {"unnamed", "a_game"} & set(listed)
    assert listed["last"]["help"] == "the last cell" and not listed["last"]["values"]
    assert "last" not in [player["name"] for player in games["connect_four"]]
    players = OfferedPlayers(plugins=NAMED)
    assert players.resolve("last", make("tic_tac_toe")) == "last"
    for spec in ("unnamed", "last:5", "last,c=1"):
        with pytest.raises(ValueError, match="unknown player"):
            players.resolve(spec, make("tic_tac_toe"))


@pytest.mark.parametrize("spec", ["last", "highest"])
def test_a_plugin_plays(http, spec):
    with page(http) as ann:
        against(ann, spec)
        ann.do("turn", text="1")
        state = ann.wait(lambda s: s["ply"] == 2)
        assert state["history"][1]["text"] == "9" and state["seats"][1]["name"] == spec


@pytest.mark.parametrize(
    ("spec", "cell", "why"), [("last", "5", "RuntimeError: the middle is taken"), ("stubborn", "1", "illegal")]
)
def test_a_plugin_that_fails_loses_this_game_and_the_page_says_why(http, spec, cell, why):
    with page(http) as ann:
        against(ann, spec)
        ann.do("turn", text=cell)
        over = ann.wait(lambda s: s["over"])["over"]
        assert over["winner"] == 0 and over["points"] == [1, -1] and why in over["text"] and spec in over["text"]
        assert ann.do("undo")["over"] is None and ann.state["ply"] == 0  # back to the person's own turn
        ann.do("turn", text="9" if spec == "stubborn" else "2")
        assert ann.wait(lambda s: s["ply"] == 2)["over"] is None


def test_the_command_line_names_them(monkeypatch, tmp_path):
    served = {}
    monkeypatch.setattr("jaxgames.web.server.serve", lambda runs, *_, plugins, **__: served.update(plugins=plugins))
    monkeypatch.setattr(registry, "PLAYERS", dict(registry.PLAYERS))
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text("def move(state):\n    return 0\n")
    assert main(["web", "--plugin", str(tmp_path / "one.py"), "--plugin", str(tmp_path / "two.py")]) == 0
    assert served["plugins"] == ["one", "two"]
    assert main(["web"]) == 0 and served["plugins"] == []
