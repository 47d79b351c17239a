"""The form of a training: the options and settings of the command line, its errors, and nothing that names a file."""

import pytest

from jaxgames.algos.td.methods import METHODS
from jaxgames.cli.training_form import OFFERED, OPTIONS, TrainingForm
from jaxgames.recipes import RECIPES, Plan
from jaxgames.recipes.recipe import OfAnyGame

FORM = TrainingForm()
TTT = {"recipe": "td", "game": "tic_tac_toe"}


def form(fields=None, changes=None):
    return FORM.form({"fields": fields or {}, "set": changes or {}, "players": []})


def arguments(fields, changes=None):
    return FORM.arguments({"fields": fields, "set": changes or {}, "players": []})


def field(found, name):
    return next(one for one in found["fields"] if one["name"] == name)


@pytest.mark.parametrize("name", [name for name in OFFERED if "alphazero" not in name])
def test_the_usual_form_of_every_recipe_can_be_started(name):
    found = form({"recipe": name})
    assert found["error"] is None and found["name"] == name
    assert field(found, "recipe")["choices"] == list(OFFERED)
    setting = field(found, "setting")
    assert setting["value"] == setting["choices"][0] and len(found["settings"]) > 1
    assert all(one["help"] for one in found["fields"] + found["settings"])


@pytest.mark.parametrize("name", OFFERED)
def test_what_a_recipe_declares_is_what_set_may_change(name):
    recipe = RECIPES[name]
    recipe = recipe.recipe("tic_tac_toe") if isinstance(recipe, OfAnyGame) else recipe
    for setting in recipe.names:
        declared = recipe.declared(Plan(setting=setting))
        assert not any(one.derived for one in declared.values())
        texts = {n: str(one.default).lower() for n, one in declared.items() if one.base in (int, bool) and one.choices}
        recipe.declared(Plan(setting=setting, changes=texts))
        with pytest.raises(ValueError, match="unknown setting 'wings'"):
            recipe.declared(Plan(setting=setting, changes={"wings": "2"}))


@pytest.mark.parametrize(
    ("fields", "changes", "says"),
    [
        (TTT | {"minutes": "-1"}, {}, "minutes -1: expected a number above 0"),
        (TTT | {"minutes": "long"}, {}, "argument --minutes: invalid float value: 'long'"),
        (TTT | {"minutes": "1", "games": "2"}, {}, "argument --games: not allowed with argument --minutes"),
        (TTT, {"hidden": "x"}, "hidden='x': expected whole numbers from 1 on"),
        (TTT, {"last_step_size": "0.1", "schedule": "constant"}, "has no effect without schedule="),
        (TTT, {"opponents": "random*2"}, "opponents is of the command line"),
        (TTT | {"from_file": "/etc/passwd"}, {}, "unknown option 'from_file'; the page has game, setting"),
        ({"recipe": "td", "game": "go"}, {}, "unknown game 'go'"),
        ({"recipe": "imitation"}, {}, "learns from a data set"),
        ({"recipe": "--resume"}, {}, "unknown recipe '--resume'"),
        ({"recipe": "backgammon-strong", "minutes": "5"}, {}, "trains for a number of updates"),
    ],
)
def test_what_cannot_be_is_said_as_the_command_line_says_it(fields, changes, says):
    error = form(fields, changes)["error"]
    assert says in error and "\n" not in error
    with pytest.raises(ValueError, match="."):
        arguments(fields, changes)


def test_what_is_filled_in_becomes_a_command_line():
    given = {**TTT, "games": "1000", "measured_games": "10", "seed": ""}
    found = arguments(given, {"hidden": "4,4", "batch": ""})
    assert found == ["td", "--game=tic_tac_toe", "--games=1000", "--measured-games=10", "--set=hidden=4,4"]
    assert {"from_file", "data", "devices"}.isdisjoint(OPTIONS)


def test_another_method_has_other_settings_and_those_without_effect_are_idle():
    method = next(one for one in form()["settings"] if one["name"] == "method")
    assert method["choices"] == list(METHODS)
    before, after = ({one["name"] for one in form({}, c)["settings"]} for c in ({}, {"method": "sequential_td"}))
    assert before - after and "lambda_" in after
    idle = {s: [o["name"] for o in form({}, {"schedule": s})["settings"] if o["idle"]] for s in ("constant", "cosine")}
    assert "last_step_size" in idle["constant"] and "last_step_size" not in idle["cosine"]
