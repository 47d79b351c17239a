"""Settings that are declared once: what is checked, read, refused and written."""

import dataclasses
import json
import math

import pytest

from jaxgames.ops.settings import Above, Settings, group, keep_at_most, setting


@dataclasses.dataclass(frozen=True)
class Network(Settings):
    """A network."""

    hidden: tuple[int, ...] = setting((40,), "units of each hidden layer", low=1)
    kind: str = setting("mlp", "the form", choices=("mlp", "windows"))
    window: int = setting(4, "rows and columns of a window", low=1, high=8, when={"kind": "windows"})


@dataclasses.dataclass(frozen=True)
class Config(Settings):
    """A learner."""

    of = "a test"
    network: Network = group(Network)
    batch: int = setting(128, "games at once", low=1, high=2**20)
    discount: float = setting(1.0, "of a ply", above=0, high=1)
    share: float = setting(0.5, "of noise", low=0)
    exact: bool = setting(False, "whether tables are asked")
    outputs: int = setting(4, "how many", choices=(2, 4, 6))
    limit: int | None = setting(None, "at most so many", low=0)


def test_values_are_as_their_kinds():
    config = Config(discount=1, network=Network(hidden=[3, 4]))
    assert config.network.hidden == (3, 4) and type(config.discount) is float
    assert hash(config) == hash(Config(network=Network(hidden=(3, 4))))


@pytest.mark.parametrize(
    "values, line",
    [
        ({"batch": 0}, "batch 0: expected a whole number from 1 to 1,048,576"),
        ({"batch": 1.5}, "batch 1.5: expected a whole number"),
        ({"batch": "4"}, "batch '4': expected a whole number"),
        ({"batch": True}, "batch True: expected a whole number"),
        ({"discount": 0}, "discount 0: expected a number above 0, at most 1"),
        ({"discount": math.nan}, "discount nan: expected a number above 0, at most 1"),
        ({"discount": 1e-50}, "discount 1e-50: expected a number above 0, at most 1"),  # 0 as a float32
        ({"share": 1e39}, "share 1e+39: expected a number from 0 on"),  # infinite as a float32
        ({"share": math.inf}, "share inf: expected a number from 0 on"),
        ({"exact": 1}, "exact 1: expected true or false"),
        ({"outputs": 3}, "outputs 3: expected one of 2, 4, 6"),
        ({"limit": -1}, "limit -1: expected a whole number from 0 on, or none"),
        ({"hidden": (0,)}, "hidden 0: expected whole numbers from 1 on, such as 40"),
        ({"hidden": 40}, "hidden 40: expected whole numbers from 1 on, such as 40"),
        ({"kind": "conv"}, "kind 'conv': expected one of mlp, windows"),
        ({"window": 3}, "window=3 has no effect without kind=windows"),
        ({"colour": 3}, "unknown setting 'colour' of a test; available: "),
    ],
)
def test_what_makes_no_sense_is_one_line(values, line):
    with pytest.raises((ValueError, TypeError)) as error:
        Config().replace(**values)
    assert str(error.value).startswith(line) and "\n" not in str(error.value)


def test_texts():
    config = Config().change({"hidden": "80,40", "exact": "true", "outputs": "6", "limit": "7", "kind": "windows"})
    assert config == Config(Network((80, 40), "windows"), exact=True, outputs=6, limit=7)
    assert config.change({"limit": "none", "hidden": ""}) == Config(Network((), "windows"), exact=True, outputs=6)
    wrong = {"batch": ["x"], "exact": ["1"], "outputs": ["5", "06"], "hidden": ["a"], "discount": ["nan"]}
    for name, text in ((name, text) for name, texts in wrong.items() for text in texts):
        with pytest.raises(ValueError, match=f"^{name}='{text}': expected "):
            config.change({name: text})


def test_json_holds_what_has_a_meaning_and_is_read_whole():
    for config in (Config(), Config(Network(kind="windows", window=3), limit=2)):
        found = json.loads(json.dumps(config.to_json()))
        assert Config.from_json(found) == config
        assert ("window" in found) == (config.network.kind == "windows")
    for wrong, line in [
        (found | {"colour": 1}, "unknown setting 'colour' of a test"),
        ({name: value for name, value in found.items() if name != "batch"}, "setting 'batch' of a test is missing"),
        (found | {"batch": "many"}, "batch 'many': expected a whole number"),
        ([1], "the settings of a test are a list"),
    ]:
        with pytest.raises(ValueError, match=line):
            Config.from_json(wrong)


