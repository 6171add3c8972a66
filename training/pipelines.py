"""A mimic out of scikit-learn parts: notes and columns as one matrix, then a classifier.

A number that was not recorded is the median of the training half, and its being missing is a
column of its own where that happened in training. A category has a column a value; one that was
not recorded in training has a column too, and one never met there has none: all are 0. So an arm
that drops a column or the note is answered by the same model.
"""

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import ZIP_DEFLATED, BadZipFile

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Scalar
from evenhand.training.fit_quality import confusion, quadratic_kappa
from evenhand.training.levels import ClassWeights, Levels, Numbers, Probabilities, level_weights
from evenhand.training.mimic_rows import Decisions, MimicRows

log = logging.getLogger(__name__)

Matrix: TypeAlias = Any
"""A numpy array or a scipy sparse matrix of shape (n, columns)."""
Texts: TypeAlias = NDArray[Any]
"""What the text step takes: notes as objects, shape (n,), or vectors, shape (n, d)."""
Cell: TypeAlias = Mapping[str, Any]
"""One combination of the settings that are searched."""

MODEL_FILE = "model.skops"
_TRUSTED = frozenset({"numpy.dtype", "sklearn.tree._tree.Tree"})
"""Besides what skops trusts by itself: a number's type, and the arrays of a tree."""
_MOST_CATEGORIES = 64
"""Columns for one category; rarer values share one."""
_ROWS_AT_ONCE = 4_096


@dataclass(frozen=True)
class Parts:
    """What is fitted to decisions, before it is fitted.

    Attributes:
        text: Makes the step that turns texts into columns; None where there is nothing to read.
        classifier: Makes the classifier of one cell of the grid, for the levels it is fitted to.
        searcher: Likewise for the search, where a smaller one will do.
        grid: The cells that are searched; a single one is taken without a search.
        class_weights: As in the settings.
        folds: Of the search.
        most_searched: Visits that take part in the search; more are sampled.
    """

    text: Callable[[], Any] | None
    classifier: Callable[[Cell, Levels], Any]
    searcher: Callable[[Cell, Levels], Any]
    grid: Sequence[Cell]
    class_weights: ClassWeights | None
    folds: int
    most_searched: int


class FittedParts:
    """The fitted steps: rows and texts in, probabilities out.

    Args:
        state: Steps by name (text, numbers, categories: None where there are none; classifier),
            kinds of the columns, n_levels, chosen. What `save` writes.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        """Keep the fitted steps."""
        self._state = state
        self.n_levels: int = state["n_levels"]
        self.chosen: Mapping[str, Scalar] = state["chosen"]

    def predict(self, rows: MimicRows, texts: Texts) -> Probabilities:
        """Return probabilities, shape (n, L), block by block: memory does not grow with n.

        Raises:
            ValueError: The columns are not those of the fit.
        """
        from threadpoolctl import threadpool_limits

        if rows.kinds != self._state["kinds"]:
            raise ValueError(
                f"columns {list(rows.kinds)} differ from those of the fit: "
                f"{list(self._state['kinds'])}"
            )
        found = np.zeros((len(rows), self.n_levels))
        classifier = self._state["classifier"]
        known = np.asarray(classifier.classes_, dtype=np.int64)
        with threadpool_limits(1, "blas"):
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                places = np.arange(start, min(start + _ROWS_AT_ONCE, len(rows)))
                matrix = _matrix(self._state, rows.take(places), texts[places])
                found[np.ix_(places, known)] = classifier.predict_proba(matrix)
        # A network's float sums miss 1 by some 1e-16 each.
        shares: Probabilities = found / found.sum(axis=1, keepdims=True)
        return shares

    def save(self, folder: Path) -> None:
        """Write the steps with skops: no pickle."""
        from skops.io import dump

        # Deflated: the arrays of trees shrink to a fifth.
        dump(self._state, folder / MODEL_FILE, compression=ZIP_DEFLATED, compresslevel=1)

    @classmethod
    def load(cls, folder: Path) -> "FittedParts":
        """Read what `save` wrote, if it holds nothing but scikit-learn's own types.

        Raises:
            UserError: The file is missing or damaged, or holds another type.
        """
        from skops.io import get_untrusted_types, load
        from skops.io.exceptions import UntrustedTypesFoundException

        path = folder / MODEL_FILE
        try:
            foreign = set(get_untrusted_types(file=path)) - _TRUSTED
            if foreign:
                raise UserError(
                    f"{path}: holds {', '.join(sorted(foreign))}, which no mimic of evenhand "
                    "holds; it was not loaded. Fit the mimic again."
                )
            return cls(load(path, trusted=sorted(_TRUSTED)))
        except (
            OSError,
            BadZipFile,
            ValueError,
            KeyError,
            TypeError,
            UntrustedTypesFoundException,
        ) as error:
            raise UserError(
                f"{path}: no saved mimic ({type(error).__name__}); fit the mimic again."
            ) from error


def fit_parts(
    parts: Parts, decisions: Decisions, texts: Texts, *, n_levels: int, seed: int
) -> FittedParts:
    """Choose a cell by cross-validated kappa_w, then fit to all decisions.

    Args:
        parts: What to fit.
        decisions: In their canonical order.
        texts: What the text step reads, a row a visit.
        n_levels: L.
        seed: Of folds and sample.
    """
    from threadpoolctl import threadpool_limits

    cell, kappa = parts.grid[0], float("nan")
    # One BLAS thread: with more, a product's last bit depends on their number, and a network's
    # whole path on that bit.
    with threadpool_limits(1, "blas"):
        if len(parts.grid) > 1:
            cell, kappa = _best_cell(parts, decisions, texts, n_levels, seed)
        steps = _fit_steps(parts, decisions.rows, texts)
        matrix = _matrix(steps, decisions.rows, texts)
        model = parts.classifier(cell, decisions.levels)
        classifier = _fit_classifier(model, parts, matrix, decisions.levels, n_levels)
    chosen = dict(cell) | ({} if np.isnan(kappa) else {"search_kappa_w": round(kappa, 4)})
    return FittedParts(
        {
            **steps,
            "classifier": classifier,
            "kinds": decisions.rows.kinds,
            "n_levels": n_levels,
            "chosen": chosen,
        }
    )


def _best_cell(
    parts: Parts, decisions: Decisions, texts: Texts, n_levels: int, seed: int
) -> tuple[Cell, float]:
    """Return the cell with the best kappa_w over all folds' visits, the first of equals."""
    rng = np.random.default_rng(seed)
    sample = np.sort(rng.permutation(len(decisions))[: parts.most_searched])
    searched, texts = decisions.take(sample), texts[sample]
    counts = [np.zeros((n_levels, n_levels), dtype=np.int64) for _ in parts.grid]
    for inside, outside in _folds(searched, parts.folds, seed):
        # The steps do not depend on the cell: made once a fold.
        steps = _fit_steps(parts, searched.rows.take(inside), texts[inside])
        matrix = _matrix(steps, searched.rows.take(inside), texts[inside])
        held_out = _matrix(steps, searched.rows.take(outside), texts[outside])
        for place, cell in enumerate(parts.grid):
            levels = searched.levels[inside]
            model = parts.searcher(cell, levels)
            fitted = _fit_classifier(model, parts, matrix, levels, n_levels)
            mimicked = np.asarray(fitted.predict(held_out), dtype=np.int64)
            counts[place] += confusion(searched.levels[outside], mimicked, n_levels)
    kappas = np.nan_to_num(quadratic_kappa(np.stack(counts)), nan=-1.0)
    best = int(np.argmax(kappas))
    log.info("search: %s", [round(float(kappa), 4) for kappa in kappas])
    return parts.grid[best], float(kappas[best])


