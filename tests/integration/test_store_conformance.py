"""What every graph store must do, whatever is behind it: one suite, a parameter a store."""

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.graph_store.rows import (
    AnswerRow,
    Batch,
    Link,
    Neighbourhood,
    RunRow,
    SampleRow,
    TripleRow,
)
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.schema import LABELS
from evenhand.graph_store.store import GraphStore, open_store
from evenhand.graph_store.sync import sync

MakeRun = Callable[..., RunDirectory]
INJECTIONS = [
    "O'Brien's sign\"}) MATCH (n) DETACH DELETE n //",
    "x'); DROP TABLE triple; --",
    "TREATS`]->(x) DETACH DELETE x //",
    "$(rm -rf .) {{7*7}} {} %s %(run)s :run ?1",
]
HARD_TEXTS = [
    *INJECTIONS,
    "用于治疗 🩺 naïve Ωμέγα \u202eright to left\u202c",
    "back`tick \"double\" 'single' {brace} \\ \n\t\r end",
    "nul \x00 inside",
    "",
    "x" * 100_000,
]


def fact(subject: str, predicate: str, object_: str, **other: str | int) -> TripleRow:
    position = int(other.get("position", 0))
    return TripleRow(
        run=str(other.get("run", "r1")),
        source_id=str(other.get("source_id", "demo-0-00000000")),
        subject=subject,
        predicate=predicate,
        object=object_,
        subject_key=subject.casefold(),
        object_key=object_.casefold(),
        hop=int(other.get("hop", 0)),
        origin="rules",
        id=f"demo-0-00000000/t{position}-00000000",
        position=position,
    )


def every_triple(store: GraphStore, key: str, hops: int, run: str | None = None) -> Neighbourhood:
    return store.neighbourhood(key, hops=hops, limit=10_000, run=run)


def test_an_empty_graph_answers_every_question(store: GraphStore) -> None:
    assert store.neighbourhood("fever") == Neighbourhood((), (), more=False)
    assert store.lineage("demo-0-00000000", "r1") is None
    assert store.variants_changing_only("demo-0-00000000", "age") == []
    assert store.triples_of("demo-0-00000000") == []
    assert store.runs() == []
    assert store.run("r1") is None
    stats = store.stats()
    assert (stats.nodes, stats.relationships, stats.triples) == ({}, {}, 0)
    assert store.export("r1")["nodes"] == []
    assert int(store.checksum(), 16) == 0
    store.drop_run("r1")


@pytest.mark.parametrize("text", HARD_TEXTS, ids=range(len(HARD_TEXTS)))
def test_any_text_comes_back_as_it_went_in(store: GraphStore, text: str) -> None:
    answer = AnswerRow(run="r1", id="demo-0-00000000/v0-00000000/a0-00000000", text=text)
    sample = SampleRow(run="r1", id="demo-0-00000000", text=text, reason=None)
    triple = fact(text, text, text + " object")
    store.write_batch(Batch(nodes=[answer, sample], triples=[triple]))
    assert store.triples_of("demo-0-00000000") == [triple]
    lineage = store.lineage(answer.id, "r1")
    assert lineage is not None
    assert lineage.answer == answer
    assert every_triple(store, text.casefold(), 1).triples == (triple,)
    json.dumps(store.export("r1"))


def test_text_in_nfd_and_in_nfc_is_the_same_entity(store: GraphStore) -> None:
    store.write_batch(Batch(triples=[fact("Sjögren", "is a", "disease")]))
    store.write_batch(Batch(triples=[fact("Sjo\u0308gren", "is a", "disease")]))
    assert store.stats().triples == 1
    assert len(every_triple(store, "sjo\u0308gren", 1).triples) == 1


@pytest.mark.parametrize("text", INJECTIONS)
def test_injected_text_deletes_nothing(store: GraphStore, text: str) -> None:
    store.write_batch(Batch(triples=[fact("a", "b", "c"), fact("c", "d", "e")]))
    store.write_batch(Batch(triples=[fact(text, text, "x")], nodes=[RunRow(run=text, id=text)]))
    store.neighbourhood(text, run=text)
    store.lineage(text, text)
    store.variants_changing_only(text, text, run=text)
    store.triples_of(text, run=text)
    store.stats(text)
    assert store.stats().nodes["Entity"] == 5
    assert store.stats().triples == 3
    store.drop_run(text)
    assert store.stats().triples == 3
    assert set(store.stats().nodes) <= set(LABELS)


