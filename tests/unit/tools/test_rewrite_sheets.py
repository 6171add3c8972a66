"""A sheet of rewritten notes: drawn, filled in by two readers, read back, counted."""

import csv
import io
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Change, Judgement, Sample, ShownArm, Variant
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools.rating_cells import read_quality
from evenhand.tools.rating_import import import_sheet
from evenhand.tools.rating_sheets import sheet_text
from evenhand.tools.rewrite_ratings import rate_rewrites
from evenhand.tools.rewrite_sheets import RewriteSource, draw_rewrites
from evenhand.tools.spreadsheets import read_spreadsheet

ARMS: tuple[ShownArm, ...] = ("full", "text_only")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """30 visits: one note was refused, one rejected, one states nothing; 27 were rewritten."""
    manifest = Manifest(run="cf", created="2026-11-30T09:00:00+00:00", plan={}, seed=0)
    made = RunDirectory.create(tmp_path / "cf", manifest)
    for place in range(30):
        text = f"Man of {30 + place} with a cough." if place != 2 else "A cough."
        made.append("samples", [Sample(id=f"v-{place}", dataset="demo", position=place, text=text)])
        for arm in ARMS:
            refused = place == 0
            made.append(
                "variants",
                [
                    Variant(
                        id=f"v-{place}/{arm}",
                        sample_id=f"v-{place}",
                        arm=arm,
                        changes=(Change(attribute="gender", before="male", after="female"),),
                        text="" if refused else text.replace("Man", "Woman"),
                        status="skipped" if refused else "ok",
                        made_by="rules",
                    )
                ],
            )
    made.append(
        "gate",
        [
            Judgement(
                id="v-1/full/g",
                status="ok",
                subject_id="v-1/full",
                rubric="validity",
                dimension="isolation",
                judge="rules",
                value="rejected",
            )
        ],
    )
    return made


def filled(run: RunDirectory, folder: Path, rater: str, said: dict[str, str]) -> Path:
    """Fill in a whole sheet, "correct" where nothing else is said of a sample."""
    source = RewriteSource(run)
    items = draw_rewrites(source, n=None, seed=1)
    rows = list(csv.DictReader(io.StringIO(sheet_text(source, "rewrites", items))))
    by_id = {item.id: item.sample_id for item in items}
    for row in rows:
        row["quality"] = said.get(by_id[row["id"]], "correct")
    path = folder / f"{rater}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_only_notes_that_count_are_read_and_the_draw_is_the_same_for_all(
    run: RunDirectory,
) -> None:
    source = RewriteSource(run)
    items = draw_rewrites(source, n=None, seed=3)
    assert len(items) == 27
    assert not {"v-0", "v-1", "v-2"} & {item.sample_id for item in items}
    assert items == draw_rewrites(RewriteSource(run), n=None, seed=3)
    assert draw_rewrites(source, n=5, seed=3) == items[:5]
    cells = source.cells("rewrites", items[0])
    assert cells["changed"] == "gender: male to female"
    assert cells["original"].startswith("Man")
    assert cells["rewritten"].startswith("Woman")


def test_two_readers_agreement_is_beyond_chance(run: RunDirectory, tmp_path: Path) -> None:
    first = {"v-3": "failed", "v-4": "incomplete", "v-5": "I"}
    second = {"v-3": "failed", "v-4": "incomplete", "v-6": "failed"}
    for rater, said in (("R1", first), ("R2", second)):
        table = read_spreadsheet(filled(run, tmp_path, rater, said))
        read = import_sheet(run, "rewrites", table, rater)
        assert (read.scored, read.problems) == (27, ())
    rated = rate_rewrites(run.labels())
    assert rated is not None
    assert rated.raters[0].counts == {"correct": 24, "incomplete": 2, "failed": 1}
    (pair,) = rated.agreements
    assert (pair.n, pair.same) == (27, 25)
    # By hand: chance = (24*24 + 2*1 + 1*2) / 27^2; kappa = (25/27 - chance) / (1 - chance).
    chance = 580 / 729
    assert pair.kappa.value == pytest.approx((25 / 27 - chance) / (1 - chance))


def test_cells_that_say_nothing_usable_are_unscored_and_counted(
    run: RunDirectory, tmp_path: Path
) -> None:
    table = read_spreadsheet(filled(run, tmp_path, "R1", {"v-3": "", "v-4": "perhaps"}))
    read = import_sheet(run, "rewrites", table, "R1")
    assert (read.scored, read.faults) == (25, {"missing": 1, "unparsable": 1})
    rated = rate_rewrites(run.labels())
    assert rated is not None
    assert rated.raters[0].n == 25
    assert rated.raters[0].unscored == {"missing": 1, "unparsable": 1}
    again = read_spreadsheet(filled(run, tmp_path, "R1", {"v-4": "failed"}))
    import_sheet(run, "rewrites", again, "R1")
    rated = rate_rewrites(run.labels())
    assert rated is not None
    assert rated.raters[0].counts == {"correct": 26, "incomplete": 0, "failed": 1}


@pytest.mark.parametrize("cell", ["correct", "Correct", "C", "c"])
def test_a_letter_is_enough(cell: str) -> None:
    assert read_quality(cell).value == "correct"
    assert read_quality("f").value == "failed"
    assert read_quality("fail").fault == "unparsable"


def test_a_run_without_rewritten_notes_says_so(tmp_path: Path) -> None:
    manifest = Manifest(run="kg", created="2026-11-30T09:00:00+00:00", plan={}, seed=0)
    empty = RunDirectory.create(tmp_path / "kg", manifest)
    with pytest.raises(UserError, match="no rewritten note"):
        draw_rewrites(RewriteSource(empty), n=None, seed=0)
    assert rate_rewrites(()) is None
