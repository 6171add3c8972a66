"""The model card: what a mimic was fitted to, how, and how well it decides as people decided."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Scalar
from evenhand.training.fit_quality import FitQuality
from evenhand.training.mimic_rows import ColumnKind, MimicArm

CARD_FILE = "card.json"
_FORMAT = 1


class ModelCard(BaseModel):
    """All that is needed to repeat the fit, and to judge it.

    Attributes:
        format: Of the card.
        mimic: Registered name.
        title: What that is.
        levels: In order, the lowest number first.
        fitted_for: What the rows of the fit showed: full, or an arm.
        attributes: The audited ones: columns that text_only drops.
        columns: Kind of each column.
        settings: Of the fit, defaults included.
        chosen: What the search chose, and its cross-validated kappa_w.
        class_weights: Level -> what a visit of it counted in the fit.
        seed: Of the fit.
        data_hash: SHA-256 of the visits fitted to, whatever their order.
        audit_hash: Likewise of the visits the quality was measured on; None without.
        source: What the visits are, for a reader: data set, decider.
        lent: What the fit was lent (embedder, renderer, base) -> its name.
        resampled: Whether the training half was drawn again with replacement, whole patients.
        n_train: Visits fitted to.
        n_patients: Of how many patients.
        train_levels: Level -> visits fitted to.
        quality: Arm -> quality on the audit half, of this one model.
        versions: Of what fitted it.
        seconds: That the fit took.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = _FORMAT
    mimic: str
    title: str
    levels: tuple[str, ...]
    fitted_for: MimicArm
    attributes: tuple[str, ...]
    columns: dict[str, ColumnKind]
    settings: dict[str, Any]
    chosen: dict[str, Scalar] = Field(default_factory=dict)
    class_weights: dict[str, float] = Field(default_factory=dict)
    seed: int
    data_hash: str
    audit_hash: str | None = None
    source: dict[str, str] = Field(default_factory=dict)
    lent: dict[str, str] = Field(default_factory=dict)
    resampled: bool = False
    n_train: int
    n_patients: int
    train_levels: dict[str, int]
    quality: dict[MimicArm, FitQuality] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    seconds: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _older(cls, card: Any) -> Any:
        """Read cards of before there were language models."""
        if isinstance(card, dict) and "embeddings" in card:
            card = dict(card)
            name = card.pop("embeddings")
            return card | {"lent": {"embedder": name} if name else {}}
        return card

    def differs_from(self, other: "ModelCard", *, versions: bool = True) -> list[str]:
        """Name what the fit depends on and that differs; none: it is the same model.

        Args:
            other: Another card.
            versions: Whether those of the packages count.
        """
        mine, others = self.model_dump(mode="json"), other.model_dump(mode="json")
        names = (*_DEPENDS_ON, "versions") if versions else _DEPENDS_ON
        return [name for name in names if mine[name] != others[name]]

    def fit_hash(self) -> str:
        """Return the SHA-256 of all that the fit depends on."""
        mine = self.model_dump(mode="json")
        content = json.dumps({name: mine[name] for name in (*_DEPENDS_ON, "versions")})
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


_DEPENDS_ON = (
    "format", "mimic", "levels", "fitted_for", "attributes", "columns", "settings", "seed",
    "data_hash", "lent", "resampled",
)  # fmt: skip


def write_card(card: ModelCard, folder: Path) -> None:
    """Write the card whole, or not at all."""
    new = folder / f".{CARD_FILE}.{os.getpid()}"
    new.write_text(card.model_dump_json(indent=2) + "\n", "utf-8")
    os.replace(new, folder / CARD_FILE)


def read_card(folder: Path) -> ModelCard:
    """Read a model's card.

    Raises:
        UserError: There is none, or it is damaged or of another version.
    """
    path = folder / CARD_FILE
    try:
        return ModelCard.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise UserError(
            f"{folder} is no mimic: it has no {CARD_FILE}; make one with `evenhand finetune`."
        ) from error
    except (OSError, ValidationError) as error:
        raise UserError(f"{path}: the model card cannot be read; fit the mimic again.") from error