def test_the_same_batch_twice_changes_nothing(store: GraphStore) -> None:
    batch = Batch(
        nodes=[SampleRow(run="r1", id="demo-0-00000000", text="a")],
        triples=[fact("gout", "treated with", "colchicine"), fact("a", "b", "c")],
        links=[Link("INCLUDES", "r1", "Run", "r1", "Sample", "demo-0-00000000")],
    )
    store.write_batch(batch)
    once = (store.stats(), store.checksum())
    store.write_batch(batch)
    assert (store.stats(), store.checksum()) == once


def test_the_same_fact_in_other_letters_is_one_relationship(store: GraphStore) -> None:
    first = fact("gout", "treated with", "colchicine")
    store.write_batch(Batch(triples=[first, fact("Gout", "Treated  with", "Colchicine")]))
    assert store.stats().nodes == {"Entity": 2}
    assert store.triples_of(first.source_id) == [first]


def test_self_loops_and_parallel_relationships_are_kept(store: GraphStore) -> None:
    triples = [
        fact("gout", "resembles", "gout"),
        fact("gout", "causes", "pain"),
        fact("gout", "worsens", "pain"),
        fact("pain", "causes", "gout"),
        fact("gout", "causes", "pain", source_id="demo-1-00000000"),
        fact("gout", "causes", "pain", hop=1),
        fact("gout", "causes", "pain", run="r2"),
    ]
    store.write_batch(Batch(triples=triples))
    found = every_triple(store, "gout", 1)
    assert len(found.triples) == len(set(found.triples)) == 7
    assert {(entity.key, entity.distance) for entity in found.entities} == {
        ("gout", 0),
        ("pain", 1),
    }
    assert len(every_triple(store, "gout", 1, run="r2").triples) == 1
    assert every_triple(store, "gout", 0).triples == ()


def test_a_failed_batch_leaves_nothing(store: GraphStore) -> None:
    bad = AnswerRow(run="r1", id="a", seconds=float("nan"))
    with pytest.raises(ValueError, match="seconds must be finite"):
        store.write_batch(Batch(nodes=[bad], triples=[fact("a", "b", "c")]))
    assert store.stats().nodes == {}


def test_pages_are_whole_and_disjoint(store: GraphStore) -> None:
    triples = [fact("hub", f"p{number}", f"leaf {number % 10}") for number in range(57)]
    chain = [fact(f"leaf {number}", "leads to", f"end {number}") for number in range(10)]
    store.write_batch(Batch(triples=triples + chain))
    whole = every_triple(store, "hub", 2)
    pages = [store.neighbourhood("hub", hops=2, limit=10, offset=at) for at in range(0, 70, 10)]
    assert [page.more for page in pages] == [True] * 6 + [False]
    assert tuple(triple for page in pages for triple in page.triples) == whole.triples
    assert len(whole.triples) == 67
    by_source = [
        triple
        for at in range(0, 70, 10)
        for triple in store.triples_of("demo-0-00000000", limit=10, offset=at)
    ]
    assert by_source == store.triples_of("demo-0-00000000")
    assert store.neighbourhood("hub", limit=5, offset=1_000).triples == ()


def test_triples_of_a_text_come_in_its_order(store: GraphStore) -> None:
    triples = [fact("a", f"p{position}", "b", position=position) for position in range(12)]
    store.write_batch(Batch(triples=triples[::-1]))
    assert store.triples_of("demo-0-00000000", run="r1") == triples


def _two_runs(store: GraphStore, make_run: MakeRun) -> tuple[RunDirectory, RunDirectory]:
    one, two = make_run("one"), make_run("two", said="Flu", created="2026-01-02T00:00:00Z")
    for run in (one, two):
        assert sync(run, store).error is None
    return one, two


def test_dropping_one_of_two_runs_leaves_the_other_whole(
    store: GraphStore, make_run: MakeRun
) -> None:
    one = make_run("one")
    sync(one, store)
    alone = (store.checksum(), store.stats(), store.export("one"))
    sync(make_run("two", samples=4, created="2026-01-02T00:00:00Z"), store)
    assert store.checksum() != alone[0]
    assert store.checksum("one") == alone[0]
    assert store.stats("one") == alone[1]
    store.drop_run("two")
    assert (store.checksum(), store.stats(), store.export("one")) == alone
    store.drop_run("one")
    assert store.stats().nodes == {}


def test_runs_that_ask_the_same_keep_their_own_answers(
    store: GraphStore, make_run: MakeRun
) -> None:
    one, _ = _two_runs(store, make_run)
    answer = one.answers()[0]
    said = [store.lineage(answer.id, run) for run in ("one", "two")]
    texts = [lineage.answer.text for lineage in said if lineage and lineage.answer]
    assert texts == ["Malaria to base asked no_hop", "Flu to base asked no_hop"]
    assert [row.id for row in store.runs()] == ["one", "two"]
    assert [row.id for row in store.runs(limit=1, offset=1)] == ["two"]
    assert store.runs()[0].target == "echo/parrot"


