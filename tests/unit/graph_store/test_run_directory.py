import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Answer, Judgement, Measurement, Sample
from evenhand.graph_store.run_directory import (
    STAGE_RECORDS,
    Call,
    Event,
    Manifest,
    RunDirectory,
    StageName,
    list_runs,
    read_lines,
)
from evenhand.graph_store.schema import GATE_RUBRIC


def answer(number: int, text: str = "fever") -> Answer:
    return Answer(
        id=f"demo-0-00000000/v0-00000000/a{number}-00000000",
        status="ok",
        variant_id="demo-0-00000000/v0-00000000",
        arm="no_hop",
        model="echo/parrot",
        prompt_hash="00000000",
        text=text,
    )


def manifest(name: str = "run", created: str = "2026-01-01T00:00:00Z") -> Manifest:
    return Manifest(run=name, created=created, plan={"recipe": "kg"}, seed=1)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "run", manifest())


def test_what_is_appended_is_read_in_order(run: RunDirectory) -> None:
    records = [answer(number, f"läßt {number}\u2028\n\x85 end") for number in range(5)]
    assert run.append("answers", records[:3]) == 3
    assert run.append("answers", records[3:]) == 2
    assert run.append("answers", []) == 0
    assert run.answers() == records
    assert run.records("answers") == records
    assert run.ids("answers") == {record.id for record in records}
    assert run.stage_path("answers").read_bytes().count(b"\n") == 5


@pytest.mark.parametrize("stage", STAGE_RECORDS)
def test_a_stage_that_has_not_begun_is_empty(run: RunDirectory, stage: StageName) -> None:
    assert run.records(stage) == []
    assert run.ids(stage) == set()
    assert list(run.events()) == []
    assert run.calls() == []


def test_each_stage_has_its_reader(run: RunDirectory) -> None:
    sample = Sample(id="s", dataset="demo", position=0, text="t")
    verdict = Judgement(
        id="j",
        status="ok",
        subject_id="a",
        rubric="r",
        dimension="d",
        judge="rules",
        value=0.5,
    )
    number = Measurement(
        id="m", status="ok", metric="x", arm="no_hop", groups=("age",), value=0.25, n=4
    )
    run.append("samples", [sample])
    decision = verdict.model_copy(update={"id": "g", "rubric": GATE_RUBRIC})
    run.append("gate", [verdict, decision])
    run.append("judgements", [verdict])
    run.append("measurements", [number])
    assert run.samples() == [sample]
    assert (run.gate(), run.gate_evidence()) == ([decision], [verdict])
    assert run.judgements() == [verdict]
    assert run.measurements() == [number]
    assert (run.variants(), run.triples()) == ([], [])


