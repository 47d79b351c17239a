"""`backgammon-strong`: TD(lambda) by self-play, then expected TD(lambda) with a network for each class of positions."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

import jax
import numpy as np

from jaxgames.algos.td import TDConfig, TDState, make_learner
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
"""What both stages have alike: the network."""

MEASURED = (16_000, 1_000)
"""Updates of each stage after which it is measured and saved, at most: about ten minutes of one core."""


class Stages(NamedTuple):
    """The settings of both stages, with their numbers of updates, and the updates between two lines of metrics."""

    first: TDConfig
    second: TDConfig
    blocks: tuple[int, int] = (1_000, 25)

    @classmethod
    def of(cls, first: int, second: int, blocks: tuple[int, int] = (1_000, 25), **changes: Any) -> "Stages":
        """Stages of so many updates, the second one with changes; both learn the same network."""
        shared = {name: changes[name] for name in SHARED if name in changes}
        return cls(
            dataclasses.replace(FIRST, updates=first, **shared),
            dataclasses.replace(SECOND, updates=second, **changes),
            blocks,
        )


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

STAGES = {
    "fast": Stages.of(64_000, 2_000),
    "hours": Stages.of(32_000, 5_000, **LARGE),
    "gpu": Stages.of(64_000, 40_000, **(LARGE | {"batch": 2_048, "minibatch": 4_096, "replay": 2**22})),
}
"""`fast`: about half an hour of one core. `hours`: an hour and a half of one core. `gpu`: not tried by us on one."""


@dataclasses.dataclass(frozen=True)
class StrongRecipe(TDRecipe):
    """A TD training in two stages; its length is a number of updates of each."""

    stages: Mapping[str, Stages] = dataclasses.field(default_factory=dict)

    def length(self) -> str:
        """How long it takes if nothing is said."""
        return "; ".join(
            f"{name} {s.first.updates:,} + {s.second.updates:,} updates" for name, s in self.stages.items()
        )

    def check(self, plan: Plan) -> None:
        """As `Recipe.check`."""
        self.of_plan(plan).second.network()

    def of_plan(self, plan: Plan) -> Stages:
        """The stages of a plan, with its changes. Raises `ValueError` for what makes no sense."""
        if plan.minutes is not None or plan.games is not None:
            raise ValueError(f"{self.name} trains for a number of updates: --set first_updates=N, --set updates=N")
        stages = self.stages[plan.setting_of(self.name, self.game, self.stages, minutes=True)]
        hints = get_type_hints(TDConfig)
        types = {name: kind for name, kind in hints.items() if name not in NOT_FOR_PEOPLE}
        found = parse_overrides({"first_updates": int, "updates": int, **types}, plan.changes)
        first = {"updates": found.pop("first_updates")} if "first_updates" in found else {}
        shared = {name: found[name] for name in SHARED if name in found}
        stages = stages._replace(
            first=dataclasses.replace(stages.first, **first, **shared),
            second=dataclasses.replace(stages.second, **found),
        )
        for name, config in zip(("first_updates", "updates"), stages[:2], strict=True):
            if config.updates < 1:
                raise ValueError(f"{name}={config.updates}: expected a number from 1 to {2**31 - 1}")
        return stages

    def content(self, plan: Plan, report: Report) -> dict[str, Any]:
        """As `Recipe.content`. The plan with its seed decides the weights to the last bit."""
        stages, devices = self.of_plan(plan), plan.devices or 1
        for config in stages[:2]:
            place(make_learner(config), devices)
        lengths = [config.updates for config in stages[:2]]
        blocks = [math.gcd(block, length) for block, length in zip(stages.blocks, lengths, strict=True)]
        return {
            "recipe": self.name,
            "setting": plan.label(plan.setting or next(iter(self.stages))),
            "game": self.game,
            "seed": plan.seed or 0,
            "devices": devices,
            "goal": {"minutes": None, "games": None, "updates": stages.first.updates + stages.second.updates},
            "block": blocks[0],
            "blocks": blocks,
            "measure_every": [
                min(n // 4, most) // block * block or block
                for n, block, most in zip(lengths, blocks, MEASURED, strict=True)
            ],
            "measured_games": plan.measured_games or 2_000,
            "final_games": plan.final_games or 10_000,
            "first": dataclasses.asdict(stages.first),
            "learner": dataclasses.asdict(stages.second),
        }

    def job(self, run: Run, report: Report) -> "StrongJob":
        """As `Recipe.job`."""
        return StrongJob(self, run, report)


class StrongJob(TDJob):
    """As `TDJob`, for one stage after the other. Steps are the updates of both."""

    keys = (*TDJob.keys, "first", "blocks")

    def __init__(self, recipe: TDRecipe, run: Run, report: Report):
        super().__init__(recipe, run, report)
        self.first, self.second = config_of(run.config["first"]), self.config
        self.enter(self.is_second(max(run.steps(), default=0)))

    def is_second(self, step: int) -> bool:
        """Whether the checkpoint of a step is of the second stage."""
        return step > self.first.updates

    def enter(self, second: bool) -> None:
        """Goes to a stage: its learner, and the numbers that its updates have."""
        seed = jax.random.key(self.settings["seed"])
        self.config = self.second if second else self.first
        self.learner = place(make_learner(self.config), self.settings["devices"])
        self.key = jax.random.fold_in(seed, 2**31 + 1) if second else seed
        self.block, self.earlier = self.settings["blocks"][second], self.first.updates if second else 0

    def template(self) -> TDCheckpoint:
        """As `Job.template`."""
        return template(self.config)

    def advance(self, checkpoint: TDCheckpoint, step: int) -> Block[TDCheckpoint]:
        """As `Job.advance`."""
        if step == self.first.updates:
            self.enter(True)
            checkpoint = checkpoint._replace(state=self.second_stage(checkpoint.state.params))
        return super().advance(checkpoint, step)

    def second_stage(self, params: Any) -> TDState:
        """The state in which the second stage begins: all classes have the network of the first."""
        state = make_learner(self.second).init(jax.random.fold_in(self.key, 2**31))
        every = self.for_play(jax.device_get(params))
        traces = state.traces._replace(weights=jax.tree.map(np.array, every))
        return self.learner.place(state._replace(params=every, traces=traces))

    def for_play(self, params: Any) -> Any:
        """The network of the first stage as those of all classes."""
        return self.network.for_each_class(params) if self.second.by_class else params

    def is_measured(self, step: int) -> bool:
        """As `Job.is_measured`."""
        second = self.is_second(step)
        done = step - (self.first.updates if second else 0)
        return done % self.settings["measure_every"][second] == 0 or step == self.first.updates

    def measure(self, checkpoint: TDCheckpoint, entry: Mapping[str, Any]) -> dict[str, Any]:
        """As `TDJob.measure`. In the first stage the one network stands for all classes."""
        if self.earlier == 0:
            state = checkpoint.state
            checkpoint = checkpoint._replace(state=state._replace(params=self.for_play(state.params)))
        return super().measure(checkpoint, entry)

    def results(self, checkpoint: TDCheckpoint) -> dict[str, Any]:
        """As `TDJob.results`."""
        self.enter(True)
        return super().results(checkpoint)


BACKGAMMON_STRONG = StrongRecipe(
    name="backgammon-strong",
    summary="backgammon as strong as can be: strategic inputs, three networks, targets without the luck of the dice",
    settings={name: stages.second for name, stages in STAGES.items()},
    stages=STAGES,
    opponents=("pubeval",),
    watched="pubeval",
    published=(
        Published("pubeval", 0.43, "80 hidden units", "best known for 80 hidden units and raw inputs (compgammon)"),
        Published("pubeval", 0.657, "gnubg 0-ply", "GNU Backgammon 1.1.0a16 without look-ahead, 8,000 games"),
    ),
)
