"""A random forest on the words of the note (TF-IDF) and the columns."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.graph_store.records import Scalar
from evenhand.training.lent import NOTHING_LENT, Lent
from evenhand.training.levels import Probabilities
from evenhand.training.mimic_rows import Decisions, MimicRows
from evenhand.training.mimics import MimicSettings, mimic
from evenhand.training.pipelines import Cell, FittedParts, Parts, Texts, fit_parts

_LEAST_NOTES = 20
"""Notes with a word that the word columns need: with fewer, a fold of the search may have none."""
_WORDS = r"(?u)\d+|[^\W\d_]+"
"""One letter is a word too: F and M say the sex. Digits and letters are parted."""


class RandomForestSettings(MimicSettings):
    """Settings of the forest; lists are searched by cross-validation.

    The counterfactual paper names TF-IDF, a forest and a 3-fold search on a part of the training
    half; the grid is ours. Its forest reads the notes alone; ours has the columns as well, or the
    attribute's column could never move it.

    Attributes:
        trees: In the forest.
        trees_searched: In the forests of the search, which ranks cells and needs fewer.
        min_samples_leaf: Visits in a leaf, at least.
        max_features: Columns that a split may choose from: their share, or "sqrt". With thousands
            of word columns a small share hides the tabular ones.
        max_words: The commonest words and pairs of words that get a column.
        longest_phrase: 2 for words and pairs of neighbours.
        folds: Of the search.
        most_searched: Visits in the search.
    """

    trees: int = 200
    trees_searched: int = 100
    min_samples_leaf: tuple[int, ...] = (1, 3)
    max_features: tuple[float | str, ...] = ("sqrt", 0.1)
    max_words: int = 20_000
    longest_phrase: int = 1
    folds: int = 3
    most_searched: int = 10_000

    def cpu_seconds(self, visits: int, asked: int) -> float | None:
        """As read on demo_visits, 150 and 450 visits; the search is most of it."""
        return 2 + 0.002 * (visits + asked)


@mimic(
    "random_forest",
    title="Random forest on TF-IDF of the note and on the columns",
    settings=RandomForestSettings,
    refits=10,
)
class RandomForest:
    """Words and numbers apart ("45F" is 45 and F), each a column weighted by TF-IDF."""

    def __init__(self, fitted: FittedParts) -> None:
        """Keep the fitted parts."""
        self._fitted = fitted
        self.n_levels = fitted.n_levels
        self.chosen: Mapping[str, Scalar] = fitted.chosen

    @classmethod
    def fit(
        cls,
        decisions: Decisions,
        settings: RandomForestSettings,
        *,
        n_levels: int,
        seed: int,
        lent: Lent = NOTHING_LENT,
        n_jobs: int = 1,
        work: Path | None = None,
    ) -> "RandomForest":
        """Fit the forest; see the contract."""
        parts = Parts(
            text=_vectoriser(settings) if _has_words(decisions.rows) else None,
            classifier=lambda cell, _: _forest(cell, settings.trees, seed, n_jobs),
            searcher=lambda cell, _: _forest(cell, settings.trees_searched, seed, n_jobs),
            grid=[
                {"min_samples_leaf": leaf, "max_features": share}
                for leaf, share in product(settings.min_samples_leaf, settings.max_features)
            ],
            class_weights=settings.class_weights,
            folds=settings.folds,
            most_searched=settings.most_searched,
        )
        texts = _notes(decisions.rows)
        return cls(fit_parts(parts, decisions, texts, n_levels=n_levels, seed=seed))

    def predict_probabilities(self, rows: MimicRows) -> Probabilities:
        """Return the mean of the trees' shares, shape (n, L)."""
        return self._fitted.predict(rows, _notes(rows))

    def save(self, folder: Path) -> None:
        """Write the forest into the folder."""
        self._fitted.save(folder)

    @classmethod
    def load(cls, folder: Path, lent: Lent = NOTHING_LENT) -> "RandomForest":
        """Read a saved forest; see the contract."""
        return cls(FittedParts.load(folder))


def _notes(rows: MimicRows) -> Texts:
    return np.array(rows.texts, dtype=object)


def _has_words(rows: MimicRows) -> bool:
    return sum(any(map(str.isalnum, text)) for text in rows.texts) >= _LEAST_NOTES


def _vectoriser(settings: RandomForestSettings) -> Any:
    def make() -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(
            token_pattern=_WORDS,
            ngram_range=(1, settings.longest_phrase),
            max_features=settings.max_words,
            sublinear_tf=True,
        )

    return make


def _forest(cell: Cell, trees: int, seed: int, n_jobs: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        trees,
        min_samples_leaf=cell["min_samples_leaf"],
        max_features=cell["max_features"],
        random_state=seed,
        n_jobs=n_jobs,
    )
