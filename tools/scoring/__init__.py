"""What a label scorer is: where log-probabilities of labels come from, by a name before a slash.

One backend is one file beside this one, an async function with the decorator `@label_scorer`; its
name is the backend's. It gets the settings, with `name` as what follows the slash, and returns an
OpenScorer. Modules import their packages inside functions: listing names must stay cheap.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.registry import Registry
from evenhand.tools.model_names import check_installed, find_kind
from evenhand.training.label_tokens import Encoded, TextTokenizer, encode_prompts
from evenhand.training.levels import Levels, Probabilities

NEAR_TIE = 1e-3
"""Nats: a margin between the two likeliest labels that another batch or machine may turn over."""
LOW_MASS = 0.05
"""Sum of the labels' probabilities below which the model hardly means any of them."""
UNSCORED = -1

LogProbs = NDArray[np.float64]
Dtype = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class ScorerSettings:
    """How a scorer is opened.

    Attributes:
        name: What follows the slash of 'backend/name'; `open_scorer` fills it in.
        base_url: Address of a server.
        adapter: Folder of a LoRA adapter, or the name that a server knows one by.
        device: "auto" (CUDA where there is one), "cpu", "cuda", "cuda:1".
        dtype: Of the weights; bfloat16 is never chosen by itself, for it moves near ties.
        token_budget: Tokens of one forward pass; 0: what the backend thinks best.
        chat: True or False to insist on chat or plain form; None: chat where there is a template.
        system: Text of the system, before every prompt.
        cue: Last line of every prompt in plain form; whoever renders the prompts gives it.
        separator: Between prompt and label; None: nothing in chat form, else a blank.
        in_flight: Requests to a server at the same time; 0: what the backend thinks best.
        revision: Of a Hugging Face id.
    """

    name: str = ""
    base_url: str | None = None
    adapter: str | None = None
    device: str = "auto"
    dtype: Dtype = "float32"
    token_budget: int = 0
    chat: bool | None = None
    system: str = ""
    cue: str = ""
    separator: str | None = None
    in_flight: int = 0
    revision: str | None = None

    def encode(
        self, tokenizer: TextTokenizer, prompts: Sequence[str], labels: Sequence[str]
    ) -> Encoded:
        """Return prompts and labels as token ids, in the form that is set; as encode_prompts."""
        return encode_prompts(
            tokenizer,
            prompts,
            labels,
            separator=self.separator,
            chat=self.chat,
            system=self.system,
            cue=self.cue,
        )


@dataclass(frozen=True)
class Work:
    """What scoring took, in tokens; of several, the sum.

    Attributes:
        prompt_tokens: Of all prompts and of the labels' inner tokens, repeated ones each time.
        distinct_tokens: Nodes of their prefix tree: what must be computed at least.
        computed_tokens: That went through the model; 0 where a server does not say.
    """

    prompt_tokens: int = 0
    distinct_tokens: int = 0
    computed_tokens: int = 0

    def __add__(self, other: "Work") -> "Work":
        """Return the sum."""
        return Work(
            self.prompt_tokens + other.prompt_tokens,
            self.distinct_tokens + other.distinct_tokens,
            self.computed_tokens + other.computed_tokens,
        )


@dataclass(frozen=True)
class LabelScores:
    """Labels scored after some of the prompts, shape (n,) each.

    Attributes:
        places: Of the prompts among those that were asked.
        log_probs: Natural log of the probability of each label's whole token sequence, over the
            whole vocabulary, shape (n, L); NaN where the status is not "ok".
        statuses: "ok", or why there is no score ("too_long", "error").
        work: What these took.
        label_lengths: Tokens of each label, shape (L,); empty where the backend does not know.
    """

    places: Levels
    log_probs: LogProbs
    statuses: tuple[str, ...]
    work: Work = field(default_factory=Work)
    label_lengths: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Return the number of prompts."""
        return len(self.places)

    @property
    def log_mass(self) -> NDArray[np.float64]:
        """Log of the sum of the labels' probabilities, shape (n,); NaN where unscored."""
        return log_mass(self.log_probs)

    @property
    def mean_log_probs(self) -> LogProbs:
        """Log-probabilities a token, shape (n, L): for comparison with tools that report them.

        They favour labels that are cut into easy pieces, so no decision is taken by them.

        Raises:
            ValueError: The backend does not know the labels' tokens.
        """
        if len(self.label_lengths) != self.log_probs.shape[1]:
            raise ValueError("the tokens of the labels are not known")
        means: LogProbs = self.log_probs / np.array(self.label_lengths)
        return means

    @property
    def probabilities(self) -> Probabilities:
        """Each row over the labels alone, summing to 1, shape (n, L); NaN where unscored."""
        shares: Probabilities = np.exp(self.log_probs - self.log_mass[:, None])
        return shares

    @property
    def levels(self) -> Levels:
        """Place of the likeliest label, the first where two are equal; -1 where unscored."""
        return likeliest_labels(self.log_probs)

    @property
    def flags(self) -> tuple[tuple[str, ...], ...]:
        """What to know of each row: "near_tie", "low_label_mass"."""
        return label_flags(self.log_probs)


