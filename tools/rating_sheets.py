"""Rating sheets: answers of a run as a CSV that people fill in, blind to how they were made.

Nothing in a sheet says in which way a target was asked or what was changed. The key is the run
itself: a row's id is a hash of what it shows, and whoever has the run can compute it again
(tools/rating_import.py does). Three sheets after the human evaluation of paper 1, one after that
of the counterfactual paper (tools/rewrite_sheets.py), one of our own (tools/question_sheets.py):

| sheet | a row | filled in |
|---|---|---|
| pairs | two question-answer pairs of one case (Table 3) | which reveals more bias, and by what |
| ratings | one question-answer pair (Table 5) | 1 to 5 for each dimension |
| correctness | one question-answer pair (section 4.4.2) | 1 to 5, clinical |
| rewrites | a note and its rewritten form | correct, incomplete or failed |
| questions | a question and its form under a relation | kept or changed |
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Literal, Protocol

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Answer, Sample, Variant
from evenhand.graph_store.registry import unknown_name
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.hops import final_section
from evenhand.tools.pairing import DIMENSIONS, ORIGINAL, PLACEBO
from evenhand.tools.spreadsheets import spreadsheet_text

PAIR_CHOICE, PAIR_ATTRIBUTES = "pair_choice", "pair_attributes"
RATING, CORRECTNESS = "association_rating", "clinical_correctness"
"""Rubrics of people's verdicts; the judge is the rater."""
FIRST, SECOND, TIE, NONE = "first", "second", "tie", "none"
LOW, HIGH = 1, 5
APPROPRIATE = 3
"""From here on paper 1 calls an answer clinically appropriate."""

Answers = tuple[Answer, ...]
"""To one question, in the order of the ways of asking."""
Question = tuple[Variant, Answers]
SheetName = Literal["pairs", "ratings", "correctness", "rewrites", "questions"]
FILLED: dict[SheetName, tuple[str, ...]] = {
    "pairs": ("choice", "attributes"),
    "ratings": DIMENSIONS,
    "correctness": ("correctness",),
    "rewrites": ("quality",),
    "questions": ("comparison",),
}
"""Columns that people fill in."""
_SHOWN: dict[SheetName, tuple[str, ...]] = {
    "pairs": ("question_1", "answer_1", "question_2", "answer_2"),
    "ratings": ("question", "answer"),
    "correctness": ("question", "answer"),
    "rewrites": ("changed", "original", "rewritten"),
    "questions": ("original", "changed"),
}
ROWS: dict[SheetName, int] = {
    "pairs": 20,
    "ratings": 40,
    "correctness": 40,
    "rewrites": 100,
    "questions": 100,
}
"""Rows that are drawn unless --n says otherwise; paper 1 had 5, 40 and 40."""
_ANSWER = re.compile(r"^[\s*_#>-]{0,9}(?:final[ ])?answer[*_ ]{0,4}:[*_ ]{0,4}", re.I | re.M)
_TRIPLE_LINE = re.compile(r"^[^\n]{0,300}->[^\n]{0,300}->[^\n]{0,300}$\n?", re.M)


@dataclass(frozen=True)
class Item:
    """A row of a sheet: what it shows, and what it is about."""

    id: str
    sample_id: str
    answers: Answers
    """One, or the two of a pair in the order shown."""
    changed: tuple[str, ...]
    """Attributes that were changed in the question."""
    conclusion: bool
    """Whether only the concluding step of each answer is shown."""
    variant_id: str = ""
    """The rewritten note, of a row that shows one."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """Ids of what a verdict on this row is about, in the order shown."""
        return tuple(answer.id for answer in self.answers) or (self.variant_id,)


class Rows(Protocol):
    """What a filled-in sheet is read against: the rows that it could hold."""

    run_id: str

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that the plan changes."""
        ...

    def every_item(self, sheet: SheetName) -> Iterator[Item]:
        """Yield every row that any sheet of this kind could hold."""
        ...

    def cells(self, sheet: SheetName, item: Item) -> dict[str, str]:
        """Return what a row shows, by column."""
        ...


def sheet_name(name: str) -> SheetName:
    """Return the name of a sheet.

    Raises:
        UserError: There is none of that name.
    """
    for known in FILLED:
        if name == known:
            return known
    raise UserError(unknown_name("sheet", name, list(FILLED)))


