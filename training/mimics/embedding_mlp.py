"""A network of 200 units on a sentence embedding of the note and on the columns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.graph_store.records import Scalar
from evenhand.training.lent import NOTHING_LENT, Embedder, Lent, needed
from evenhand.training.levels import Levels, Probabilities
from evenhand.training.mimic_rows import Decisions, MimicRows
from evenhand.training.mimics import MimicSettings, mimic
from evenhand.training.pipelines import Cell, FittedParts, Parts, Texts, fit_parts

_LEAST_STOPPED = 200
"""Visits from which a tenth can be held back to see when to stop."""


class EmbeddingMlpSettings(MimicSettings):
    """Settings of the network; lists are searched by cross-validation.

    The counterfactual paper has one hidden layer of 200 units on embeddings of the note; the
    penalty's grid, early stopping and the columns beside the embedding are ours.

    Attributes:
        units: In the hidden layer.
        penalty: Of squared weights (alpha).
        learning_rate: Of Adam, at the start.
        most_epochs: Passes over the training half, at most.
        patience: Passes without a gain on a tenth held back, after which it stops; with fewer than
            200 visits, or a level with one, nothing is held back and all passes are made.
        folds: Of the search.
        most_searched: Visits in the search.
    """

    units: int = 200
    penalty: tuple[float, ...] = (1e-4, 1e-2, 1.0)
    learning_rate: float = 1e-3
    most_epochs: int = 200
    patience: int = 10
    folds: int = 3
    most_searched: int = 10_000

    def cpu_seconds(self, visits: int, asked: int) -> float | None:
        """As read on demo_visits, 450 visits; each note is embedded once, by whichever fit."""
        return 1 + 0.002 * visits + 0.0015 * asked


@mimic(
    "embedding_mlp",
    title="Network of 200 units on sentence embeddings of the note and on the columns",
    settings=EmbeddingMlpSettings,
    needs=("embedder",),
    refits=10,
)
class EmbeddingMlp:
    """A note that is not there has the mean vector of the training half: no news either way."""

    def __init__(self, fitted: FittedParts, embedder: Embedder) -> None:
        """Keep the fitted parts and what embeds."""
        self._fitted = fitted
        self._embedder = embedder
        self.n_levels = fitted.n_levels
        self.chosen: Mapping[str, Scalar] = fitted.chosen

    @classmethod
    def fit(
        cls,
        decisions: Decisions,
        settings: EmbeddingMlpSettings,
        *,
        n_levels: int,
        seed: int,
        lent: Lent,
        n_jobs: int = 1,
        work: Path | None = None,
    ) -> "EmbeddingMlp":
        """Fit the network; see the contract."""
        known = needed(lent.embedder, "embedder")
        texts = _vectors(decisions.rows, known)

        def network(cell: Cell, levels: Levels) -> Any:
            return _network(cell, levels, settings, seed)

        parts = Parts(
            text=None if np.isnan(texts).all() else _scaler,
            classifier=network,
            searcher=network,
            grid=[{"penalty": penalty} for penalty in settings.penalty],
            class_weights=settings.class_weights,
            folds=settings.folds,
            most_searched=settings.most_searched,
        )
        return cls(fit_parts(parts, decisions, texts, n_levels=n_levels, seed=seed), known)

    def predict_probabilities(self, rows: MimicRows) -> Probabilities:
        """Return the softmax of the last layer, shape (n, L)."""
        return self._fitted.predict(rows, _vectors(rows, self._embedder))

    def save(self, folder: Path) -> None:
        """Write the network into the folder; the encoder is named in the card, not copied."""
        self._fitted.save(folder)

    @classmethod
    def load(cls, folder: Path, lent: Lent = NOTHING_LENT) -> "EmbeddingMlp":
        """Read a saved network; see the contract."""
        return cls(FittedParts.load(folder), needed(lent.embedder, "embedder"))


def _vectors(rows: MimicRows, embedder: Embedder) -> Texts:
    """Embed each different note once; NaN where there is none. Shape (n, d)."""
    # Without any note, one vector is made all the same: it says how wide they are.
    notes = sorted({text for text in rows.texts if text.strip()}) or [""]
    vectors = np.asarray(embedder.embed(notes), dtype=np.float64)
    places = {text: place for place, text in enumerate(notes)}
    found = np.full((len(rows), vectors.shape[1]), np.nan)
    for row, text in enumerate(rows.texts):
        if text.strip():
            found[row] = vectors[places[text]]
    return found


def _scaler() -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(strategy="mean", keep_empty_features=True), StandardScaler())


def _network(cell: Cell, levels: Levels, settings: EmbeddingMlpSettings, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    # Holding back is stratified, which needs two visits of each level.
    visits = np.bincount(levels)
    stops = len(levels) >= _LEAST_STOPPED and int(visits[visits > 0].min()) >= 2
    return MLPClassifier(
        (settings.units,),
        alpha=cell["penalty"],
        learning_rate_init=settings.learning_rate,
        max_iter=settings.most_epochs,
        early_stopping=stops,
        n_iter_no_change=settings.patience,
        random_state=seed,
    )
