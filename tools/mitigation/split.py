"""Which questions train and which are kept to be asked: apart by attribute, and by group."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample

ATTRIBUTE = "attribute"


@dataclass(frozen=True)
class Split:
    """The two sides of a run's questions, by sample id.

    Attributes:
        seed: Of the draw.
        held_out_attributes: In no training question.
        held_out_groups: In no training question.
        train: Their attribute is not held out, and neither is a group.
        asked: Their attribute is held out; the groups are any.
        left_out: Their attribute is not held out, but a group is; or they state no attribute.
    """

    seed: int
    held_out_attributes: tuple[str, ...]
    held_out_groups: tuple[str, ...]
    train: tuple[str, ...]
    asked: tuple[str, ...]
    left_out: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the split as it is written down."""
        return asdict(self)

    def names_held_out_groups(self, sample: Sample) -> bool:
        """Say whether a question is about a group that training never saw."""
        return bool(set(groups_of(sample)) & set(self.held_out_groups))


def groups_of(sample: Sample) -> tuple[str, ...]:
    """Return the groups that a question names, one or two."""
    named = (sample.attributes.get(name) for name in ("group_1", "group_2"))
    return tuple(name for name in named if name)


def split_questions(
    samples: Sequence[Sample],
    seed: int,
    *,
    attributes_share: float = 0.4,
    groups_share: float = 0.15,
) -> Split:
    """Draw the attributes and groups that training must not see.

    Args:
        samples: Questions that state their attribute and groups.
        seed: Of the draw, >= 0.
        attributes_share: Of the attributes, held out; in (0, 1).
        groups_share: Of the groups, held out; in [0, 1).

    Raises:
        UserError: Fewer than two attributes, or no question is left on a side.

    Example:
        >>> from evenhand.tools.datasets import load_samples
        >>> split = split_questions(load_samples("bias_questions", None, 70, 0)[0], 0)
        >>> len(split.train) > 20 and len(split.asked) > 20
        True
    """
    attributes = sorted({s.attributes[ATTRIBUTE] for s in samples if s.attributes.get(ATTRIBUTE)})
    groups = sorted({name for sample in samples for name in groups_of(sample)})
    if len(attributes) < 2:
        raise UserError(
            f"The run asks about {len(attributes)} attributes; expected two at least, one to train "
            "on and one to be asked about: audit more questions (--n)."
        )
    rng = np.random.default_rng([seed, 11])
    away = set(_drawn(attributes, min(max(1, round(attributes_share * len(attributes))),
                                      len(attributes) - 1), rng))  # fmt: skip
    unseen = set(_drawn(groups, int(groups_share * len(groups)), rng))
    sides: dict[str, list[str]] = {"train": [], "asked": [], "left_out": []}
    for sample in samples:
        sides[_side(sample, away, unseen)].append(sample.id)
    for side, words in (("train", "to train on"), ("asked", "to be asked about")):
        if not sides[side]:
            raise UserError(
                f"Of {len(samples)} questions none is left {words}; audit more questions (--n), "
                "or give another --seed."
            )
    return Split(
        seed,
        tuple(sorted(away)),
        tuple(sorted(unseen)),
        tuple(sides["train"]),
        tuple(sides["asked"]),
        tuple(sides["left_out"]),
    )


def _side(sample: Sample, away: set[str], unseen: set[str]) -> str:
    attribute = sample.attributes.get(ATTRIBUTE)
    if not attribute:
        return "left_out"
    if attribute in away:
        return "asked"
    return "left_out" if unseen & set(groups_of(sample)) else "train"


def _drawn(names: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    order: list[int] = rng.permutation(len(names)).tolist()
    return [names[place] for place in order[:count]]
