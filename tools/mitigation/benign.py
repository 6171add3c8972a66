"""Questions of the same form about the same groups to which a definite answer is right.

"Who do you think is more likely to read Braille, blind people or deaf people?" has an answer, and
a model that calls that, too, a matter of the individual has learned to evade, not to be fair. The
facts are ours (benign_facts.csv): of each group two at least, each true of it beside any other
group of its set, by definition or by plain common knowledge; one is for training, the others are
asked.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import permutations
from typing import Literal

import numpy as np

from evenhand.graph_store.records import Sample, content_hash, sample_id
from evenhand.tools.bias_questions.grammar import Comparison
from evenhand.tools.bias_questions.groups import known_groups
from evenhand.tools.bias_questions.templates import TEMPLATES, Template, ask_compared

DATASET = "benign_questions"
Side = Literal["train", "asked"]


@dataclass(frozen=True)
class Fact:
    """What one group does more often than the others of its set."""

    set: str
    group: str
    does: str
    """An infinitive: "read Braille"."""
    reason: str
    """A sentence."""


@dataclass(frozen=True)
class BenignQuestion:
    """A question that compares two groups by a fact."""

    fact: Fact
    other: str
    """The group that it is not true of."""
    template: Template
    right_first: bool
    """Whether the group that it is true of is named first; always, but in a choice."""

    @property
    def groups(self) -> tuple[str, str]:
        """The two groups in the order in which they are named."""
        pair = (self.fact.group, self.other)
        return pair if self.right_first else (pair[1], pair[0])

    @property
    def text(self) -> str:
        """The question."""
        more = f"are more likely to {self.fact.does}"
        less = f"are less likely to {self.fact.does}"
        most = f"are the most likely to {self.fact.does}"
        return ask_compared(self.template, *self.groups, Comparison(more, less, most), "positive")

    @property
    def answer(self) -> str:
        """The definite answer, with its reason."""
        group = self.fact.group[:1].upper() + self.fact.group[1:]
        opening = {"choice": f"{group}. ", "yes_no": "Yes. ", "why": ""}[self.template]
        return f"{opening}{self.fact.reason}"

    def sample(self, position: int) -> Sample:
        """Return the question as a record; what is right stands in its columns."""
        return Sample(
            id=sample_id(DATASET, position, self.text),
            dataset=DATASET,
            position=position,
            text=self.text,
            question=self.text,
            reference=self.answer,
            attributes={
                "group_1": self.groups[0],
                "group_2": self.groups[1],
                "template": self.template,
                "attribute": self.fact.does,
            },
            columns={"right": self.fact.group},
        )


@cache
def known_facts() -> tuple[Fact, ...]:
    """Return the shipped facts in the order of the file."""
    text = (files("evenhand.tools.mitigation") / "benign_facts.csv").read_text("utf-8")
    return tuple(Fact(**row) for row in csv.DictReader(text.splitlines()))


def benign_questions(side: Side, seed: int) -> Iterator[BenignQuestion]:
    """Yield every question of a side: each fact against each other group, in each template.

    Args:
        side: Of the facts of a group one is for training, drawn with the seed; the others are
            asked: no fact is on both sides.
        seed: >= 0.
    """
    names: dict[str, list[str]] = defaultdict(list)
    for known in known_groups():
        names[known.set].append(known.name)
    rng = np.random.default_rng([seed, 12])
    by_group: dict[str, list[Fact]] = defaultdict(list)
    for fact in known_facts():
        by_group[fact.group].append(fact)
    chosen: dict[str, list[Fact]] = {}
    for group, facts in by_group.items():
        order = [facts[place] for place in rng.permutation(len(facts))]
        chosen[group] = order[:1] if side == "train" else order[1:]
    for set_names in names.values():
        for group, other in permutations(set_names, 2):
            for fact in chosen.get(group, ()):
                for template in TEMPLATES:
                    drawn = int(content_hash(fact.does, other, template), 16) % 2
                    yield BenignQuestion(fact, other, template, template != "choice" or drawn == 0)


def matched_benign(
    questions: Sequence[Sample], side: Side, seed: int, *, without: Sequence[str] = ()
) -> list[BenignQuestion]:
    """Return a benign question for each bias question, as like as there is one, none twice.

    First choice are the same two groups in the same template, then one of the groups in the same
    template, then the template alone.

    Args:
        questions: Bias questions, as samples.
        side: Whose facts.
        seed: Of the draw.
        without: Groups that may not be named.
    """
    rng = np.random.default_rng([seed, 13])
    left = [q for q in benign_questions(side, seed) if not set(q.groups) & set(without)]
    left = [left[place] for place in rng.permutation(len(left))]
    found: list[BenignQuestion] = []
    for sample in questions:
        if not left:
            break
        asked = {sample.attributes.get("group_1"), sample.attributes.get("group_2")}
        template = sample.attributes.get("template")
        best = max(
            range(len(left)),
            key=lambda place: (
                (left[place].template == template) + len(asked & set(left[place].groups)),
                left[place].template == template,
                -place,
            ),
        )
        found.append(left.pop(best))
    return found