def test_a_torn_last_line_is_skipped_and_then_cut_off(run: RunDirectory) -> None:
    run.append("answers", [answer(0), answer(1)])
    path = run.stage_path("answers")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert [record.id for record in run.answers()] == [answer(0).id]
    assert run.ids("answers") == {answer(0).id}
    run.append("answers", [answer(2)])
    assert run.answers() == [answer(0), answer(2)]


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_wherever_a_file_is_cut_the_whole_lines_stay(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    run = RunDirectory(tmp_path_factory.mktemp("run"))
    texts = data.draw(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
    records = [answer(number, text) for number, text in enumerate(texts)]
    run.append("answers", records)
    path = run.stage_path("answers")
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    assert run.answers() == records[:kept]
    run.append("answers", records[kept:])
    assert path.read_bytes() == whole


def test_a_torn_line_of_megabytes_is_cut_off(run: RunDirectory) -> None:
    run.append("answers", [answer(0)])
    with run.stage_path("answers").open("ab") as file:
        file.write(b"x" * 3_000_000)
    run.append("answers", [answer(1)])
    assert run.answers() == [answer(0), answer(1)]
    run.stage_path("samples").write_bytes(b"x" * 200_000)
    assert run.samples() == []
    run.append("samples", [Sample(id="s", dataset="demo", position=0, text="t")])
    assert len(run.samples()) == 1


def test_of_two_lines_with_one_id_the_first_counts(run: RunDirectory) -> None:
    run.append("answers", [answer(0, "first"), answer(0, "second")])
    assert [record.text for record in run.answers()] == ["first"]


@pytest.mark.parametrize(
    "damage", [b"{}\n", b"not json\n", b'{"id": "\xff"}\n', b"[1]\n", b"null\n", b'{"id": 1}\n']
)
def test_a_damaged_line_names_file_line_and_way_out(run: RunDirectory, damage: bytes) -> None:
    run.append("answers", [answer(0)])
    with run.stage_path("answers").open("ab") as file:
        file.write(damage)
    with pytest.raises(UserError, match=r"answers\.jsonl: line 2 is no .*evenhand resume"):
        run.answers()
    if damage != b'{"id": 1}\n':
        with pytest.raises(UserError, match=r"answers\.jsonl: line 2 is no .*evenhand resume"):
            run.ids("answers")


def test_half_a_surrogate_pair_in_a_reply_is_stored_readably(run: RunDirectory) -> None:
    run.append("answers", [answer(0, "malaria \ud83d"), answer(1)])
    assert [record.text for record in run.answers()] == ["malaria ?", "fever"]
    run.append_call(
        Call(id="a", role="target", model="m", messages=(("user", "q"),), reply="\ude00")
    )
    assert run.calls()[0].reply == "?"


def test_secrets_do_not_reach_a_file(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very secret value")
    run.append("answers", [answer(0, "the key is very secret value, Bearer abcdef0123456789abc")])
    run.append_event(Event(at=0, kind="error", message="401 for very secret value"))
    run.write_text("report.html", "<p>very secret value</p>")
    run.write_manifest(manifest().model_copy(update={"models": {"a": {"u": "http://u:pw12@h"}}}))
    for path in run.path.iterdir():
        assert "very secret" not in path.read_text()
        assert "abcdef0123456789" not in path.read_text()
    assert run.manifest.models == {"a": {"u": "http://[redacted]@h"}}
    assert len(run.answers()) == len(list(run.events())) == 1


def test_threads_that_append_long_lines_do_not_cut_each_other(run: RunDirectory) -> None:
    def append(thread: int) -> None:
        for number in range(30):
            run.append("answers", [answer(100 * thread + number, "x" * 30_000)])

    threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(run.answers()) == 120


def test_events_from_an_offset(run: RunDirectory) -> None:
    run.report_progress("answer", 1, 10, refused=2)
    offset = (run.path / "events.jsonl").stat().st_size
    run.report_progress("answer", 2, 10)
    first, second = run.events()
    assert (first.done, first.total, first.counts) == (1, 10, {"refused": 2})
    assert list(run.events(offset)) == [second]
    assert list(run.events(10**6)) == []


def test_a_run_is_made_whole_and_kept_when_made_again(tmp_path: Path) -> None:
    made = RunDirectory.create(tmp_path / "deep" / "run", manifest())
    assert [path.name for path in made.path.iterdir()] == ["manifest.json"]
    again = RunDirectory.create(made.path, manifest(created="2027-01-01T00:00:00Z"))
    assert again.manifest == made.manifest == manifest()
    assert RunDirectory.open(made.path).run_id == "run"


def test_a_run_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"No run 'x' in .*; runs there: \(none\)"):
        RunDirectory.open(tmp_path / "absent" / "x")
    for name, created in (("late", "2026-02-01T00:00:00Z"), ("early", "2026-01-01T00:00:00Z")):
        RunDirectory.create(tmp_path / name, manifest(name, created))
    (tmp_path / "no run").mkdir()
    assert [run.run_id for run in list_runs(tmp_path)] == ["early", "late"]
    with pytest.raises(UserError, match="runs there: early, late"):
        RunDirectory.open(tmp_path / "x")


def test_a_file_is_replaced_in_one_step(run: RunDirectory) -> None:
    path = run.write_text("report.html", "first")
    with path.open() as reader:
        run.write_text("report.html", "second")
        assert reader.read() == "first"
    assert path.read_text() == "second"
    assert sorted(p.name for p in run.path.iterdir()) == ["manifest.json", "report.html"]


HOLDER = """
import sys, time
from pathlib import Path
from evenhand.graph_store.run_directory import RunDirectory
with RunDirectory(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_writer_at_a_time_and_the_lock_dies_with_its_process(run: RunDirectory) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(run.path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UserError, match="being written by another process"), run.lock():
            pass
        assert run.answers() == [], "readers need no lock"
        holder.kill()
    with run.lock() as mine:
        assert mine is run
        with pytest.raises(UserError, match="being written"), RunDirectory(run.path).lock():
            pass
    with RunDirectory(run.path).lock():
        pass


APPENDER = """
import sys
from pathlib import Path
from evenhand.graph_store.records import Answer
from evenhand.graph_store.run_directory import RunDirectory
run = RunDirectory(Path(sys.argv[1]))
done = run.ids("answers")
with run.lock():
    for number in range(10_000):
        id = f"demo-0-00000000/v0-00000000/a{number}-00000000"
        if id in done:
            continue
        record = Answer(id=id, status="ok", variant_id="v", arm="no_hop", model="m",
                        prompt_hash="h", text=f"{number} " * 4_000)
        run.append("answers", [record])
        if number % 10 == 0:
            print(number, flush=True)
"""


def test_killed_in_the_middle_of_appends_nothing_announced_is_lost(run: RunDirectory) -> None:
    announced = -1
    for delay in (0.0, 0.013, 0.029, 0.05):
        with subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(run.path)], stdout=subprocess.PIPE, text=True
        ) as appender:
            assert appender.stdout is not None
            announced = int(appender.stdout.readline())
            time.sleep(delay)
            appender.kill()
            rest = appender.stdout.read().split("\n")
        announced = max([announced, *(int(line) for line in rest[:-1] if line)])
        numbers = [int(record.text.split()[0]) for record in run.answers()]
        assert numbers == list(range(len(numbers))), "no gap, none twice, no torn line inside"
        assert numbers[-1] >= announced
        assert len(run.ids("answers")) == len(numbers)
    torn = run.stage_path("answers").read_bytes()
    assert len(list(read_lines(run.stage_path("answers")))) == torn.count(b"\n")


def test_a_line_is_plain_json(run: RunDirectory) -> None:
    run.append("answers", [answer(0)])
    (line,) = read_lines(run.stage_path("answers"))
    assert json.loads(line)["tokens"] == {"prompt": None, "completion": None}
