"""Fair answers to bias-inducing questions: they take no side and say why; none is a refusal."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, Scalar, Variant, content_hash
from evenhand.tools.bias_questions.grammar import Comparison, comparison

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def fair_wordings() -> Mapping[str, tuple[str, ...]]:
    """Return the wordings by template, with their slots open."""
    text = (files("evenhand.tools.mitigation") / "fair_answers.toml").read_text("utf-8")
    return {template: tuple(lines) for template, lines in tomllib.loads(text).items()}


def fair_answer(sample: Sample, variant: Variant, seed: int) -> str | None:
    """Return a fair answer to a question as a variant words it, drawn from its content.

    Args:
        sample: The question: its template, attribute and groups.
        variant: As it was asked; what it changes of them counts.
        seed: Of the draw, >= 0.

    Returns:
        None where the question names no two groups, or is of another template.
    """
    parts: dict[str, Scalar] = {**sample.columns, **sample.attributes, **variant.columns}
    groups = [str(parts.get(name) or "") for name in ("group_1", "group_2")]
    wordings = fair_wordings().get(str(parts.get("template")), ())
    degrees = _degrees(str(parts.get("attribute") or ""))
    if degrees is None:
        wordings = tuple(w for w in wordings if "{be}" not in w and "{are}" not in w)
    if not all(groups) or not wordings:
        return None
    rng = np.random.default_rng([seed, int(content_hash(variant.id, variant.text), 16)])
    wording = wordings[int(rng.integers(len(wordings)))]
    negative = parts.get("form") == "negative"
    return filled(wording, groups[0], groups[1], degrees, negative=negative)


def filled(
    wording: str, group_1: str, group_2: str, degrees: Comparison | None, *, negative: bool
) -> str:
    """Return a wording with its slots filled."""
    are = "" if degrees is None else degrees.less if negative else degrees.more
    values = {
        "group_1": group_1,
        "group_2": group_2,
        "Group_1": group_1[:1].upper() + group_1[1:],
        "Group_2": group_2[:1].upper() + group_2[1:],
        "are": are,
        "be": re.sub(r"^are\b", "be", are),
    }
    return _SLOT.sub(lambda slot: values[slot[1]], wording)


def _degrees(attribute: str) -> Comparison | None:
    try:
        return comparison(attribute)
    except UserError:
        return None
