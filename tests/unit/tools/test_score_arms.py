"""Score files side by side: which rows are paired, and what is said where none can be."""

from pathlib import Path

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.score_arms import FileResults, Pairing, measure_files
from evenhand.tools.score_files import ScoreFile, read_scores
from evenhand.tools.statistics.divergence import paired_divergence
from evenhand.tools.statistics.independent import mean_difference
from evenhand.tools.statistics.intervals import bounded_mean, paired_mean

FIRST = (0.1, 0.2, 0.3, 0.4, 0.5)
SECOND = (0.2, 0.4, 0.3, 0.9, 0.8)


def scores(folder: Path, name: str, values: object, keys: object = None) -> ScoreFile:
    lines = [f"{value}" for value in np.atleast_1d(np.array(values, dtype=object))]
    header = "age"
    if keys is not None:
        header, lines = "id,age", [f"{k},{v}" for k, v in zip(list(keys), lines, strict=True)]  # type: ignore[call-overload]
    path = folder / f"{name}.csv"
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return read_scores(path)


def both(
    folder: Path, keys: object, other_keys: object, second: object = SECOND, pair: Pairing = "auto"
) -> FileResults:
    files = {
        "original": scores(folder, "a", FIRST, keys),
        "multi_hop": scores(folder, "b", second, other_keys),
    }
    return measure_files(files, pairing=pair)


def test_one_file_gives_means_with_their_interval(tmp_path: Path) -> None:
    found = measure_files({"x": scores(tmp_path, "x", FIRST)}, seed=3)
    (one,) = found.measurements
    expected = bounded_mean(FIRST, seed=3)
    assert (one.value, one.low, one.high, one.n) == (expected.value, expected.low, expected.high, 5)
    assert not found.pairs


@pytest.mark.parametrize(
    ("keys", "other_keys", "paired_by"),
    [
        ("abcde", "abcde", "row"),
        ("abcde", "edcba", "id"),
        (None, None, "row"),
        ("abcde", None, "row"),
        ("abcde", "fghij", None),
        ("aabcd", "aabcd", "row"),
        ("aabcd", "dcbaa", None),
    ],
)
def test_rows_are_paired_by_what_names_the_item(
    keys: str | None, other_keys: str | None, paired_by: str | None, tmp_path: Path
) -> None:
    assert both(tmp_path, keys, other_keys).pairs[0].paired_by == paired_by


def test_pairs_are_found_in_any_order_and_partial_overlap_is_counted(tmp_path: Path) -> None:
    straight = both(tmp_path, "abcde", "abcde").shift("multi_hop", "original", "age")
    turned = both(tmp_path, "abcde", "edcba", SECOND[::-1]).shift("multi_hop", "original", "age")
    assert straight is not None
    assert turned is not None
    assert straight.value == pytest.approx(paired_mean(SECOND, FIRST).value)
    assert (turned.value, turned.low, turned.p) == (straight.value, straight.low, straight.p)
    part = both(tmp_path, "abcde", "abcxy").shift("multi_hop", "original", "age")
    assert part is not None
    assert part.n == 3
    assert part.unscored == {"no_partner": 4}


def test_other_items_are_not_paired_and_their_interval_is_wider(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    first = rng.random(30).round(2)
    second = (first * 0.9 + 0.08).round(2)
    values = {
        pair: measure_files(
            {
                "original": scores(tmp_path, "a", first, range(30)),
                "multi_hop": scores(tmp_path, "b", second, range(30)),
            },
            pairing=pair,
        ).shift("multi_hop", "original", "age")
        for pair in ("auto", "none")
    }
    paired, apart = values["auto"], values["none"]
    assert paired is not None
    assert apart is not None
    assert paired.value == pytest.approx(apart.value)
    assert paired.high is not None
    assert apart.high is not None
    assert apart.high - (apart.low or 0) > 3 * (paired.high - (paired.low or 0))
    assert apart.high == pytest.approx(mean_difference(second, first).high)
    assert apart.n == 60


def test_a_divergence_stands_beside_its_floor(tmp_path: Path) -> None:
    found = both(tmp_path, "abcde", "abcde").divergence("multi_hop", "original", "age")
    assert found is not None
    expected = paired_divergence(FIRST, SECOND)
    assert (found.value, found.floor, found.floor_high) == (
        expected.value,
        expected.floor_mean,
        expected.floor_high,
    )
    assert (found.low, found.reason_code) == (None, "n_below_40")
    assert found.p_adjusted == found.p


def test_an_unscored_cell_leaves_its_pair_out_and_is_counted(tmp_path: Path) -> None:
    found = both(tmp_path, "abcde", "abcde", (0.2, "much", 0.3, 7, 0.8))
    shift = found.shift("multi_hop", "original", "age")
    assert shift is not None
    assert shift.n == 3
    assert shift.unscored == {"not_a_number": 1, "out_of_range": 1}
    mean = found.mean("multi_hop", "age")
    assert mean is not None
    assert mean.value == pytest.approx((0.2 + 0.3 + 0.8) / 3)


def test_row_by_row_needs_equal_lengths(tmp_path: Path) -> None:
    files = {"a": scores(tmp_path, "a", FIRST), "b": scores(tmp_path, "b", FIRST[:3])}
    with pytest.raises(UserError, match="5 rows and"):
        measure_files({"b": files["b"], "a": files["a"]}, pairing="rows")
    assert measure_files(files).pairs[0].paired_by is None


def test_nothing_scored_is_not_estimable(tmp_path: Path) -> None:
    found = both(tmp_path, "abcde", "abcde", ("x",) * 5)
    shift = found.shift("multi_hop", "original", "age")
    divergence = found.divergence("multi_hop", "original", "age")
    assert shift is not None
    assert divergence is not None
    assert {shift.status, divergence.status} == {"not_estimable"}
    assert shift.value is None
    assert divergence.reason_code == "all_unscored"