class SheetSource:
    """The usable answers of a run, and the texts that a sheet shows of them."""

    def __init__(self, run: RunDirectory) -> None:
        """Read the run's samples, variants, gate and answers."""
        self.run_id = run.run_id
        self.plan: Mapping[str, Any] = run.manifest.plan
        self._samples: dict[str, Sample] = {sample.id: sample for sample in run.samples()}
        rejected = {one.subject_id for one in run.gate() if one.value != "accepted"}
        self._variants: dict[str, Variant] = {
            one.id: one
            for one in run.variants()
            if one.status == "ok" and one.id not in rejected and one.arm != PLACEBO
        }
        self._answers: dict[str, dict[str, Answer]] = defaultdict(dict)
        """By variant and way of asking."""
        self._originals: dict[str, Answer] = {}
        """By sample: its own wording is asked once, and hangs on its base variant."""
        for answer in run.answers():
            variant = self._variants.get(answer.variant_id)
            if variant is None or answer.status != "ok" or answer.repeat:
                continue
            self._answers[variant.id][answer.arm] = answer
            if answer.arm == ORIGINAL:
                self._originals[variant.sample_id] = answer

    @property
    def arms(self) -> tuple[str, ...]:
        """Ways of asking in which anything was answered, in the order of the plan."""
        there = {arm for answers in self._answers.values() for arm in answers}
        return tuple(arm for arm in self.plan.get("asked", ()) if arm in there)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that the plan changes, alone or together."""
        groups = (self.plan.get("attributes", ()), *self.plan.get("intersections", ()))
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def answered(self, arms: Sequence[str]) -> dict[str, list[Question]]:
        """Return the variants that have a usable answer in each of the arms, by sample."""
        found: dict[str, list[Question]] = defaultdict(list)
        for variant in self._variants.values():
            answers = self._in_arms(variant, arms)
            if answers is not None:
                found[variant.sample_id].append((variant, answers))
        return found

    def _in_arms(self, variant: Variant, arms: Sequence[str]) -> Answers | None:
        given = dict(self._answers.get(variant.id, {}))
        if variant.sample_id in self._originals:
            given[ORIGINAL] = self._originals[variant.sample_id]
        return tuple(given[arm] for arm in arms) if all(arm in given for arm in arms) else None

    def item(self, sheet: SheetName, answers: Sequence[Answer], *, conclusion: bool) -> Item:
        """Return the row that shows these answers in this order."""
        variants = [self._variants[answer.variant_id] for answer in answers]
        shown = "conclusion" if conclusion else "whole"
        key = "\x1f".join((self.run_id, sheet, shown, *(answer.id for answer in answers)))
        changed = [name for variant in variants for name in variant.attributes]
        return Item(
            id=f"{sheet[0]}{hashlib.sha256(key.encode()).hexdigest()[:12]}",
            sample_id=variants[0].sample_id,
            answers=tuple(answers),
            changed=tuple(dict.fromkeys(changed)),
            conclusion=conclusion,
        )

    def every_item(self, sheet: SheetName) -> Iterator[Item]:
        """Yield every row that any sheet of this kind could hold: the key of all of them."""
        for conclusion in (False, True):
            if sheet != "pairs":
                for answers in self._answers.values():
                    for answer in answers.values():
                        yield self.item(sheet, [answer], conclusion=conclusion)
                continue
            for arms in combinations(self.arms, 2):
                for pairs in self.answered(arms).values():
                    for _, pair in pairs:
                        for order in permutations(pair):
                            yield self.item(sheet, order, conclusion=conclusion)

    def cells(self, sheet: SheetName, item: Item) -> dict[str, str]:
        """Return what a row shows, by column."""
        sample = self._samples[item.sample_id]
        texts = [text for answer in item.answers for text in self._texts(answer, item)]
        shown = dict(zip(_SHOWN[sheet], texts, strict=True))
        return {"id": item.id, **shown, "reference": sample.reference or ""}

    def _texts(self, answer: Answer, item: Item) -> tuple[str, str]:
        question = self._variants[answer.variant_id].text
        if answer.arm == ORIGINAL:
            question = self._samples[item.sample_id].text
        return question, conclusion_of(answer.text) if item.conclusion else answer.text


def conclusion_of(text: str) -> str:
    """Return what an answer concludes, without the steps and triples that tell how it was asked.

    Example:
        >>> conclusion_of("Answer: It is malaria.")
        'It is malaria.'
    """
    section = final_section(text)
    marks = list(_ANSWER.finditer(section))
    said = section[marks[-1].end() :] if marks else _TRIPLE_LINE.sub("", section)
    return said.strip() or section.strip()


def columns_of(sheet: SheetName, items: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return a sheet's columns; the reference stands there only where some row has one."""
    reference = ("reference",) if any(item.get("reference") for item in items) else ()
    return ("id", *_SHOWN[sheet], *reference, *FILLED[sheet], "comment")


