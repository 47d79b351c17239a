"""Whatever can be set has an effect: each setting of each configuration, tried with another value."""

import importlib
import re
from pathlib import Path

import pytest

from jaxgames.algos.evolution.strategies.evosax import EvosaxConfig
from jaxgames.ops.settings import Above, Settings, groups, own
from tests.settings import evolved, learners, searches
from tests.settings.tables import KEPT

ROOT = Path(__file__).parents[2]
TABLES = {
    "NetworkSpec": learners.NETWORK,
    "AlphaZeroConfig": learners.ALPHAZERO,
    "NStepConfig": learners.N_STEP,
    "ExactConfig": learners.EXACT,
    "MonteCarloConfig": learners.MONTE_CARLO,
    "ExpectedConfig": learners.EXPECTED,
    "SequentialConfig": learners.SEQUENTIAL,
    "ImitationConfig": learners.IMITATION,
    "SelfPlayConfig": learners.SELF_PLAY,
    "Variant": learners.VARIANT,
    "SeedsConfig": learners.SEEDS,
    "UCT": searches.UCT,
    "PUCT": searches.PUCT,
    "RAVE": searches.RAVE,
    "AMAF": searches.AMAF,
    "Gumbel": searches.GUMBEL,
    "UCD": searches.UCD,
    "Recursive": searches.RECURSIVE,
    "OneRound": searches.ONE_ROUND,
    "Noise": searches.NOISE,
    "Rollout": searches.ROLLOUT,
    "LastGoodReply": searches.LAST_GOOD_REPLY,
    "Search": searches.SEARCH,
    "Expectimax": searches.EXPECTIMAX,
    "NetworkConfig": evolved.NETWORK,
    "GeneticConfig": evolved.GENETIC,
    "OpenESConfig": evolved.OPEN_ES,
    "LowRankConfig": evolved.LOW_RANK,
    "GroupsConfig": evolved.GROUPS,
    "HillClimbConfig": evolved.HILL_CLIMB,
    "MapElitesConfig": evolved.MAP_ELITES,
    "NSGA2Config": evolved.NSGA2,
    "CMA_ESConfig": evolved.of_evosax("CMA_ES"),
}
SHARED = {
    "TDConfig",
    "SquaredErrorConfig",
    "BatchConfig",
    "AllMovesAsFirst",
    "ByGumbel",
    "EvolutionConfig",
    "ScoredConfig",
}
SHARED |= {"PopulationConfig", "EvosaxConfig"}
"""What several classes have in common: nothing is made of them alone."""


def kinds(of=Settings):
    """All classes of settings of the package."""
    for path in sorted((ROOT / "jaxgames").rglob("*.py")):
        if "Settings" in path.read_text("utf-8"):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    found = [of]
    for kind in found:
        found += [one for one in kind.__subclasses__() if one not in found and one.__module__.startswith("jaxgames.")]
    return found[1:]


def test_every_class_of_settings_has_a_table():
    made = {kind.__name__ for kind in EvosaxConfig.__subclasses__()}  # by name, from what evosax tells of a strategy
    found = {kind.__name__ for kind in kinds()} - made
    assert found >= SHARED and found - SHARED == TABLES.keys() - made
    for name, table in TABLES.items():
        assert type(table.usual).__name__ == name


@pytest.mark.parametrize("name", TABLES)
def test_every_setting_has_a_row(name):
    """Whoever adds a setting says here what it changes. One whose only choice is said already needs none."""
    table = TABLES[name]
    declared = table.usual.declarations()
    free = {name for name, one in declared.items() if len(one.choices) != 1}
    assert free == table.rows.keys() | table.refusals.keys()
    for setting, row in table.every():
        assert KEPT not in row.results or declared[setting].derived


