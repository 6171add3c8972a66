"""Levels in bulk: parts are whole or not there, and what was asked is known by its key."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.scores import (
    UNSCORED,
    ScoreKey,
    Scores,
    read_scores,
    score_keys,
    scored,
    write_scores,
)


def some(*keys: ScoreKey) -> Scores:
    levels = np.arange(len(keys), dtype=np.int64) % 3
    return scored(keys, levels, np.eye(3)[levels])


def test_what_was_written_is_read_in_order(tmp_path: Path) -> None:
    write_scores(tmp_path, some(("a/v0", 0), ("a/v1", 0)))
    write_scores(tmp_path, some(("a/v0", 1)))
    found = read_scores(tmp_path)
    assert found.keys == [("a/v0", 0), ("a/v1", 0), ("a/v0", 1)]
    assert list(score_keys(tmp_path)) == found.keys
    assert found.levels.tolist() == [0, 1, 0]
    assert found.probabilities.shape == (3, 3)
    assert (found.level("a/v1"), found.status("a/v1")) == (1, "ok")


@given(st.lists(st.tuples(st.text(max_size=4), st.integers(0, 3)), min_size=1, max_size=9))
def test_any_key_comes_back(tmp_path_factory: pytest.TempPathFactory, keys: list[ScoreKey]) -> None:
    folder = tmp_path_factory.mktemp("run")
    write_scores(folder, some(*keys))
    assert read_scores(folder).keys == keys


def test_what_was_not_asked_is_missing_and_no_level(tmp_path: Path) -> None:
    found = RunDirectory(tmp_path).scores()
    assert len(found) == 0
    assert (found.level("a"), found.status("a")) == (UNSCORED, "missing")


def test_an_asking_without_a_level_keeps_its_status(tmp_path: Path) -> None:
    nothing = np.full((1, 3), math.nan)
    write_scores(tmp_path, Scores(("a",), np.zeros(1, np.int64), np.array([-1]), nothing, ("x",)))
    found = read_scores(tmp_path)
    assert (found.level("a"), found.status("a")) == (UNSCORED, "x")
    assert np.isnan(found.probabilities).all()


def test_half_a_part_is_no_part(tmp_path: Path) -> None:
    part = write_scores(tmp_path, some(("a", 0)))
    (part.parent / ".part-00001.parquet.17").write_bytes(part.read_bytes()[:40])
    assert list(score_keys(tmp_path)) == [("a", 0)]
    assert write_scores(tmp_path, some(("b", 0))).name == "part-00001.parquet"


def test_a_part_that_was_taken_away_is_not_written_over(tmp_path: Path) -> None:
    first = write_scores(tmp_path, some(("a", 0)))
    write_scores(tmp_path, some(("b", 0)))
    first.unlink()
    write_scores(tmp_path, some(("a", 0)))
    assert sorted(score_keys(tmp_path)) == [("a", 0), ("b", 0)]


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    part = write_scores(tmp_path, some(("a", 0)))
    part.write_bytes(part.read_bytes()[:40])
    with pytest.raises(UserError, match=r"part-00000\.parquet is damaged"):
        read_scores(tmp_path)
    with pytest.raises(UserError, match=r"part-00000\.parquet is damaged"):
        list(score_keys(tmp_path))