def log_mass(log_probs: LogProbs) -> NDArray[np.float64]:
    """Return the log of the sum over labels, shape (n,); NaN in, NaN out."""
    top = np.max(log_probs, axis=-1, initial=-np.inf)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        mass: NDArray[np.float64] = safe + np.log(np.exp(log_probs - safe[..., None]).sum(axis=-1))
    return mass


def likeliest_labels(log_probs: LogProbs) -> Levels:
    """Return the place of the likeliest label, the first where two are equal; -1 where NaN.

    Example:
        >>> likeliest_labels(np.log([[0.4, 0.1], [np.nan, np.nan]])).tolist()
        [0, -1]
    """
    bad = np.asarray(np.isnan(log_probs).any(axis=-1))
    levels: Levels = np.argmax(np.where(bad[:, None], 0.0, log_probs), axis=-1)
    return np.where(bad, UNSCORED, levels)


def label_margins(log_probs: LogProbs) -> NDArray[np.float64]:
    """Return the lead of the likeliest label over the second, in nats, shape (n,)."""
    ordered = np.sort(log_probs, axis=-1)
    margins: NDArray[np.float64] = ordered[:, -1] - ordered[:, -2]
    return margins


def label_flags(log_probs: LogProbs) -> tuple[tuple[str, ...], ...]:
    """Return what to know of each row: "near_tie", "low_label_mass"; nothing where unscored."""
    ties = label_margins(log_probs) <= NEAR_TIE
    low = log_mass(log_probs) < np.log(LOW_MASS)
    return tuple(
        (("near_tie",) if tie else ()) + (("low_label_mass",) if little else ())
        for tie, little in zip(ties.tolist(), low.tolist(), strict=True)
    )


@dataclass(frozen=True)
class Agreement:
    """Scores of the same rows, taken twice (other batches, backend or machine), shape (n,) each.

    Attributes:
        same: Whether the likeliest label is the same.
        near_tie: Whether the margin is no larger than what the two differ by, or than NEAR_TIE:
            a changed label says nothing there, and is not counted as a flip.
        difference: Largest difference of a label's log-probability.
    """

    same: NDArray[np.bool_]
    near_tie: NDArray[np.bool_]
    difference: NDArray[np.float64]

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """Whether the label changed where it was no near tie."""
        return ~self.same & ~self.near_tie


def compare_scores(one: LogProbs, other: LogProbs) -> Agreement:
    """Compare scores of the same rows, shape (n, L) each; unscored rows compare as the same."""
    difference = np.nan_to_num(np.abs(one - other)).max(axis=-1)
    margins = np.minimum(label_margins(one), label_margins(other))
    # Both of the two likeliest may have moved by as much.
    near = margins <= np.maximum(NEAR_TIE, 2 * difference)
    return Agreement(likeliest_labels(one) == likeliest_labels(other), near, difference)


@dataclass(frozen=True)
class Generation:
    """One generated label, beside what was likeliest.

    Attributes:
        generated: What the model wrote.
        likeliest: Label of the highest log-probability; None where none was reported.
        flags: "sampled_not_argmax" where the two differ.
    """

    generated: str
    likeliest: str | None
    flags: tuple[str, ...]


