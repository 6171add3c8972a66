"""How right are judges of bias? The rule engine, and models, against answers labelled by hand.

    python bench/bias_judges.py FOLDER [--model NAME ...] [--cache FILE]

FOLDER holds the recorded answers (data set metamorphic_replay); the labels are those of
tests/heldout/bias_verdicts.csv: 120 answers drawn by seed, read by hand from question and answer
alone. A model is asked the prompt of rubric `bias_verdict`, which has six examples, at temperature
0. An answer counts as right where the judge says the same of four: biased, unbiased, refused,
unscorable; what of the judge cannot be read counts as wrong, and is counted.
"""

import argparse
import asyncio
import csv
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from evenhand.agents.judge import read_reply, rubric_messages
from evenhand.agents.rubrics import RULES, Case, Rubric, rubrics
from evenhand.agents.rubrics.bias_verdict import FAVOURED, UNSCORABLE, VERDICT
from evenhand.graph_store.records import content_hash
from evenhand.tools.bias_verdict import BIASED
from evenhand.tools.cache import AnswerCache
from evenhand.tools.calls import Budget, Caller, Request, call_seed
from evenhand.tools.providers import ModelSettings, open_model
from evenhand.tools.recorded_answers import RecordedAnswer, read_recorded_answers
from evenhand.tools.statistics.intervals import proportion
from evenhand.tools.statistics.paired_tests import mcnemar
from evenhand.tools.verdicts import Verdict

LABELS = Path(__file__).parents[1] / "tests" / "heldout" / "bias_verdicts.csv"
MAX_TOKENS = 160
UNREAD = "unreadable"


@dataclass(frozen=True)
class Labelled:
    """An answer with what it was labelled by hand."""

    case: Case
    label: str
    favoured: str


@dataclass(frozen=True)
class Said:
    """What a judge said of an answer, in the words of the labels."""

    label: str
    favoured: str


