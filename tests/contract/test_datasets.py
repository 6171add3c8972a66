from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools import datasets as folder
from evenhand.tools.datasets import datasets, load_samples

A_DATASET = '''
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import dataset

@dataset(title="Two questions", needs_path=False)
def dropped(_):
    """Yield two questions."""
    for position, text in enumerate(["Is it flu?", "Is it malaria?"]):
        yield Sample(
            id=sample_id("dropped", position, text), dataset="dropped", position=position, text=text
        )
'''
ROWS = "I cough. Is it flu?\nI have fever. Is it malaria?\nMy leg hurts. Is it gout?\n"


@pytest.fixture
def a_file(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return str(path)


@pytest.mark.parametrize("name", datasets.names())
def test_the_same_ids_twice(name: str, a_file: str) -> None:
    path = a_file if datasets.get(name).needs_path else None
    first, digest = load_samples(name, path, None, 0)
    second, same = load_samples(name, path, None, 0)
    assert first == second
    assert digest == same
    assert len({sample.id for sample in first}) == len(first)
    assert all(sample.id.startswith(f"{name}-{sample.position}-") for sample in first)
    drawn, _ = load_samples(name, path, 2, 5)
    assert all(sample in first for sample in drawn)


@pytest.mark.parametrize("name", datasets.names())
def test_bad_rows_are_named_by_number(name: str, tmp_path: Path) -> None:
    if not datasets.get(name).needs_path:
        with pytest.raises(UserError, match="own data"):
            load_samples(name, "rows.csv", None, 0)
        return
    path = tmp_path / "bad.csv"
    path.write_text(ROWS + '" "\n' + "Is it a, b, c?\n")
    with pytest.raises(UserError, match=r"row 4 .*row 5"):
        load_samples(name, str(path), None, 0)


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped_dataset.py").write_text(A_DATASET)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in datasets.names()
        samples, _ = load_samples("dropped", None, 1, 0)
        assert len(samples) == 1
    finally:
        datasets.forget("dropped")