def draw_items(
    source: SheetSource,
    sheet: SheetName,
    *,
    n: int | None,
    seed: int,
    arms: Sequence[str] = (),
    conclusion: bool = False,
) -> list[Item]:
    """Draw the rows of a sheet.

    One question of each sample comes first, then a second of each, so that the rows are of as many
    patients as can be. Each drawn question is shown with its answer in every arm: the two of a
    pair beside each other in random order, the others as rows of their own in random order.

    Args:
        source: The run.
        sheet: Kind of sheet.
        n: Rows at most; None: as in ROWS.
        seed: Seed of the draw and of every order.
        arms: Ways of asking; () is the last two of the plan, without the source's own wording
            where there are others.
        conclusion: Show only the concluding step of each answer.

    Raises:
        UserError: An unknown arm, another number of arms than a pair needs, no usable answer.
    """
    chosen = _arms(source, sheet, arms)
    rng = np.random.default_rng(seed)
    questions = _spread(source, chosen, sheet, rng)
    rows = ROWS[sheet] if n is None else n
    shown: list[Sequence[Answer]] = []
    for answers in questions:
        if sheet == "pairs":
            shown.append([answers[place] for place in rng.permutation(2)])
        else:
            shown += [[answer] for answer in answers]
    items = [source.item(sheet, answers, conclusion=conclusion) for answers in shown]
    # The source's own wording is one answer a sample: shown alone, it stands there once.
    kept = list({item.id: item for item in items}.values())[:rows]
    return [kept[place] for place in rng.permutation(len(kept))]


def _arms(source: SheetSource, sheet: SheetName, wanted: Sequence[str]) -> tuple[str, ...]:
    for name in wanted:
        if name not in source.arms:
            raise UserError(unknown_name("way of asking", name, list(source.arms)))
    asked = tuple(arm for arm in source.arms if arm != ORIGINAL) or source.arms
    chosen = tuple(dict.fromkeys(wanted)) or asked[-2:]
    if sheet == "pairs" and len(chosen) != 2:
        raise UserError(
            f"A pair sets two ways of asking side by side, got {', '.join(chosen) or 'none'}; this "
            f"run has {', '.join(source.arms) or 'none'}. Name two of them with --arms."
        )
    if not chosen:
        raise UserError(
            f"Run {source.run_id} has no usable answer yet; expected a run that was asked. "
            "Resume it first."
        )
    return chosen


def _spread(
    source: SheetSource, arms: Sequence[str], sheet: SheetName, rng: np.random.Generator
) -> list[Answers]:
    """Return the answers of each question in random order, one question of each sample first."""
    turns: list[tuple[int, float, Answers]] = []
    for questions in source.answered(arms).values():
        # A pair is about what was changed: `base`, where nothing was, is drawn only alone.
        changed = [one for one in questions if one[0].arm != "base"]
        some = (changed or questions) if sheet == "pairs" else questions
        turns += [(turn, rng.random(), one) for turn, one in enumerate(_mixed(some, rng))]
    if not turns:
        raise UserError(
            f"Run {source.run_id} has no question with a usable answer in each of "
            f"{', '.join(arms)}; expected at least one. Name other ways of asking with --arms."
        )
    return [answers for _, _, answers in sorted(turns, key=lambda turn: turn[:2])]


def _mixed(questions: Sequence[Question], rng: np.random.Generator) -> list[Answers]:
    """Return a sample's questions in random order, one of each group of changes first.

    Several locations are drawn a sample and one age: without it most rows were about location.
    """
    drawn = [questions[place] for place in rng.permutation(len(questions))]
    taken = Counter[str]()
    ranked: list[tuple[int, Answers]] = []
    for variant, answers in drawn:
        ranked.append((taken[variant.group], answers))
        taken[variant.group] += 1
    return [answers for _, answers in sorted(ranked, key=lambda one: one[0])]


def sheet_text(source: Rows, sheet: SheetName, items: Sequence[Item]) -> str:
    """Return the sheet as CSV, its columns to be filled in empty."""
    cells = [source.cells(sheet, item) for item in items]
    return spreadsheet_text(columns_of(sheet, cells), cells)
