"""`backgammon-strong`: TD(lambda) by self-play, expected TD(lambda) with a network for each class of positions, and a
round in which a network learns from the player that came out.
"""

import bisect
import dataclasses
import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

import jax
import numpy as np

from jaxgames.algos.td import TDConfig, TDState, make_learner
from jaxgames.algos.td.members import repeated
from jaxgames.algos.td.parallel import place
from jaxgames.algos.td.saved import TDCheckpoint, config_of, template
from jaxgames.recipes.overrides import parse_overrides
from jaxgames.recipes.plan import Plan
from jaxgames.recipes.report import Report
from jaxgames.recipes.td.recipe import NOT_FOR_PEOPLE, Published, TDJob, TDRecipe
from jaxgames.recipes.training import Block
from jaxgames.runs import Run

FIRST = TDConfig(encoding="strategic", hidden=(128,), outputs=6, output="softmax", step_size=0.002)
SECOND = dataclasses.replace(
    FIRST,
    by_class=True,
    method="expected",
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
            dataclasses.replace(config, updates=number, **more)
            for (config, more), number in zip(kinds, updates, strict=False)
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

    stages: Mapping[str, Stages] = dataclasses.field(default_factory=dict)

    def length(self) -> str:
        """How long it takes if nothing is said."""
        numbers = {name: [f"{c.updates:,}" for c in stages.configs] for name, stages in self.stages.items()}
        return "; ".join(f"{name} {' + '.join(each)} updates" for name, each in numbers.items())

    def check(self, plan: Plan) -> None:
        """As `Recipe.check`."""
        self.of_plan(plan).configs[-1].network()

    def of_plan(self, plan: Plan) -> Stages:
        """The stages of a plan, with its changes. Raises `ValueError` for what makes no sense."""
        if plan.minutes is not None or plan.games is not None:
            raise ValueError(f"{self.name} trains for a number of updates: --set first_updates=N, --set updates=N")
        stages = self.stages[plan.setting_of(self.name, self.game, self.stages, minutes=True)]
        names = UPDATES[: len(stages.configs)]
        types = {name: kind for name, kind in get_type_hints(TDConfig).items() if name not in NOT_FOR_PEOPLE}
        found = parse_overrides({**dict.fromkeys(names, int), **types}, plan.changes)
        numbers = [found.pop(name, config.updates) for name, config in zip(names, stages.configs, strict=True)]
        shared = {name: found[name] for name in SHARED if name in found}
        for name, number in zip(names, numbers, strict=True):
            if number < 1:
                raise ValueError(f"{name}={number}: expected a number from 1 to {2**31 - 1}")
        first, *later = (
            dataclasses.replace(config, updates=number) for config, number in zip(stages.configs, numbers, strict=True)
        )
        members = {"members": found.pop("members")} if "members" in found else {}  # a player that teaches has only one
        later = [dataclasses.replace(config, **found) for config in later]
        later[-1] = dataclasses.replace(later[-1], **members)
        configs = (dataclasses.replace(first, **shared), *later)
        return stages._replace(configs=configs)

    def content(self, plan: Plan, report: Report) -> dict[str, Any]:
        """As `Recipe.content`. The plan with its seed decides the weights to the last bit."""
        (configs, most), devices = self.of_plan(plan), plan.devices or 1
        for config in configs:
            place(make_learner(config), devices)
        blocks = [math.gcd(block, config.updates) for block, config in zip(most, configs, strict=True)]
        return {
            "kind": "td",
            "recipe": self.name,
            "setting": plan.label(plan.setting or next(iter(self.stages))),
            "game": self.game,
            "seed": plan.seed or 0,
            "devices": devices,
            "goal": {"minutes": None, "games": None, "updates": sum(config.updates for config in configs)},
            "block": blocks[0],
            "blocks": blocks,
            "measure_every": [
                min(config.updates // 4, most) // block * block or block
                for config, block, most in zip(configs, blocks, MEASURED, strict=False)
            ],
            "measured_games": plan.measured_games or 2_000,
            "final_games": plan.final_games or 10_000,
            "stages": [dataclasses.asdict(config) for config in configs],
            "learner": dataclasses.asdict(configs[-1]),
        }

    def job(self, run: Run, report: Report) -> "StrongJob":
        """As `Recipe.job`."""
        return StrongJob(self, run, report)


class StrongJob(TDJob):
    """As `TDJob`, for one stage after the other. Steps are the updates of all."""

    keys = (*TDJob.keys, "stages", "blocks")

    def __init__(self, recipe: TDRecipe, run: Run, report: Report):
        super().__init__(recipe, run, report)
        self.configs = [config_of(settings) for settings in run.config["stages"]]
        self.ends = list(itertools.accumulate(config.updates for config in self.configs))
        self.enter(bisect.bisect_left(self.ends, max(run.steps(), default=0)))

    def enter(self, stage: int) -> None:
        """Goes to a stage: its learner, and the numbers that its updates have."""
        seed = jax.random.key(self.settings["seed"])
        self.stage, self.config = stage, self.configs[stage]
        self.learner = place(make_learner(self.config), self.settings["devices"])
        self.key = jax.random.fold_in(seed, 2**31 + stage) if stage else seed
        self.block, self.earlier = self.settings["blocks"][stage], self.ends[stage] - self.config.updates

    def template(self) -> TDCheckpoint:
        """As `Job.template`."""
        return template(self.config)

    def advance(self, checkpoint: TDCheckpoint, step: int) -> Block[TDCheckpoint]:
        """As `Job.advance`."""
        if step == self.ends[self.stage]:
            following = self.configs[self.stage + 1]
            params = self.as_members(jax.device_get(checkpoint.state.params), following.members)
            self.enter(self.stage + 1)
            checkpoint = checkpoint._replace(state=self.begin(params))
        return super().advance(checkpoint, step)

    def begin(self, params: Any) -> TDState:
        """The state in which a later stage begins."""
        learner, params = make_learner(self.config), jax.tree.map(np.array, params)
        state = learner.init(jax.random.fold_in(self.key, 2**31))
        return self.learner.place(state._replace(params=params, traces=learner.init_traces(params)))

    def as_members(self, params: Any, members: int) -> Any:
        """A stage's player as the mean of equal members, with a network for each class, as later stages have them."""
        if self.stage == 0 and self.network.by_class:
            params = self.network.for_each_class(params)
        return repeated(params, members // self.config.members)

    def for_play(self, params: Any) -> Any:
        """A stage's player as one of the last stage's shape, which a run is known by."""
        return self.as_members(params, self.configs[-1].members)

    def is_measured(self, step: int) -> bool:
        """As `Job.is_measured`."""
        return (step - self.earlier) % self.settings["measure_every"][self.stage] == 0 or step in self.ends

    def measure(self, checkpoint: TDCheckpoint, entry: Mapping[str, Any]) -> dict[str, Any]:
        """As `TDJob.measure`."""
        state = checkpoint.state
        return super().measure(checkpoint._replace(state=state._replace(params=self.for_play(state.params))), entry)

    def results(self, checkpoint: TDCheckpoint) -> dict[str, Any]:
        """As `TDJob.results`."""
        self.enter(len(self.configs) - 1)
        return super().results(checkpoint)


BACKGAMMON_STRONG = StrongRecipe(
    name="backgammon-strong",
    summary="backgammon as strong as can be: strategic inputs, three networks, targets without the luck of the dice",
    settings={name: stages.configs[-1] for name, stages in STAGES.items()},
    stages=STAGES,
    opponents=("pubeval",),
    watched="pubeval",
    published=(
        Published("pubeval", 0.43, "80 hidden units", "best known for 80 hidden units and raw inputs (compgammon)"),
        Published("pubeval", 0.657, "gnubg 0-ply", "GNU Backgammon 1.1.0a16 without look-ahead, 8,000 games"),
    ),
)
