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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from evenhand.graph_store.records import Scalar
from evenhand.graph_store.registry import Registry
from evenhand.training.lent import Lent, Part
from evenhand.training.levels import ClassWeights, Probabilities
from evenhand.training.mimic_rows import Decisions, MimicRows


class MimicSettings(BaseModel):
    """What a fit depends on besides data and seed; part of the model card.

    Attributes:
        class_weights: "balanced": a visit counts n / (L * visits of its level), so that a rare
            level is not passed over; None: every visit counts the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    class_weights: ClassWeights | None = None

    def cpu_seconds(self, visits: int, asked: int) -> float | None:
        """Return about how long a mimic takes on two cores of a CPU; None: not known.

        Args:
            visits: That it is fitted to.
            asked: Rows that it then gives a level.
        """
        return None


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
        refits: How many are fitted again for the repeat arm where nobody says; the interval over
            fits is t with about so many degrees of freedom, so a kind that is cheap has more.
    """

    name: str
    model: type[Mimic]
    settings: type[MimicSettings]
    title: str
    needs: tuple[Part, ...]
    packages: tuple[str, ...]
    exact_versions: bool
    refits: int = 3


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
    refits: int = 3,
) -> Callable[[type[M]], type[M]]:
    """Register a class as a kind of mimic."""

    def register(model: type[M]) -> type[M]:
        kind = MimicKind(name, model, settings, title, needs, packages, exact_versions, refits)
        mimics.add(name, kind)
        return model

    return register
