"""Each store is the other's second opinion: random graphs, random operations, every question."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evenhand.graph_store.records import child_id
from evenhand.graph_store.rows import (
    AnswerRow,
    Batch,
    JudgementRow,
    Link,
    NodeRow,
    RunRow,
    SampleRow,
    TripleRow,
    VariantRow,
)
from evenhand.graph_store.schema import Label, label_of
from evenhand.graph_store.sqlite_store import SqliteStore
from evenhand.graph_store.store import GraphStore, open_store

GRAPHS = 300
QUESTIONS = 12
"""Asked of each graph, drawn from about 45: all kinds come up."""
RUNS = ("r1", "r2")
ATTRIBUTES = ("age", "gender")
WAYS = ("no_hop", "multi_hop")
WORDS = (
    "patient",
    "fever",
    "gout",
    "Sjo\u0308gren",
    "Sj\u00f6gren",
    "用于",
    "\U0001fa7a",
    "\uffee",
    "O'Brien\"}) DETACH DELETE n //",
    "back`tick {brace} \\ $x",
    "",
    "\U0001f600" * 400,
)
PREDICATES = (
    "has",
    "Has ",
    "treats`]->()//",
    "用于",
    "is treated with",
    "2nd line",
    "mentions",
    "",
)


@dataclass
class Made:
    """Rows of one run, as an audit might have left them, links and all."""

    nodes: list[NodeRow] = field(default_factory=list)
    triples: list[TripleRow] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    @property
    def sources(self) -> list[str]:
        return [row.id for row in self.nodes if isinstance(row, (SampleRow, AnswerRow))]


def make_rows(chance: random.Random, run: str) -> Made:
    made = Made()
    made.nodes.append(RunRow(run=run, id=run, created=chance.choice([None, "2026", "2027"])))
    for position in range(chance.randint(0, 2)):
        sample = SampleRow(
            run=run,
            id=f"demo-{position}-00000000",
            status="ok",
            position=chance.choice([None, position, 9 - position]),
            text=chance.choice(WORDS),
        )
        made.nodes.append(sample)
        made.links.append(Link("INCLUDES", run, "Run", run, "Sample", sample.id))
        state_facts(chance, made, run, sample.id, hops=(0,))
        for place in range(chance.randint(0, 4)):
            add_variant(chance, made, run, sample.id, place)
    add_verdicts(chance, made, run)
    return made


def add_variant(chance: random.Random, made: Made, run: str, sample: str, place: int) -> None:
    names = chance.choice([(), ("age",), ("gender",), ATTRIBUTES]) if place else ()
    variant = VariantRow(
        run=run,
        id=child_id(sample, "v", place),
        arm="isolated" if names else "base",
        group="+".join(names) or None,
        position=chance.choice([place, None]),
    )
    made.nodes.append(variant)
    ends: tuple[Label, str, Label, str] = ("Variant", variant.id, "Sample", sample)
    made.links.append(Link("VARIANT_OF", run, *ends))
    for name in names:
        before = chance.choice([None, *WORDS])
        made.links.append(Link("PERTURBS", run, *ends, name, before, chance.choice(WORDS)))
    for order, way in enumerate(chance.sample(WAYS, chance.randint(0, 2))):
        answer = AnswerRow(
            run=run,
            id=child_id(variant.id, "a", order, way),
            status=chance.choice(["ok", "ok", "ok", "refused"]),
            arm=chance.choice([way, way, way, None]),
            repeat=chance.choice([0, 0, 0, 1, None]),
            text=chance.choice([None, *WORDS]),
            seconds=chance.choice([None, 0.5, 2.0]),
        )
        made.nodes.append(answer)
        made.links.append(Link("ANSWERS", run, "Answer", answer.id, "Variant", variant.id))
        state_facts(chance, made, run, answer.id, hops=(1, 2, 3))


def state_facts(
    chance: random.Random, made: Made, run: str, source: str, hops: tuple[int, ...]
) -> None:
    for position in range(chance.randint(0, 4)):
        subject, object_ = chance.choice(WORDS), chance.choice(WORDS)
        triple = TripleRow(
            run=run,
            source_id=source,
            subject=subject,
            predicate=chance.choice(PREDICATES),
            object=object_,
            subject_key=subject.casefold(),
            object_key=object_.casefold(),
            hop=chance.choice(hops),
            origin="rules",
            id=child_id(source, "t", position),
            position=position,
        )
        made.triples.append(triple)
        for key in (triple.subject_key, triple.object_key):
            made.links.append(Link("MENTIONS", run, label_of(source), source, "Entity", key))


def add_verdicts(chance: random.Random, made: Made, run: str) -> None:
    subjects = [row.id for row in made.nodes if isinstance(row, (VariantRow, AnswerRow))]
    answers = [row.id for row in made.nodes if isinstance(row, AnswerRow)]
    for place in range(chance.randint(0, 6) if subjects else 0):
        subject = chance.choice(subjects)
        gate = label_of(subject) == "Variant"
        verdict = JudgementRow(
            run=run,
            id=child_id(subject, "g" if gate else "j", place),
            status="ok",
            rubric="validity" if gate else chance.choice(["paired_change", "scores", None]),
            dimension=chance.choice(["any", "test", None]),
            judge=chance.choice(["rules", "Ωμέγα", None]),
            value=chance.choice(["accepted", "rejected"] if gate else [0.0, 1.0, 1.0, None]),
            reason=chance.choice([None, *WORDS]),
        )
        made.nodes.append(verdict)
        made.links.append(Link("JUDGES", run, "Judgement", verdict.id, label_of(subject), subject))
        if not gate and chance.random() < 0.7:
            base = chance.choice(answers)
            made.links.append(Link("COMPARES_WITH", run, "Judgement", verdict.id, "Answer", base))


def operations(chance: random.Random, made: dict[str, Made]) -> Iterator[tuple[str, Any]]:
    """Every row in some batch and some order, some twice, with a drop here and there."""
    for run, rows in made.items():
        for part in chance.sample(("nodes", "triples", "links"), 3):
            all_rows = list(getattr(rows, part))
            chance.shuffle(all_rows)
            cut = chance.randint(0, len(all_rows))
            yield "write", Batch(**{part: all_rows[:cut]})
            if chance.random() < 0.1:
                yield "drop", chance.choice(RUNS)
            yield "write", Batch(**{part: all_rows[cut // 2 :]})
        if chance.random() < 0.3:
            yield "write", Batch(rows.nodes, rows.triples, rows.links)
        if chance.random() < 0.1:
            yield "drop", run


def questions(chance: random.Random, made: dict[str, Made]) -> Iterator[tuple[str, Any, Any]]:
    """Every named query, with arguments that are there and some that are not."""
    ids = [row.id for rows in made.values() for row in rows.nodes] + ["demo-7-00000000"]
    sources = [source for rows in made.values() for source in rows.sources]
    page = {"limit": chance.randint(1, 6), "offset": chance.choice([0, 0, 1, 3])}
    for run in (None, *RUNS):
        yield "stats", (run,), {}
        yield "checksum", (run,), {}
        yield "entity_names", (run,), page
        yield (
            "neighbourhood",
            (chance.choice(WORDS).casefold(),),
            {
                "run": run,
                "hops": chance.randint(0, 4),
                **page,
            },
        )
        for source in chance.sample(sources, min(2, len(sources))):
            yield "triples_of", (source,), {"run": run, **page}
        for attribute in ATTRIBUTES:
            yield "changed_cases", (attribute,), {"run": run, **page}
            sample = f"demo-{chance.randint(0, 1)}-00000000"
            yield "variants_changing_only", (sample, attribute), {"run": run, **page}
    for run in RUNS:
        yield "run", (run,), {}
        yield "export", (run,), {}
        for id in chance.sample(ids, min(4, len(ids))):
            yield "lineage", (id, run), {}
        yield "group_difference", ("age",), {"run": run, "hop": chance.choice([None, 1, 2]), **page}
        yield "group_difference", ("gender",), {"run": run, "limit": 1_000}
    yield "runs", (), {}
    yield "side_by_side", (chance.choice([RUNS, RUNS[::-1], RUNS[:1], ()]),), page


@pytest.fixture
def pair(neo4j_address: str, tmp_path: Path) -> Iterator[tuple[GraphStore, GraphStore]]:
    with (
        open_store(neo4j_address, tmp_path) as neo4j,
        SqliteStore(tmp_path / "graph.sqlite") as sqlite,
    ):
        # The disk is not what is tested here.
        sqlite._connection.execute("PRAGMA synchronous = OFF")
        yield neo4j, sqlite


# Where no memory is free for Neo4j, thousands of small transactions wait for the disk.
@pytest.mark.timeout(1_800)
def test_random_graphs_are_equal_in_both_stores(pair: tuple[GraphStore, GraphStore]) -> None:
    asked = set()
    answered = 0
    for seed in range(GRAPHS):
        chance = random.Random(seed)  # noqa: S311
        made = {run: make_rows(chance, run) for run in chance.sample(RUNS, chance.randint(1, 2))}
        for name, argument in operations(chance, made):
            for store in pair:
                if name == "write":
                    store.write_batch(argument)
                else:
                    store.drop_run(argument)
        for name, arguments, named in chance.sample(list(questions(chance, made)), QUESTIONS):
            got = [getattr(store, name)(*arguments, **named) for store in pair]
            assert got[0] == got[1], (seed, name, arguments, named)
            asked.add(name)
            answered += bool(got[0])
        for run in RUNS:
            for store in pair:
                store.drop_run(run)
        assert not any(store.stats().nodes for store in pair)
    writes = {"write_batch", "drop_run", "close"}
    every = {name for name in vars(GraphStore) if not name.startswith("_")}
    assert asked == every - writes, "a named query is not compared"
    assert answered > QUESTIONS * GRAPHS / 3, "too many empty answers"
