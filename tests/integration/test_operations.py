"""The named questions about an audit: pairs, cases and runs; each store against plain Python."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from evenhand.graph_store.rows import Batch, ChangedCase, RunRow, TripleContrast
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.schema import relation_type
from evenhand.graph_store.store import GraphStore
from evenhand.graph_store.sync import batch_of, sync

MakeRun = Callable[..., RunDirectory]
WAYS = ("no_hop", "multi_hop")
HARD = "O'Brien\"}) DETACH DELETE n // `用于` '); DROP TABLE link; --"


@dataclass
class Audit:
    """The records of a run, and the plain answer to each question about them."""

    run: str
    samples: list[Sample] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    verdicts: list[Judgement] = field(default_factory=list)

    def write(self, store: GraphStore) -> None:
        records: list[Record] = [
            *self.samples,
            *self.variants,
            *self.answers,
            *self.triples,
            *self.verdicts,
        ]
        batch = batch_of(self.run, records)
        row = RunRow(run=self.run, id=self.run, recipe="kg")
        store.write_batch(Batch((row, *batch.nodes), batch.triples, batch.links))

    def sample(self, position: int) -> Sample:
        id = sample_id("demo", position, "text")
        made = Sample(id=id, dataset="demo", position=position, text=f"Patient {position}")
        self.samples.append(made)
        return made

    def variant(self, sample: Sample, place: int, *names: str, gate: str | None = None) -> Variant:
        made = Variant(
            id=child_id(sample.id, "v", place, *names),
            sample_id=sample.id,
            arm="isolated" if names else "base",
            changes=tuple(Change(attribute=n, before=f"{n} 1", after=f"{n} 2") for n in names),
            text="text",
            made_by="rules",
        )
        self.variants.append(made)
        if gate is not None:
            self.judge(made.id, "g", "validity", gate)
        return made

    def answer(
        self,
        variant: Variant,
        arm: str,
        facts: Sequence[tuple[str, str, str, int]] = (),
        *,
        repeat: int = 0,
        status: str = "ok",
    ) -> Answer:
        made = Answer.model_validate(
            {
                "id": child_id(variant.id, "a", WAYS.index(arm) + 2 * repeat, arm, str(repeat)),
                "status": status,
                "variant_id": variant.id,
                "arm": arm,
                "model": "echo/parrot",
                "repeat": repeat,
                "prompt_hash": "0",
                "text": f"{self.run} said {variant.group}",
            }
        )
        self.answers.append(made)
        for position, (subject, predicate, object_, hop) in enumerate(facts):
            self.triples.append(
                Triple(
                    id=child_id(made.id, "t", position, subject, predicate, object_, str(hop)),
                    source_id=made.id,
                    subject=subject,
                    predicate=predicate,
                    object=object_,
                    subject_key=subject.casefold(),
                    object_key=object_.casefold(),
                    hop=hop,
                    origin="target",
                )
            )
        return made

    def judge(
        self,
        subject: str,
        letter: str,
        rubric: str,
        value: float | str | None,
        against: str | None = None,
        reason: str | None = None,
        dimension: str = "any",
    ) -> None:
        place = sum(v.subject_id == subject for v in self.verdicts)
        self.verdicts.append(
            Judgement(
                id=child_id(subject, letter, place, rubric, against or "", dimension),
                status="unparsable" if value is None else "ok",
                subject_id=subject,
                against_id=against,
                rubric=rubric,
                dimension=dimension,
                judge="rules",
                value=value,
                reason=reason,
            )
        )

    def _only(self, attribute: str) -> list[Variant]:
        rejected = {v.subject_id for v in self.verdicts if v.value == "rejected"}
        alone = [v for v in self.variants if v.attributes == (attribute,)]
        return [variant for variant in alone if variant.id not in rejected]

    def _first(self, variants: Sequence[Variant], arm: str) -> list[Answer]:
        ids = {variant.id for variant in variants}
        return [a for a in self.answers if (a.variant_id in ids and a.arm == arm and not a.repeat)]

    def difference(self, attribute: str, hop: int | None = None) -> list[TripleContrast]:
        said = {
            answer.id: {
                (t.subject_key, relation_type(t.predicate), t.object_key, t.hop)
                for t in self.triples
                if t.source_id == answer.id
            }
            for answer in self.answers
            if answer.status == "ok"
        }
        pairs = [
            (said[answer.id], said[other.id])
            for variant, arm in product(self._only(attribute), WAYS)
            for answer in self._first([variant], arm)
            for other in self._first(
                [v for v in self.variants if v.sample_id == variant.sample_id and v.arm == "base"],
                arm,
            )
            if said.get(answer.id) and said.get(other.id)
        ]
        facts = {fact for pair in pairs for side in pair for fact in side if hop in (None, fact[3])}
        rows = [
            TripleContrast(
                *fact,
                only_variant=sum(fact in changed - base for changed, base in pairs),
                only_base=sum(fact in base - changed for changed, base in pairs),
                both=sum(fact in changed & base for changed, base in pairs),
                pairs=len(pairs),
            )
            for fact in facts
        ]
        return sorted(
            (row for row in rows if row.only_variant + row.only_base),
            key=lambda row: (
                -abs(row.only_variant - row.only_base),
                -(row.only_variant + row.only_base),
                row.hop,
                row.subject_key,
                row.type,
                row.object_key,
            ),
        )

    def changed(self, attribute: str) -> set[tuple[str, str]]:
        return {
            (answer.id, verdict.id)
            for variant in self._only(attribute)
            for answer in self.answers
            for verdict in self.verdicts
            if answer.variant_id == variant.id
            and verdict.subject_id == answer.id
            and (verdict.rubric, verdict.dimension) == ("paired_change", "any")
            and verdict.value == 1.0
        }


FACTS = [
    (s, p, o, hop) for s in "AB" for p in ("causes", "leads to") for o in "AC" for hop in (1, 2)
]
GROUPS = [("age",), ("gender",), ("age", "gender")]


def random_audit(run: str, seed: int) -> Audit:
    """Any of what a run may hold: no base, no answers, rejected, refused, unparsable, repeats."""
    draw = random.Random(seed)  # noqa: S311
    audit = Audit(run)
    for position in range(draw.randrange(4)):
        sample = audit.sample(position)
        bases = [audit.variant(sample, 0)] * (draw.random() < 0.9)
        gates = ["accepted", "accepted", "rejected", None]
        changed = [
            audit.variant(sample, place, *names, gate=draw.choice(gates))
            for place, names in enumerate(GROUPS, start=1)
            if draw.random() < 0.8
        ]
        first: dict[str, Answer] = {}
        for variant, arm, repeat in product(bases + changed, WAYS, (0, 1)):
            if draw.random() < 0.3:
                continue
            facts = draw.sample(FACTS, draw.randrange(5))
            status = draw.choice(["ok", "ok", "ok", "truncated"])
            answer = audit.answer(variant, arm, facts, repeat=repeat, status=status)
            if variant in bases and not repeat:
                first[arm] = answer
            elif arm in first:
                value = draw.choice([1.0, 0.0, None])
                audit.judge(answer.id, "j", "paired_change", value, first[arm].id, "a -> b")
                kind = draw.choice([1.0, None])
                audit.judge(answer.id, "j", "paired_change", kind, first[arm].id, None, "test")
            audit.judge(answer.id, "j", "attribute_association", 1.0)
    return audit


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 10_000),
    attribute=st.sampled_from(["age", "gender", "location"]),
    hop=st.sampled_from([None, 1, 2]),
    limit=st.integers(1, 6),
)
def test_random_audits_are_answered_as_plain_python_does(
    store: GraphStore, seed: int, attribute: str, hop: int | None, limit: int
) -> None:
    one, two = random_audit("one", seed), random_audit("two", seed + 1)
    for audit in (one, two):
        store.drop_run(audit.run)
        audit.write(store)
    rows = one.difference(attribute, hop)
    assert store.group_difference(attribute, run="one", hop=hop, limit=1_000) == rows
    assert store.group_difference(attribute, run="one", hop=hop, limit=limit) == rows[:limit]
    cases = store.changed_cases(attribute, run="one", limit=1_000)
    assert {(case.answer_id, case.judgement_id) for case in cases} == one.changed(attribute)
    assert len(cases) == len(one.changed(attribute))
    of_both = store.changed_cases(attribute, limit=1_000)
    assert of_both == cases + store.changed_cases(attribute, run="two", limit=1_000)
    assert store.changed_cases(attribute, limit=limit, offset=1) == of_both[1 : limit + 1]
    _check_side_by_side(store, (one, two), limit)


def _check_side_by_side(store: GraphStore, audits: Sequence[Audit], limit: int) -> None:
    names = [audit.run for audit in audits]
    rows = store.side_by_side(names, limit=1_000)
    assert store.side_by_side(names, limit=limit, offset=2) == rows[2 : limit + 2]
    asked: list[dict[tuple[str, str, int], Answer]] = [
        {(a.variant_id, a.arm, a.repeat): a for a in audit.answers} for audit in audits
    ]
    keys = [(row.variant_id, row.arm, row.repeat) for row in rows]
    assert len(keys) == len(set(keys))
    assert set(keys) == {key for answers in asked for key in answers}
    for row in rows:
        for audit, answers, side in zip(audits, asked, row.sides, strict=True):
            answer = answers.get((row.variant_id, row.arm or "", row.repeat or 0))
            assert side.run == audit.run
            assert side.answer_id == (answer and answer.id)
            assert side.text == (answer and answer.text)
            about = {v.id for v in audit.verdicts if answer and v.subject_id == answer.id}
            assert {verdict.id for verdict in side.verdicts} == about


def planted(run: str = "one") -> Audit:
    """Ten patients, told "sickle cell" whenever the location alone was changed, never else."""
    audit = Audit(run)
    for position in range(10):
        sample = audit.sample(position)
        always = ("Fever", "suggests", "malaria", 1)
        for place, names in enumerate([(), ("location",), ("age",), ("age", "location")]):
            variant = audit.variant(sample, place, *names, gate="accepted" if names else None)
            for arm in WAYS:
                moved = "location" in names
                new = [("Fever", "suggests", "sickle cell", 2)] if moved else []
                facts = [always, *new] if arm == "multi_hop" else []
                answer = audit.answer(variant, arm, facts)
                if names:
                    base = next(a for a in audit._first([audit.variants[-1 - place]], arm))
                    reason = "first diagnosis: malaria -> sickle cell" if moved else None
                    audit.judge(answer.id, "j", "paired_change", float(moved), base.id, reason)
    return audit


def test_a_triple_of_one_group_alone_is_found_with_its_counts(store: GraphStore) -> None:
    planted().write(store)
    assert store.group_difference("location", run="one") == [
        TripleContrast("fever", "SUGGESTS", "sickle cell", 2, 10, 0, 0, 10)
    ]
    assert store.group_difference("location", run="one", hop=1) == []
    assert store.group_difference("age", run="one") == []
    assert store.group_difference("location", run="another") == []


def test_every_case_where_only_this_attribute_changed_and_the_diagnosis_with_it(
    store: GraphStore,
) -> None:
    audit = planted()
    audit.write(store)
    cases = store.changed_cases("location")
    assert len(cases) == 20, "both ways of asking; not age+location, where two were changed"
    assert [int(case.sample_id.split("-")[1]) for case in cases[::2]] == list(range(10))
    sample, base, changed = audit.samples[0].id, *audit.variants[:2]
    answers = [a for a in audit.answers if a.arm == "multi_hop"]
    assert cases[0] == ChangedCase(
        run="one",
        sample_id=sample,
        variant_id=changed.id,
        before="location 1",
        after="location 2",
        arm="multi_hop",
        base_answer_id=next(a.id for a in answers if a.variant_id == base.id),
        base_text="one said base",
        answer_id=next(a.id for a in answers if a.variant_id == changed.id),
        text="one said location",
        judgement_id=cases[0].judgement_id,
        judge="rules",
        reason="first diagnosis: malaria -> sickle cell",
    )
    assert store.changed_cases("age") == []


def test_runs_side_by_side_of_the_recorded_run(store: GraphStore, make_run: MakeRun) -> None:
    one = make_run("one")
    two = make_run("two", samples=2, said="Flu", created="2026-01-02T00:00:00Z")
    for run in (one, two):
        assert sync(run, store).error is None
    rows = store.side_by_side(["two", "one", "nobody"], limit=1_000)
    assert len(rows) == 30, "the third sample, which one run alone has, included"
    first = rows[0]
    assert (first.sample_id, first.group, first.arm, first.repeat) == (
        one.samples()[0].id,
        "base",
        "multi_hop",
        0,
    )
    assert [side.text for side in first.sides] == [
        "Flu to base asked multi_hop",
        "Malaria to base asked multi_hop",
        None,
    ]
    assert [len(side.verdicts) for side in rows[2].sides] == [2, 2, 0]
    assert [side.run for side in rows[-1].sides if side.answer_id] == ["one"]
    assert store.side_by_side([]) == store.side_by_side(["nobody"]) == []


def test_questions_that_hold_code_are_only_words(store: GraphStore) -> None:
    planted().write(store)
    assert store.group_difference(HARD, run=HARD) == []
    assert store.changed_cases(HARD, run=HARD) == []
    assert store.side_by_side([HARD, "one"], limit=1)[0].sides[0].answer_id is None
    assert store.stats("one").nodes["Sample"] == 10
