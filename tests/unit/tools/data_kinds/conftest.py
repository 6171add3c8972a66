"""A run in miniature, in which a test says what every answer, verdict and score is."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evenhand.graph_store.records import ADDED, Answer, Change, Judgement, Sample, Variant, child_id
from evenhand.graph_store.run_directory import Manifest, RunDirectory

PLAN: dict[str, Any] = {
    "asked": ["no_hop"],
    "attributes": ["age", "gender", "location"],
    "intersections": [["age", "gender"]],
    "controls": ["repeat"],
    "repeats": 1,
    "rubrics": ["attribute_association", "paired_change", "pairwise_change", "question_quality"],
}
Verdict = float | str | None
"""A value, the status of a verdict that failed, or None for no verdict."""
BuildRun = Callable[..., RunDirectory]


def nothing(*_: object) -> Verdict:
    return 0.0


def not_graded(*_: object) -> Verdict:
    return None


def malaria(*_: object) -> str:
    return "It is malaria."


@pytest.fixture
def build_run(tmp_path: Path) -> BuildRun:
    """A factory of runs on disk, of n samples and some groups; further keywords are the plan.

    groups: group -> the values drawn for it, a variant each ("b", "c"); an intersection holds the
    first of each attribute. changed(item, group, draw, dimension), score(item, group, draw, arm,
    dimension), grade(item, group, dimension), text(item, group, draw, arm), reference(item).
    """

    def build(
        n: int,
        groups: Mapping[str, Sequence[str]],
        *,
        changed: Callable[..., Verdict] = nothing,
        score: Callable[..., Verdict] = nothing,
        grade: Callable[..., Verdict] = not_graded,
        text: Callable[..., str] = malaria,
        reference: Callable[[int], str | None] = lambda item: None,
        rubric: str = "paired_change",
        dimensions: Sequence[str] = ("any",),
        **plan: Any,
    ) -> RunDirectory:
        plan = PLAN | plan
        manifest = Manifest(run="tiny", created="2030-01-01T00:00:00Z", plan=plan, seed=0)
        run = RunDirectory.create(tmp_path / "tiny", manifest)
        for item in range(n):
            sample = Sample(
                id=f"tiny-{item}-0", dataset="tiny", position=item, text="?",
                reference=reference(item),
            )  # fmt: skip
            run.append("samples", [sample])
            base = _variant(sample, "base", 0)
            shown = [("base", 0, base)]
            for group, values in groups.items():
                shown += [
                    (group, draw, _variant(sample, group, draw, value))
                    for draw, value in enumerate(values)
                ]
            run.append("variants", [variant for _, _, variant in shown])
            for group, draw, variant in shown:
                for dimension in ("factual_consistency", "clinical_relevance", "coherence"):
                    _judge(
                        run,
                        variant.id,
                        "question_quality",
                        dimension,
                        grade(item, group, dimension),
                    )
                for arm in plan["asked"]:
                    if arm == "original" and group != "base":
                        continue
                    repeats = plan["repeats"] if group == "base" and arm != "original" else 0
                    for repeat in range(repeats + 1):
                        name = "repeat" if repeat else group
                        answer = _answer(variant, arm, repeat, text(item, name, draw, arm))
                        run.append("answers", [answer])
                        for dimension in ("age", "gender", "age_gender", "location"):
                            said = score(item, name, draw, arm, dimension)
                            _judge(run, answer.id, "attribute_association", dimension, said)
                        if arm == "original" or name == "base":
                            continue
                        against = _answer(base, arm, 0, "").id
                        for dimension in dimensions:
                            said = changed(item, name, draw, dimension)
                            _judge(run, answer.id, rubric, dimension, said, against)
        return run

    return build


def _variant(sample: Sample, group: str, draw: int, value: str = "b") -> Variant:
    added = group.startswith(ADDED)
    names = [] if group == "base" else group.removeprefix(ADDED).split("+")
    changes = [Change(attribute=name, before=None if added else "a", after=value) for name in names]
    arm = "added" if added else "isolated" if names else "base"
    return Variant.model_validate(
        {
            "id": child_id(sample.id, "v", draw, group),
            "sample_id": sample.id,
            "arm": arm,
            "changes": changes,
            "text": "a text",
            "made_by": "rules",
        }
    )


def _answer(variant: Variant, arm: Any, repeat: int, text: str) -> Answer:
    return Answer(
        id=child_id(variant.id, "a", repeat, arm), status="ok", variant_id=variant.id, arm=arm,
        model="a model", repeat=repeat, prompt_hash="0", text=text,
    )  # fmt: skip


def _judge(
    run: RunDirectory,
    subject: str,
    rubric: str,
    dimension: str,
    said: Verdict,
    against: str | None = None,
) -> None:
    if said is None:
        return
    ok = not isinstance(said, str)
    fields = {"status": "ok" if ok else said, "value": said if ok else None}
    key = {"subject_id": subject, "against_id": against, "rubric": rubric, "dimension": dimension}
    identity = child_id(subject, "j", 0, rubric, dimension)
    run.append(
        "judgements",
        [Judgement.model_validate({"id": identity, "judge": "a judge"} | key | fields)],
    )
