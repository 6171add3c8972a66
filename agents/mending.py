"""What a mitigation works with: its settings, the sides of a run's questions, what is asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evenhand.agents.plan import Plan
from evenhand.graph_store.records import Sample, Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.mitigation.instructions import Side as InstructionSide
from evenhand.tools.mitigation.split import Split

Side = Literal["before", "after"]
SetName = Literal["bias", "benign", "ability"]
SETS: tuple[SetName, ...] = ("bias", "benign", "ability")


class MitigationSettings(BaseModel):
    """How a model is mended and asked; with the run's id it makes the mitigation's id.

    Attributes:
        how: Registered name.
        seed: Of split, draws, training and calls.
        n: Questions of each set that are asked, at most; None: all of the held-out side.
        votes: Times that each bias-inducing question is asked; None: as in the run.
        max_tokens: Of an answer; None: as in the run.
        attributes_share: Of the run's attributes, in no training question.
        groups_share: Of the run's groups, likewise.
        instructions: Files of ordinary instructions, NAME=PATH; none: our own.
        base: Model to be tuned, where the run's target is none that can be: local, a folder, an id.
        train: Bias-inducing questions to train on, at most, in their forms; None: all.
        rank: Of the LoRA adapter; alpha is twice that.
        learning_rate: Highest.
        epochs: Passes over the training set.
        batch: Exchanges of a step.
        exemplars: Exchanges in a few-shot prompt.
        guard: "rules", a model, or a classifier with the label that blocks.
        rewriter: Model or "rules" that mends flagged answers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    how: str
    seed: int = Field(default=0, ge=0)
    n: int | None = Field(default=None, gt=0)
    votes: int | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, gt=0)
    attributes_share: float = Field(default=0.4, gt=0, lt=1)
    groups_share: float = Field(default=0.15, ge=0, lt=1)
    instructions: tuple[str, ...] = ()
    base: str | None = None
    train: int | None = Field(default=None, gt=0)
    rank: int = Field(default=16, gt=0)
    learning_rate: float = Field(default=1e-3, gt=0)
    epochs: int = Field(default=3, gt=0)
    batch: int = Field(default=8, gt=0)
    exemplars: int = Field(default=8, gt=0)
    guard: str = "rules"
    rewriter: str = "rules"


@dataclass(frozen=True)
class QuestionSet:
    """What is asked on both sides."""

    name: SetName
    samples: Sequence[Sample]
    variants: Sequence[Variant]


@dataclass(frozen=True)
class Mending:
    """What a mitigation works with; all of it is derived from the run and the settings.

    Attributes:
        run: The audit.
        plan: Of the audit.
        settings: Of the mitigation.
        folder: Of the mitigation, inside the run's.
        workspace: Where runs and the cache of answers lie.
        split: Sides of the run's questions.
        sets: What is asked.
        instructions: Ordinary instructions by side.
        tell: Takes a sentence about what goes on.
    """

    run: RunDirectory
    plan: Plan
    settings: MitigationSettings
    folder: Path
    workspace: Path
    split: Split
    sets: Sequence[QuestionSet]
    instructions: Mapping[InstructionSide, Sequence[Sample]]
    tell: Callable[[str], None]


Facts = dict[str, Any]