def _folds(decisions: Decisions, folds: int, seed: int) -> list[tuple[Levels, Levels]]:
    """Fold by patient: visits of one person are alike, and would promise too much."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A level with fewer visits than folds is no fault; it is absent from a fold.
        warnings.simplefilter("ignore", UserWarning)
        return list(splitter.split(decisions.levels, decisions.levels, decisions.patients))


def _fit_classifier(model: Any, parts: Parts, matrix: Matrix, levels: Levels, n_levels: int) -> Any:
    weights = level_weights(levels, n_levels, parts.class_weights)[levels]
    with warnings.catch_warnings():
        # max_iter is a setting; reaching it is in the card as what it is.
        warnings.filterwarnings("ignore", message="Stochastic Optimizer")
        fitted = model.fit(matrix, levels, sample_weight=weights)
    if hasattr(fitted, "_optimizer"):
        # Read by further training alone, and twice as large as the network.
        del fitted._optimizer
    if "n_jobs" in fitted.get_params():
        # Threads add up in any order, and a sum's last bit depends on it.
        fitted.set_params(n_jobs=1)
    return fitted


def _fit_steps(parts: Parts, rows: MimicRows, texts: Texts) -> dict[str, Any]:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    steps: dict[str, Any] = {"text": None, "numbers": None, "categories": None}
    if parts.text is not None:
        steps["text"] = parts.text().fit(texts)
    if rows.numbers:
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        steps["numbers"] = make_pipeline(imputer, StandardScaler()).fit(_numbers(rows))
    if rows.categories:
        encoder = OneHotEncoder(handle_unknown="ignore", max_categories=_MOST_CATEGORIES)
        steps["categories"] = encoder.fit(_categories(rows))
    return steps


def _matrix(steps: Mapping[str, Any], rows: MimicRows, texts: Texts) -> Matrix:
    """Return the columns of all steps side by side; sparse as soon as one of them is."""
    from scipy import sparse

    values = {"text": texts, "numbers": _numbers(rows), "categories": _categories(rows)}
    blocks: list[Any] = [
        step.transform(values[name]) for name in values if (step := steps[name]) is not None
    ]
    if not blocks:
        return np.zeros((len(rows), 1), dtype=np.float32)
    if steps["text"] is not None and not sparse.issparse(blocks[0]):
        # hasattr, not issparse: its type lacks toarray.
        dense = [each.toarray() if hasattr(each, "toarray") else each for each in blocks]
        return np.hstack(dense)
    return sparse.csr_matrix(sparse.hstack(blocks, dtype=np.float32))


def _numbers(rows: MimicRows) -> Numbers:
    found: Numbers = np.array([*rows.numbers.values()], dtype=np.float64)
    return found.reshape(len(rows.numbers), len(rows)).T


def _categories(rows: MimicRows) -> NDArray[np.object_]:
    """Values as objects, shape (n, columns); "" is not recorded."""
    found = np.empty((len(rows), len(rows.categories)), dtype=object)
    for place, values in enumerate(rows.categories.values()):
        found[:, place] = [value or "" for value in values]
    return found
