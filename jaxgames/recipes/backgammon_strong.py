"""`backgammon-strong`: TD(lambda) by self-play, expected TD(lambda) with a network for each class of positions, and a
round in which a network learns from the player that came out.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from typing_extensions import override

from jaxgames.algos.parallel import mesh_of
from jaxgames.algos.td import TDConfig, make_config
from jaxgames.algos.td.methods import TDCheckpoint, config_of
from jaxgames.algos.td.value import repeated
from jaxgames.ops.settings import Setting, parse, settable
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.recipes.td import Published, TDJob, TDRecipe
from jaxgames.runs import Run

_NETWORK: dict[str, Any] = {"encoding": "strategic", "hidden": (128,), "outputs": 6}
FIRST = make_config("n_step", **_NETWORK, output="softmax", step_size=0.002)
SECOND = make_config(
    "expected",
    **_NETWORK,
    by_class=True,
    lambda_=0.7,
    batch=64,
    plies=8,
    optimizer="adamw",
    step_size=0.0007,
    last_step_size=0.00002,
    schedule="cosine",
)

SHARED = ("encoding", "hidden", "activation", "initializer")
"""What all stages have alike: the network."""

UPDATES = ("first_updates", "updates", "last_updates")
"""What people call the numbers of updates of the stages."""

MEASURED = (16_000, 1_000, 1_000)
"""Updates of each stage after which it is measured and saved, at most: about ten minutes of one core."""


class Stages(NamedTuple):
    """The settings of the stages, with their numbers of updates, and the updates between two lines of metrics."""

    configs: tuple[TDConfig, ...]
    blocks: tuple[int, ...]

    @classmethod
    def of(cls, *updates: int, blocks: tuple[int, ...] = (1_000, 25, 25), **changes: Any) -> "Stages":
        """Two stages or three of so many updates, the later ones with changes; all learn the same network."""
        shared = {name: changes[name] for name in SHARED if name in changes}
        kinds = (FIRST, shared), (SECOND, changes), (SECOND, changes | LAST)
        configs = (
            config.replace(updates=number, **more) for (config, more), number in zip(kinds, updates, strict=False)
        )
        return cls(tuple(configs), blocks[: len(updates)])


LARGE: dict[str, Any] = {
    "hidden": (256,),
    "lambda_": 0.5,
    "replay": 2**20,
    "steps": 40,
    "average": 0.9995,
    "step_size": 0.01,
    "last_step_size": 0.0001,
    "weight_decay": 0.01,
}
"""Twice the units, each position learned forty times, with large steps: playing costs more than learning."""

LAST: dict[str, Any] = {
    "teacher": True,
    "members": 3,
    "epsilon": 0.1,
    "lambda_": 0.7,
    "replay": 2**22,
    "steps": 20,
}
"""In the last stage three networks learn from the player that came out of the one before, and the player is their mean.
They forget none of its positions, and see rare ones, too: every tenth turn is a random one.
"""

STAGES = {
    "fast": Stages.of(64_000, 2_000),
    "hours": Stages.of(32_000, 5_000, 5_000, **LARGE),
    "gpu": Stages.of(64_000, 40_000, **(LARGE | {"batch": 2_048, "minibatch": 4_096, "replay": 2**22})),
}
"""`fast`: about half an hour of one core. `hours`: two hours of one core. `gpu`: not tried by us on one."""


@dataclasses.dataclass(frozen=True)
class StrongRecipe(TDRecipe):
    """A TD training in stages; its length is a number of updates of each."""

    stages_by_name: Mapping[str, Stages] = dataclasses.field(default_factory=dict)

    @override
    def length(self) -> str:
        numbers = {name: [f"{c.updates:,}" for c in stages.configs] for name, stages in self.stages_by_name.items()}
        return "; ".join(f"{name} {' + '.join(each)} updates" for name, each in numbers.items())

    @override
    def check(self, plan: Plan) -> None:
        configs = self.of_plan(plan).configs
        configs[-1].network()
        for config in configs:
            mesh_of(config, plan.devices or 1)

    @override
    def prepared(self, plan: Plan, report: Report) -> Plan:
        return plan

    def of_plan(self, plan: Plan) -> Stages:
        """The stages of a plan, with its changes. Raises `ValueError` for what makes no sense."""
        if plan.minutes is not None or plan.games is not None:
            raise ValueError(f"{self.name} trains for a number of updates: --set first_updates=N, --set updates=N")
        stages = self.stages_by_name[plan.setting_of(self.name, self.game, self.stages_by_name, minutes=True)]
        first, *later = stages.configs
        names = UPDATES[: len(stages.configs)]
        changes = parse(_declared(stages), plan.changes, self.name)
        numbers = [changes.pop(name, config.updates) for name, config in zip(names, stages.configs, strict=True)]
        shared = {name: changes[name] for name in SHARED if name in changes}
        # A player that teaches has only one member.
        members = {"members": changes.pop("members")} if "members" in changes else {}
        later = [config.replace(**changes) for config in later]
        later[-1] = later[-1].replace(**members)
        configs = zip((first.replace(**shared), *later), numbers, strict=True)
        return stages._replace(configs=tuple(config.replace(updates=number) for config, number in configs))

    @override
    def declared(self, plan: Plan) -> dict[str, Setting]:
        return _declared(self.of_plan(plan))

    @override
    def details(self, plan: Plan) -> dict[str, Any]:
        # The plan with its seed decides the weights to the last bit.
        (configs, most), devices = self.of_plan(plan), plan.devices or 1
        blocks = [math.gcd(block, config.updates) for block, config in zip(most, configs, strict=True)]
        return {
            "game": self.game,
            "devices": devices,
            "goal": {"minutes": None, "games": None, "updates": sum(config.updates for config in configs)},
            "block": blocks[0],
            "blocks": blocks,
            "measure_every": [
                min(config.updates // 4, most) // block * block or block
                for config, block, most in zip(configs, blocks, MEASURED, strict=False)
            ],
            "stages": [config.to_json() for config in configs],
            "learner": configs[-1].to_json(),
        }

    @override
    def job(self, run: Run, report: Report) -> "StageJob":
        return self.stages(run, report)[-1]

    @override
    def stages(self, run: Run, report: Report) -> "Sequence[StageJob]":
        configs = [config_of(settings) for settings in run.config["stages"]]
        return [StageJob(self, run, report, configs, number) for number in range(len(configs))]


class StageJob(TDJob):
    """One stage of several. Steps are the updates of all."""

    keys = (*TDJob.keys, "stages", "blocks")

    def __init__(self, recipe: TDRecipe, run: Run, report: Report, configs: Sequence[TDConfig], number: int):
        super().__init__(recipe, run, report, configs[number])
        self.configs, self.number = configs, number
        self.network = configs[-1].network()  # which a run is known by
        self.block = self.settings["blocks"][number]
        self.earlier = sum(config.updates for config in configs[:number])
        self.end = self.earlier + self.config.updates
        if number:
            self.key = jax.random.fold_in(self.key, 2**31 + number)

    @override
    def begin_after(self, checkpoint: TDCheckpoint) -> TDCheckpoint:
        params = jax.tree.map(np.array, jax.device_get(checkpoint.state.params))
        params = as_members(params, self.configs[self.number - 1], self.config)
        state = self.learner.init(jax.random.fold_in(self.key, 2**31), jax.tree.map(np.array, params))
        return checkpoint._replace(state=self.placed.place(state))

    @override
    def for_play(self, params: Any) -> Any:
        return as_members(params, self.config, self.configs[-1])

    @override
    def is_measured(self, step: int) -> bool:
        return (step - self.earlier) % self.settings["measure_every"][self.number] == 0


def as_members(params: Any, before: TDConfig, after: TDConfig) -> Any:
    """A player as the mean of equal members, with a network for each class, as a later stage has them."""
    had, has = before.values(), after.values()
    if has.get("by_class", False) and not had.get("by_class", False):
        params = after.network().for_each_class(params)
    return repeated(params, has.get("members", 1) // had.get("members", 1))


BACKGAMMON_STRONG = StrongRecipe(
    name="backgammon-strong",
    summary="backgammon as strong as can be: strategic inputs, three networks, targets without the luck of the dice",
    settings={name: stages.configs[-1] for name, stages in STAGES.items()},
    stages_by_name=STAGES,
    opponents=("pubeval",),
    watched="pubeval",
    published=(
        Published("pubeval", 0.43, "80 hidden units", "best known for 80 hidden units and raw inputs (compgammon)"),
        Published("pubeval", 0.657, "gnubg 0-ply", "GNU Backgammon 1.1.0a16 without look-ahead, 8,000 games"),
    ),
)


def _declared(stages: Stages) -> dict[str, Setting]:
    """What changes is the last stages; the network is that of all of them, and each has a number of updates."""
    declared = {name: one for name, one in settable(stages.configs[-1]).items() if name != "method"}
    for name, config in zip(UPDATES, stages.configs, strict=False):
        declared[name] = Setting(name, int, config.updates, "updates of a stage", low=1, high=2**31 - 1)
    return declared