def test_lineage_of_each_kind_of_record(store: GraphStore, make_run: MakeRun) -> None:
    one, _ = _two_runs(store, make_run)
    variant = one.variants()[1]
    answer = next(a for a in one.answers() if a.variant_id == variant.id and a.arm == "multi_hop")
    verdicts = [v for v in one.judgements() if v.subject_id == answer.id]

    whole = store.lineage(answer.id, "one")
    assert whole is not None
    assert whole.sample is not None
    assert whole.variant is not None
    assert whole.answer is not None
    assert whole.sample.id == variant.sample_id
    assert (whole.variant.id, whole.variant.group) == (variant.id, "age")
    assert whole.answer.text == answer.text
    assert [verdict.rubric for verdict in whole.judgements] == [
        "attribute_association",
        "paired_change",
        "validity",
    ]
    assert [triple.hop for triple in whole.triples] == [0, 0, 1]

    of_verdict = store.lineage(verdicts[1].id, "one")
    assert of_verdict is not None
    assert of_verdict.answer == whole.answer
    assert [verdict.id for verdict in of_verdict.judgements] == [verdicts[1].id]
    assert of_verdict.judgements[0].against_id == verdicts[1].against_id
    assert of_verdict.judgements[0].value is None

    of_variant = store.lineage(variant.id, "one")
    assert of_variant is not None
    assert of_variant.answer is None
    assert [verdict.value for verdict in of_variant.judgements] == ["accepted"]

    assert store.lineage(whole.triples[2].id, "one") == whole
    of_sample = store.lineage(variant.sample_id, "one")
    assert of_sample is not None
    assert (of_sample.sample, of_sample.variant) == (whole.sample, None)
    assert store.lineage(answer.id, "three") is None


def test_which_variants_changed_only_location_and_what_the_target_said(
    store: GraphStore, make_run: MakeRun
) -> None:
    one, _ = _two_runs(store, make_run)
    sample = one.samples()[0]
    rows = store.variants_changing_only(sample.id, "location", run="one")
    assert [(row.before, row.after, row.arm, row.text, row.gate) for row in rows] == [
        ("Leeds", "Johannesburg", way, f"Malaria to location asked {way}", "accepted")
        for way in ("multi_hop", "no_hop")
    ]
    assert [verdict.rubric for verdict in rows[0].verdicts] == [
        "attribute_association",
        "paired_change",
    ]
    ages = store.variants_changing_only(sample.id, "age", run="one")
    assert {row.variant_id for row in ages} == {one.variants()[1].id}, "not that of age+gender"
    assert len(store.variants_changing_only(sample.id, "age")) == 4
    assert store.variants_changing_only(sample.id, "age", limit=2, offset=1)[0] == ages[1]


def test_a_variant_that_was_not_asked_has_a_row_without_an_answer(
    store: GraphStore, make_run: MakeRun
) -> None:
    run = make_run("one")
    sync(run, store, ["samples", "variants"])
    (row,) = store.variants_changing_only(run.samples()[0].id, "age")
    assert (row.answer_id, row.arm, row.text, row.gate, row.verdicts) == (None,) * 4 + ((),)


