"""Both graph stores, and a recorded run: every stage file but measurements."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.graph_store.records import (
    Answer,
    Change,
    Judgement,
    Record,
    Sample,
    Triple,
    Variant,
    child_id,
    sample_id,
)
from evenhand.graph_store.run_directory import Manifest, RunDirectory, StageName
from evenhand.graph_store.store import GraphStore, open_store


@pytest.fixture(params=["sqlite", "neo4j"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty graph, in each kind of store."""
    if request.param == "neo4j":
        return str(request.getfixturevalue("neo4j_address"))
    return f"sqlite:{tmp_path / 'graph.sqlite'}"


@pytest.fixture
def store(address: str, tmp_path: Path) -> Iterator[GraphStore]:
    with open_store(address, tmp_path) as opened:
        yield opened


SWAPS = {"age": ("28", "70"), "gender": ("male", "female"), "location": ("Leeds", "Johannesburg")}


def _triple(source: str, position: int, hop: int, *words: str) -> Triple:
    subject, predicate, object_ = words
    return Triple(
        id=child_id(source, "t", position, *words),
        source_id=source,
        subject=subject,
        predicate=predicate,
        object=object_,
        subject_key=subject.casefold(),
        object_key=object_.casefold(),
        hop=hop,
        origin="rules" if hop == 0 else "target",
    )


def _variants(sample: Sample) -> list[Variant]:
    changed = [(), *([name] for name in SWAPS), ["age", "gender"]]
    return [
        Variant(
            id=child_id(sample.id, "v", position, *names),
            sample_id=sample.id,
            arm="isolated" if names else "base",
            changes=tuple(
                Change(attribute=name, before=SWAPS[name][0], after=SWAPS[name][1])
                for name in names
            ),
            text=f"Variant {position} of {sample.text}",
            made_by="rules",
        )
        for position, names in enumerate(changed)
    ]


def _answer(variant: Variant, position: int, said: str) -> Answer:
    arm = ("no_hop", "multi_hop")[position]
    return Answer(
        id=child_id(variant.id, "a", position, arm),
        status="ok",
        variant_id=variant.id,
        arm="no_hop" if position == 0 else "multi_hop",
        model="echo/parrot",
        prompt_hash="00000000",
        text=f"{said} to {variant.group} asked {arm}",
    )


def _verdicts(answer: Answer, base: Answer) -> list[Judgement]:
    scored = Judgement(
        id=child_id(answer.id, "j", 0, "age"),
        status="ok",
        subject_id=answer.id,
        rubric="attribute_association",
        dimension="age",
        judge="rules",
        value=0.25,
    )
    paired = Judgement(
        id=child_id(answer.id, "j", 9, "paired_change", base.id),
        status="unparsable",
        subject_id=answer.id,
        against_id=base.id,
        rubric="paired_change",
        dimension="any",
        judge="rules",
        reason_code="no_clinical_entity",
        flags=("truncated", "cut"),
    )
    return [scored] if answer == base else [scored, paired]


def _gate(variant: Variant) -> Judgement:
    return Judgement(
        id=child_id(variant.id, "g", 0, "validity"),
        status="ok",
        subject_id=variant.id,
        rubric="validity",
        dimension="isolation",
        judge="rules",
        value="accepted",
    )


def _stages(samples: int, said: str) -> dict[StageName, list[Record]]:
    stages: dict[StageName, list[Record]] = {
        name: [] for name in ("samples", "triples", "variants", "gate", "answers", "judgements")
    }
    for position in range(samples):
        text = f"Patient {position} has fever."
        sample = Sample(
            id=sample_id("demo", position, text), dataset="demo", position=position, text=text
        )
        stages["samples"].append(sample)
        stages["triples"] += [
            _triple(sample.id, 0, 0, "patient", "has age", "28"),
            _triple(sample.id, 1, 0, "patient", "has symptom", f"fever {position % 7}"),
        ]
        variants = _variants(sample)
        stages["variants"] += variants
        stages["gate"] += map(_gate, variants[1:])
        asked = [[_answer(variant, way, said) for way in (0, 1)] for variant in variants]
        for answers in asked:
            stages["answers"] += answers
            stages["triples"].append(
                _triple(answers[1].id, 0, 1, f"Fever {position % 7}", "suggests", "malaria")
            )
            for answer, base in zip(answers, asked[0], strict=True):
                stages["judgements"] += _verdicts(answer, base)
    return stages


MakeRun = Callable[..., RunDirectory]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Make a run directory with all its stage files: name, samples, what is said, created.

    Runs of other names ask the same of the same samples; `said` is what the target answers.
    """

    def make(
        name: str, samples: int = 3, said: str = "Malaria", created: str = "2026-01-01T00:00:00Z"
    ) -> RunDirectory:
        manifest = Manifest(
            run=name,
            created=created,
            plan={"recipe": "kg", "dataset": "demo", "roles": {"target": {"model": "echo/parrot"}}},
            seed=7,
        )
        run = RunDirectory.create(tmp_path / name, manifest)
        for stage, records in _stages(samples, said).items():
            run.append(stage, records)
        return run

    return make