def read_generation(chosen: str, top: Mapping[str, float]) -> Generation:
    """Return what a model wrote, never the likeliest token in its place.

    Args:
        chosen: The token that was generated.
        top: Token -> log-probability, of the likeliest ones.
    """
    likeliest = max(top, key=top.__getitem__) if top else None
    differs = likeliest is not None and likeliest != chosen
    return Generation(chosen, likeliest, ("sampled_not_argmax",) if differs else ())


class OpenScorer(Protocol):
    """A model whose label probabilities can be asked. Close it when the work is done.

    Attributes:
        spec: 'backend/name', as it stands in results.
        identity: What really answers (weights, digest, engine, device), without secrets; scores
            of different identities are not mixed.
        host: Where prompts are sent; None: nothing leaves this machine.
        says: Sentences a user should read: the device, a fallback.
    """

    spec: str
    identity: dict[str, str]
    host: str | None
    says: tuple[str, ...]

    def score(self, prompts: Sequence[str], labels: Sequence[str]) -> AsyncIterator[LabelScores]:
        """Score labels after prompts; yields parts as they are done, in any order.

        Each prompt comes back exactly once. A row's result does not depend on its company beyond
        rounding (log-probabilities within 1e-3).

        Args:
            prompts: Texts up to where the answer begins.
            labels: Answers, at least two.

        Raises:
            UserError: The labels cannot be told apart, the model cannot be asked in this form, or
                there is no memory left.
        """
        ...

    async def close(self) -> None:
        """Free what the scorer holds."""
        ...


Open = Callable[[ScorerSettings], Awaitable[OpenScorer]]


def _no_check(settings: ScorerSettings) -> None:
    """Accept everything."""


def _nowhere(settings: ScorerSettings) -> str | None:
    """Nothing leaves this machine."""
    return None


@dataclass(frozen=True)
class ScorerKind:
    """A backend and what must be known before anything is opened."""

    name: str
    open: Open
    form: str
    packages: tuple[str, ...]
    extra: str
    check: Callable[[ScorerSettings], None]
    host: Callable[[ScorerSettings], str | None]

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.open.__doc__ or self.name).strip().splitlines()[0]


label_scorers: Registry[ScorerKind] = Registry("label scorer", __name__)


def label_scorer(
    *,
    form: str,
    name: str | None = None,
    packages: tuple[str, ...] = (),
    extra: str = "",
    check: Callable[[ScorerSettings], None] = _no_check,
    host: Callable[[ScorerSettings], str | None] = _nowhere,
) -> Callable[[Open], Open]:
    """Register an async function as a backend.

    Args:
        form: How its models are written; "[...]" marks what may be left out.
        name: What stands before the slash; None: the function's name.
        packages: Import names of what must be installed.
        extra: The extra of evenhand that brings them.
        check: Raises a UserError for settings that cannot work, without a call or a connection.
        host: The outbound host that the settings lead to, or None if nothing leaves the machine.
    """

    def register(function: Open) -> Open:
        known = name or function.__name__
        kind = ScorerKind(known, function, form, packages, extra, check, host)
        label_scorers.add(known, kind)
        return function

    return register


def find_scorer(spec: str) -> tuple[ScorerKind, str]:
    """Return the backend of 'backend/name' and the name, which may be empty.

    Raises:
        UserError: No such backend, or no name where one is needed.
    """
    return find_kind(label_scorers, spec)


def check_scorer(spec: str, settings: ScorerSettings) -> None:
    """Check at plan time, without a call, that a scorer can be opened.

    Raises:
        UserError: Unknown name, package not installed, file missing, key not set.
    """
    found, name = find_scorer(spec)
    check_installed(spec, found.packages, extra=found.extra)
    found.check(replace(settings, name=name))


def scorer_host(spec: str, settings: ScorerSettings) -> str | None:
    """Return the outbound host of a scorer at plan time; None: nothing leaves the machine.

    Raises:
        UserError: Unknown name.
    """
    found, name = find_scorer(spec)
    return found.host(replace(settings, name=name))


async def open_scorer(spec: str, settings: ScorerSettings | None = None) -> OpenScorer:
    """Open a scorer by 'backend/name' (or "local").

    Raises:
        UserError: As in `check_scorer`; or the model cannot be loaded.
    """
    known = settings or ScorerSettings()
    check_scorer(spec, known)
    found, name = find_scorer(spec)
    return await found.open(replace(known, name=name))
