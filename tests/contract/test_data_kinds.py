"""What every registered kind of data keeps to, whoever wrote it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import evenhand.tools.data_kinds as folder
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.data_kinds import data_kinds
from evenhand.tools.measure import RecordIndex, cell_rows, measure
from evenhand.tools.metrics import Metric, metrics

EXTENDING = Path(__file__).parents[2] / "docs" / "extending.md"
KINDS = data_kinds.names()


def a_metric(kind: str) -> Metric:
    """A registered metric of the kind."""
    return next(metrics.get(name) for name in metrics.names() if metrics.get(name).data == kind)


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_names_a_kind_that_is_there(name: str) -> None:
    assert metrics.get(name).data in KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_used(kind: str) -> None:
    assert a_metric(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_its_example_is_as_long_as_asked_and_some_of_it_unscored(kind: str) -> None:
    array = data_kinds.get(kind).example(np.random.default_rng(0), (3, 200))
    assert array.shape[:2] == (3, 200)
    unscored = np.isnan(array).any(axis=tuple(range(2, array.ndim)))
    assert unscored.any()
    assert not unscored.all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_opens_to_rows_and_counts_what_it_leaves_out(
    kind: str, make_run: Callable[..., RunDirectory]
) -> None:
    run = make_run(6)
    index = RecordIndex.read(run)
    metric = a_metric(kind)
    made = measure(run, [metric.name], 0)
    assert len({one.id for one in made}) == len(made)
    for one in made:
        rows = cell_rows(index, one)
        assert len({row.sample_id for row in rows}) == 6, "every sample is accounted for"
        assert one.n <= 6
        assert (one.status == "ok") == (one.n > 0), one
        if one.n < 6:
            assert sum(one.unscored.values()) >= 6 - one.n, "what is left out is counted"
        low, high = metric.bounds
        assert one.value is None or low <= one.value <= high


@pytest.fixture
def of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example of docs/extending.md, dropped into the folder."""
    (code,) = re.findall(
        r"```python\n# tools/data_kinds/named_diagnoses.py\n(.*?)```", EXTENDING.read_text(), re.S
    )
    (tmp_path / "named_diagnoses.py").write_text(code)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    yield
    data_kinds.forget("named_diagnoses")
    metrics.forget("share_named")


@pytest.mark.usefixtures("of_the_docs")
def test_a_dropped_file_is_picked_up_and_measured(make_run: Callable[..., RunDirectory]) -> None:
    def share_named(named: np.ndarray) -> np.ndarray:
        return np.asarray(np.nanmean(named, axis=-1))

    metrics.add(
        "share_named", Metric("share_named", share_named, "N", (0, 1), "a test", "named_diagnoses")
    )
    made = measure(make_run(6), ["share_named"], 0)
    assert [(one.arm, one.value, one.n, one.method) for one in made] == [
        (arm, 1.0, 6, "Wilson") for arm in ("original", "no_hop", "multi_hop")
    ]