@dataclasses.dataclass(frozen=True)
class Beyond(Config):
    """A learner with a field that is no setting."""

    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class Somewhere(Config):
    """A learner that needs more than settings."""

    place: str = dataclasses.field(kw_only=True)


def test_json_that_cannot_be_read_is_not_written():
    assert Beyond.from_json(Beyond(batch=3).to_json()) == Beyond(batch=3)
    with pytest.raises(ValueError, match=r"^scale=2.0 of a test is no setting, and cannot be written$"):
        Beyond(scale=2.0).to_json()
    with pytest.raises(ValueError, match="^a test cannot be read from settings alone: make one with place, and then "):
        Somewhere.from_json(Somewhere(place="here").to_json())


def test_forms_know_ranges_choices_and_meaning():
    forms = {name: declared.form() for name, declared in Config().declarations().items()}
    assert forms["window"]["when"] == {"kind": ["windows"]} and forms["window"]["most"] == 8
    assert forms["outputs"]["choices"] == [2, 4, 6] and forms["hidden"]["several"]
    assert forms["limit"]["optional"] and "optional" not in forms["hidden"]
    assert json.loads(json.dumps(forms["discount"])) == {
        "name": "discount", "type": "float", "default": 1.0, "help": "of a ply", "above": 0, "most": 1,
    }  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Narrow(Settings):
    """A learner of networks that have some forms only."""

    of = "another test"
    network: Network = group(Network((8,)), {"kind": ("mlp",)})


@dataclasses.dataclass(frozen=True)
class Wide(Settings):
    """A learner of networks in windows of some sizes."""

    network: Network = group(Network(kind="windows", window=3), {"window": (3, 5)})


def test_a_group_may_have_less_choices():
    narrow = Narrow()
    assert list(narrow.declarations()) == ["hidden"] and narrow.to_json() == {"hidden": [8]}
    assert Narrow.from_json({"hidden": [3, 2]}) == narrow.change({"hidden": "3,2"}) == Narrow(Network((3, 2)))
    with pytest.raises(ValueError, match="unknown setting 'kind' of another test; available: hidden$"):
        narrow.change({"kind": "windows"})
    with pytest.raises(ValueError, match="^kind 'windows': expected one of mlp$"):
        Narrow(Network(kind="windows"))
    with pytest.raises(ValueError, match="^window='4': expected one of 3, 5$"):
        Wide().change({"window": "4"})
    assert Wide().declarations()["window"].form()["when"] == {"kind": ["windows"]}


def test_what_a_change_switches_off_has_its_usual_value_again():
    config = Config(Network(kind="windows", window=3))
    assert config.change({"kind": "mlp"}) == Config()
    with pytest.raises(ValueError, match="^window=3 has no effect without kind=windows$"):
        config.change({"kind": "mlp", "window": "3"})


@dataclasses.dataclass(frozen=True)
class Shares(Settings):
    """Settings of which one needs a number above another, and one follows from a plan."""

    share: float = setting(0.0, "how many", low=0, high=1)
    size: int = setting(8, "of those", low=2, when={"share": Above(0)})
    updates: int = setting(100, "of the whole training", low=1, derived=True)


def test_a_setting_may_need_a_number_above_another():
    assert Shares().change({"share": "0.5", "size": "4"}) == Shares(0.5, 4)
    with pytest.raises(ValueError, match="^size=4 has no effect without share above 0$"):
        Shares().change({"size": "4"})
    assert Shares().to_json() == {"share": 0.0, "updates": 100}
    assert json.loads(json.dumps(Shares().declarations()["size"].form()))["when"] == {"share": {"above": 0}}


def test_what_follows_from_a_plan_is_set_by_no_text():
    with pytest.raises(ValueError, match="^unknown setting 'updates' of settings; available: share, size$"):
        Shares().change({"updates": "3"})
    assert Shares.from_json({"share": 0, "updates": 3}) == Shares().replace(updates=3) == Shares(updates=3)


def test_a_default_is_lowered_to_another_setting():
    @dataclasses.dataclass(frozen=True)
    class Steps(Settings):
        first: float = setting(0.1, "the first step", above=0)
        last: float = setting(0.01, "the last step", low=0)

        def __post_init__(self) -> None:
            super().__post_init__()
            keep_at_most(self, "last", "first")

    assert Steps().last == 0.01 and Steps(first=0.001).to_json() == {"first": 0.001, "last": 0.001}
    with pytest.raises(ValueError, match="last=0.2: expected at most first=0.1"):
        Steps(last=0.2)