def main() -> None:
    """Judge the labelled answers and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the recorded answers")
    parser.add_argument(
        "--model", action="append", default=[], help="a model's name; several times"
    )
    parser.add_argument("--cache", type=Path, help="keep a model's answers in this file")
    options = parser.parse_args()
    rubric = rubrics.get("bias_verdict")
    labelled = read_labelled(options.folder)
    if rubric.rules is None:
        raise SystemExit("The rubric has no rules.")
    judges = {RULES: [said(rubric.rules(one.case), UNSCORABLE) for one in labelled]}
    seconds = {}
    for model in options.model:
        started = time.perf_counter()
        judges[model] = asyncio.run(ask(model, rubric, labelled, options.cache))
        seconds[model] = time.perf_counter() - started
    report(labelled, judges, seconds)


def read_labelled(folder: Path) -> list[Labelled]:
    """Return the labelled answers with their texts, which must be those that were labelled."""
    known: dict[str, list[RecordedAnswer]] = {}
    found = []
    for row in csv.DictReader(LABELS.read_text("utf-8").splitlines()):
        if row["file"] not in known:
            known[row["file"]] = read_recorded_answers(folder / row["file"])
        answer = known[row["file"]][int(row["row"]) - 1]
        if content_hash(answer.question, answer.answer) != row["hash"]:
            raise SystemExit(f"{row['file']} row {row['row']} is not the answer that was labelled.")
        found.append(Labelled(_case(row["hash"], answer), row["label"], row["favoured"]))
    return found


def _case(identity: str, answer: RecordedAnswer) -> Case:
    names = {f"group_{place}": name for place, name in enumerate(answer.groups, start=1)}
    form = "negative" if answer.asked.unfavourable else "positive"
    return Case(
        identity,
        None,
        {"question": answer.question, "answer": answer.answer},
        parts={**names, "template": answer.form, "form": form},
    )


async def ask(
    name: str, rubric: Rubric, labelled: Sequence[Labelled], cache: Path | None
) -> list[Said]:
    """Return what a model says of each answer."""
    model = await open_model(name, ModelSettings(temperature=0, max_tokens=MAX_TOKENS))
    kept = AnswerCache(cache) if cache else None
    caller = Caller(
        role="judge", model=model, cache=kept, record=lambda call: None, budget=Budget()
    )
    requests = [
        Request(
            id=one.case.subject_id,
            messages=rubric_messages(rubric, one.case.texts),
            temperature=0,
            max_tokens=MAX_TOKENS,
            seed=call_seed(0, one.case.subject_id, 0),
            schema=dict(rubric.schema),
        )
        for one in labelled
    ]
    verdicts: dict[str, Said] = {}
    try:
        async with aclosing(caller.ask_all(requests)) as replies:
            async for request, reply in replies:
                verdicts[request.id] = said(read_reply(rubric, reply))
    finally:
        await model.close()
        if kept is not None:
            kept.close()
    return [verdicts[one.case.subject_id] for one in labelled]


def said(verdicts: Mapping[str, Verdict], otherwise: str = UNREAD) -> Said:
    """Return verdicts in the words of the labels; `otherwise` where there is none."""
    verdict, favoured = verdicts[VERDICT], verdicts[FAVOURED]
    none = UNSCORABLE if verdict.reason_code == UNSCORABLE else otherwise
    label = verdict.value or ("refused" if verdict.status == "refused" else none)
    return Said(str(label), str(favoured.value))


def report(
    labelled: Sequence[Labelled], judges: Mapping[str, Sequence[Said]], seconds: Mapping[str, float]
) -> None:
    """Print accuracies with intervals, the tests against the rules, and what was mistaken."""
    names = Counter(one.label for one in labelled)
    most, times = names.most_common(1)[0]
    print(f"{len(labelled)} answers: {', '.join(f'{n} {name}' for name, n in names.items())}.")
    print(f"To say {most!r} of all would be right of {_share(times, len(labelled))}.\n")
    print("| judge | right | unreadable | favoured group right, of those biased by both | s |")
    print("|---|---|---|---|---|")
    for name, verdicts in judges.items():
        right = right_of(labelled, verdicts)
        pairs = zip(labelled, verdicts, strict=True)
        both = [(one, by) for one, by in pairs if one.label == by.label == BIASED]
        named = sum(one.favoured == by.favoured for one, by in both)
        unread = sum(by.label == UNREAD for by in verdicts)
        took = f"{seconds[name]:.0f}" if name in seconds else ""
        print(
            f"| {name} | {_share(sum(right), len(right))} | {unread} | "
            f"{_share(named, len(both))} | {took} |"
        )
    for name in seconds:
        _print_against_rules(labelled, judges, name)


def right_of(labelled: Sequence[Labelled], verdicts: Sequence[Said]) -> list[bool]:
    """Return whether each answer was judged as it was labelled."""
    return [one.label == by.label for one, by in zip(labelled, verdicts, strict=True)]


def _print_against_rules(
    labelled: Sequence[Labelled], judges: Mapping[str, Sequence[Said]], name: str
) -> None:
    pairs = list(
        zip(right_of(labelled, judges[RULES]), right_of(labelled, judges[name]), strict=True)
    )
    rules_only, model_only = pairs.count((True, False)), pairs.count((False, True))
    p = mcnemar(rules_only, model_only).p_mid
    print(
        f"\n{name}: right where the rules are not {model_only}, wrong where they are right "
        f"{rules_only}; McNemar mid-p {p:.2g}. Labelled as -> said to be:"
    )
    mistaken = Counter(
        (one.label, by.label)
        for one, by in zip(labelled, judges[name], strict=True)
        if one.label != by.label
    )
    for (label, told), count in mistaken.most_common():
        print(f"- {label} -> {told}: {count}")


def _share(x: int, n: int) -> str:
    share = proportion(x, n)
    if share.low is None or share.high is None:
        return "none"
    return f"{x} of {n}, {100 * x / n:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"


if __name__ == "__main__":
    main()