def test_the_order_of_writing_does_not_matter(
    store: GraphStore, make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run("one")
    for stage in ("judgements", "answers", "triples", "gate", "variants", "samples"):
        assert sync(run, store, [stage]).error is None
    with open_store(f"sqlite:{tmp_path / 'straight.sqlite'}", tmp_path) as straight:
        sync(run, straight)
        assert store.checksum() == straight.checksum()
        assert store.export("one") == straight.export("one")


def walk(triples: list[TripleRow], start: str, hops: int) -> tuple[dict[str, int], set[TripleRow]]:
    """The second opinion: a breadth-first search over a list."""
    distances, used, waiting = {start: 0}, set(), deque([start])
    while waiting:
        here = waiting.popleft()
        for triple in triples:
            ends = (triple.subject_key, triple.object_key)
            if here in ends and distances[here] < hops:
                used.add(triple)
                for end in set(ends) - set(distances):
                    distances[end] = distances[here] + 1
                    waiting.append(end)
    return distances, used


@contextmanager
def emptied(store: GraphStore) -> Iterator[GraphStore]:
    for run in ("r1", "r2"):
        store.drop_run(run)
    yield store


facts = st.builds(
    lambda a, p, b, run: fact(a, p, b, run=run),
    st.sampled_from("abcdefgh"),
    st.sampled_from(["p", "q"]),
    st.sampled_from("abcdefgh"),
    st.sampled_from(["r1", "r2"]),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    triples=st.lists(facts, max_size=25),
    start=st.sampled_from("abcdefgh"),
    hops=st.integers(0, 4),
    limit=st.integers(1, 30),
    run=st.sampled_from([None, "r1"]),
)
def test_neighbourhoods_of_random_graphs(
    store: GraphStore, triples: list[TripleRow], start: str, hops: int, limit: int, run: str | None
) -> None:
    with emptied(store):
        store.write_batch(Batch(triples=triples))
        in_run = [triple for triple in triples if run in (None, triple.run)]
        distances, used = walk(in_run, start, hops)
        found = every_triple(store, start, hops, run)
        assert set(found.triples) == used
        assert len(found.triples) == len(used)
        if used:
            assert {entity.key: entity.distance for entity in found.entities} == distances
        page = store.neighbourhood(start, hops=hops, limit=limit, run=run)
        assert page.triples == found.triples[:limit]
        assert page.more == (len(used) > limit)
        nearest = [min(distances[t.subject_key], distances[t.object_key]) for t in found.triples]
        assert nearest == sorted(nearest)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    triples=st.lists(facts, max_size=25),
    cut=st.integers(0, 25),
    again=st.lists(facts, max_size=10),
)
def test_random_batches_in_any_cut_give_the_same_graph(
    store: GraphStore, triples: list[TripleRow], cut: int, again: list[TripleRow]
) -> None:
    with emptied(store):
        store.write_batch(Batch(triples=triples + again))
        whole, stats = store.checksum(), store.stats()
    with emptied(store):
        for part in (triples[:cut], triples[cut:], again, triples):
            store.write_batch(Batch(triples=part))
        assert (store.checksum(), store.stats()) == (whole, stats)
        store.drop_run("r2")
        kept = {triple for triple in triples + again if triple.run == "r1"}
        assert store.stats().triples == len(kept)
        ends = {end for triple in kept for end in (triple.subject_key, triple.object_key)}
        assert store.stats().nodes.get("Entity", 0) == len(ends)


READER = """
import sys, time
from pathlib import Path
from evenhand.graph_store.store import open_store
with open_store(sys.argv[1], Path()) as store:
    print("ready", flush=True)
    seen, rows = [], 0
    while not seen or seen[-1] < 2000:
        seen.append(store.stats().triples)
        rows += len(store.neighbourhood("hub", hops=2).triples)
    assert seen == sorted(seen), seen
    # Neo4j reads what is committed row by row: a count beside a writer may fall inside a batch.
    if sys.argv[1].startswith("sqlite"):
        assert all(count % 100 == 0 for count in seen), "half a batch was seen"
    print(len(set(seen)), rows)
"""


def test_another_process_reads_while_one_writes(store: GraphStore, address: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", READER, address], stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
        for start in range(0, 2_000, 100):
            facts = [fact("hub", "p", f"leaf {start + number}") for number in range(100)]
            store.write_batch(Batch(triples=facts))
            time.sleep(0.005)
        states, rows = map(int, reader.communicate(timeout=60)[0].split())
    assert reader.returncode == 0
    assert states > 2
    assert rows > 0


WRITER = """
import sys
from pathlib import Path
from evenhand.graph_store import sync as module
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.store import open_store
module._RECORDS_A_BATCH = 20
with open_store(sys.argv[1], Path()) as store:
    write = store.write_batch
    def write_and_tell(batch):
        write(batch)
        print("batch", flush=True)
    store.write_batch = write_and_tell
    print(module.sync(RunDirectory.open(Path(sys.argv[2])), store))
"""


@pytest.mark.parametrize("batches", [1, 7, 30])
def test_killed_in_the_middle_of_a_sync_then_synced(
    store: GraphStore, address: str, make_run: MakeRun, tmp_path: Path, batches: int
) -> None:
    run = make_run("one", samples=25)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, address, str(run.path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(batches):
            assert writer.stdout.readline() == "batch\n"
        writer.kill()
    with open_store(f"sqlite:{tmp_path / 'undisturbed.sqlite'}", tmp_path) as undisturbed:
        assert sync(run, undisturbed).error is None
        assert store.checksum() != undisturbed.checksum()
        report = sync(run, store)
        assert report.error is None
        assert report.skipped > 0 or batches == 1
        assert store.checksum() == undisturbed.checksum()
        assert store.stats() == undisturbed.stats()
    assert sync(run, store).written == 0