@pytest.mark.parametrize(
    ("name", "setting", "row"),
    [
        pytest.param(name, setting, row, id=f"{name}-{setting}-{row.value}")
        for name, table in TABLES.items()
        for setting, row in table.every()
    ],
)
def test_another_value_makes_a_difference(name, setting, row):
    """Programs are compared, not runs: what nothing reads is in neither of them."""
    table = TABLES[name]
    before = table.usual.replace(**row.base)
    after = before.replace(**{setting: row.value})
    assert before.values()[setting] != after.values()[setting]
    for result in row.results or (next(iter(table.parts)),):
        if result == KEPT:
            assert before.to_json() != after.to_json()
        else:
            assert table.result(before, result) != table.result(after, result), f"{setting} does not change {result}"


def switched_off():
    """Each setting that others switch off, with the values of one that does."""
    for name, table in TABLES.items():
        declared = table.usual.declarations()
        rows = dict(table.every())
        for setting, one in declared.items():
            for other, wanted in one.when.items():
                if setting not in rows or other not in declared:
                    continue
                offs = _not_in(wanted, declared[other])
                if offs:
                    yield pytest.param(name, setting, rows[setting], other, offs, id=f"{name}-{setting}-{other}")


def _not_in(wanted, declared):
    """Values of a setting that are not among those wanted."""
    if isinstance(wanted, Above):
        return [declared.base(wanted.number)]
    choices = (True, False) if declared.base is bool else declared.choices
    return [one for one in choices if one not in (wanted if isinstance(wanted, tuple) else (wanted,))]


@pytest.mark.parametrize(("name", "setting", "row", "other", "offs"), list(switched_off()))
def test_what_is_switched_off_is_refused(name, setting, row, other, offs):
    config = TABLES[name].usual.replace(**row.base)
    usual = own_default(config, setting)
    value = row.value if row.value != usual else config.values()[setting]
    for off in offs:
        with pytest.raises(ValueError, match=f"^{setting}=.* has no effect without .*{other}") as caught:
            config.replace(**{other: off, setting: value})
        assert "\n" not in str(caught.value)
        try:
            assert config.replace(**{other: off}).values().get(setting, usual) == usual
        except ValueError:  # what must be changed beside it
            continue


def own_default(config, setting):
    """The value of a setting that nobody has said."""
    if setting in own(type(config)):
        return own(type(config))[setting].default
    return next(
        own_default(getattr(config, name), setting)
        for name in groups(type(config))
        if setting in getattr(config, name).declarations()
    )


@pytest.mark.parametrize(
    ("name", "setting"), [(name, setting) for name, table in TABLES.items() for setting in table.refusals]
)
def test_what_would_have_no_effect_is_refused(name, setting):
    table = TABLES[name]
    refusal = table.refusals[setting]
    with pytest.raises(ValueError, match=refusal.line) as caught:
        table.usual.replace(**refusal.base).replace(**{setting: refusal.value})
    assert "\n" not in str(caught.value)


def test_numbers_of_programs():
    """What is computed and not used does not count; a constant, and what becomes of it, does."""
    import jax
    import jax.numpy as jnp

    from tests.settings.traces import Program

    def program(used, unused, more=0):
        def run(x):
            dead = x * jnp.float32(unused) + jnp.full(3, unused, jnp.float32)

            def step(carry, _):
                kept, *lost = carry
                return (kept * used, *(one + unused for one in lost)), None

            (kept, *_), _ = jax.lax.scan(step, (x, dead, *[dead] * more), length=2)
            for number in range(more):  # constants that nothing reads
                _ = x + jnp.asarray([number, 2.0], jnp.float32)
            return {"kept": jax.jit(lambda y: y + jnp.asarray([used, 2.0], jnp.float32))(kept), "other": x}

        return Program(run, jnp.float32(1))

    one, other, dead = program(1.0, 1.0), program(3.0, 1.0), program(1.0, 3.0)
    assert one.of() == dead.of() == program(1.0, 1.0, 2).of() != other.of() and one.of("other") == other.of("other")
    assert one.of("kept") != other.of("kept")
    with pytest.raises(AssertionError, match=re.escape("('lost',): expected some of kept, other")):
        one.of("lost")
