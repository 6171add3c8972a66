import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.ui.cli import run

VisitFile = Callable[..., Path]


def test_inspect_map_freeze_and_read_again(
    visit_file: VisitFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = visit_file("table")
    assert run(["data", "inspect", str(path), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert (seen["rows"], seen["format"]["delimiter"]) == (4, ",")
    assert [column["kind"] for column in seen["columns"]][:2] == ["code", "category"]
    draft = tmp_path / "draft.toml"
    assert run(["data", "map", str(path), "--out", str(draft)]) == 0
    assert tomllib.loads(draft.read_text("utf-8"))["label"] == "level"
    assert (
        run(["data", "freeze", str(path), "--map", str(draft), "--out", str(tmp_path / "f")]) == 2
    )
    assert "direction is missing" in capsys.readouterr().err
    frozen = tmp_path / "frozen"
    assert run(["data", "freeze", str(path), "--out", str(frozen), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum(told["sides"].values()) == told["flow"][-1]["remaining"] == 4
    manifest = json.loads((frozen / "manifest.json").read_text("utf-8"))
    assert manifest["content_sha256"] == told["content_sha256"]
    assert str(tmp_path) not in (frozen / "manifest.json").read_text("utf-8")


def test_a_known_data_set_is_frozen_with_its_own_mapping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "frozen"
    assert run(["data", "freeze", "--dataset", "demo_visits_fr", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "content that only one sex can have" in printed
    assert "as published" in printed
    assert run(["data", "freeze", "--dataset", "demo", "--out", str(tmp_path / "x")]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", "nowhere.csv"], "no such file"),
        (["freeze", "--out", "x"], "Name the file of visits"),
        (["freeze", "nowhere.csv", "--out", "x"], "the mapping cannot be read"),
        (["freeze", "--dataset", "ktas", "--map", "m", "--out", "x"], "not both"),
        (["freeze", "--dataset", "katas", "--out", "x"], "Unknown data set"),
    ],
)
def test_mistakes_are_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", *arguments]) == 2
    assert words in capsys.readouterr().err
