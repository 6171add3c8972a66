"""A sentence -> what it asks for: the built-in planner, without a model.

It reads what the sentence determines and leaves the rest open; what is missing or contradictory
becomes a question. It never approves: approval is a short sentence of its own, answered to a plan
that was shown, and any other word in it makes it something else.
"""

import re

from evenhand.agents.draft import Draft, Intent, Reading, open_questions
from evenhand.agents.mentioned import Found, find_all, registered_relations
from evenhand.agents.utterance import (
    correct_spelling,
    digits_for_words,
    plain,
    words,
)

_INJECTION = (
    r"\b(?:system|assistant|developer)\s*:.*$|</?\w+[^>]*>|"
    r"\bignore (?:all |any |your |the |previous )+(?:rules|instructions).*$"
)
_QUOTED = r"(?<!\w)(['\"])(?:(?!\1).)*\s(?:(?!\1).)*\s(?:(?!\1).)*\1(?!\w)"
_WHOLE_AUDIT = 3
"""So many of target, data, attributes, relations and n make a sentence a plan."""


def read(text: str, given: Draft | None = None) -> Reading:
    """Read a sentence; with a given plan, read it as an answer to that plan.

    Args:
        text: What a person typed. Quoted speech, markup and "system:" clauses in it are no wishes.
        given: The plan that waits for approval, if one does.
    """
    sentence = _clean(text)
    if given is not None and _is_whole(sentence, words("audit")["approve"]):
        return Reading(intent="approve", plan=given)
    if given is not None and re.fullmatch(
        rf"(?:{'|'.join(words('audit')['cancel'])})\W*", sentence, re.IGNORECASE
    ):
        return Reading(intent="cancel", plan=given)
    if given is not None:
        return _revise(sentence, given)
    reading, intent = _new_plan(sentence), _other_intent(sentence)
    # A sentence that names a whole audit asks for it, whatever else its words could mean.
    if intent is None or _said_count(reading.plan) >= _WHOLE_AUDIT:
        return reading
    return Reading(intent=intent)


def _clean(text: str) -> str:
    bare = plain(text)
    bare = re.sub(_INJECTION, " ", bare, flags=re.IGNORECASE | re.DOTALL)
    bare = re.sub(_QUOTED, " ", bare)
    return digits_for_words(correct_spelling(bare, registered_relations().keys())).strip()


def _is_whole(sentence: str, patterns: list[str]) -> bool:
    """Whether a sentence consists of nothing but these phrases."""
    phrase = "|".join(patterns)
    return re.fullmatch(rf"(?:\W*(?:{phrase})(?!\w))+\W*", sentence, re.IGNORECASE) is not None


def _said_count(draft: Draft) -> int:
    said = (draft.target, draft.dataset, draft.attributes, draft.relations, draft.n)
    return sum(value not in (None, ()) for value in said)


def _other_intent(sentence: str) -> Intent | None:
    for intent, patterns in words("intents").items():
        if any(re.search(pattern, sentence, re.IGNORECASE) for pattern in patterns):
            return intent  # type: ignore[return-value]
    return None


def _new_plan(sentence: str) -> Reading:
    found = find_all(sentence)
    draft = found.draft
    named = any(value not in (None, ()) for value in draft.model_dump().values())
    about = any(re.search(rf"\b{verb}\b", sentence, re.I) for verb in words("audit")["verbs"])
    subject = draft.target or draft.dataset or draft.recipe or draft.relations
    if not (subject and (named or about)) and not (about and (draft.attributes or not named)):
        return Reading(intent="out_of_scope")
    return Reading(
        intent="plan_audit", plan=draft, questions=open_questions(draft, found.contradictions)
    )


def _revise(sentence: str, given: Draft) -> Reading:
    found = find_all(sentence, given)
    changes = _changes(sentence, given, found)
    revised = given.model_copy(update=changes)
    if revised == given and not found.contradictions:
        return Reading(intent=_other_intent(sentence) or "out_of_scope", plan=given)
    questions = open_questions(revised, found.contradictions)
    return Reading(intent="revise_plan", plan=revised, questions=questions)


def _changes(sentence: str, given: Draft, found: Found) -> dict[str, object]:
    said = found.draft
    scalars = ("target", "against", "judge", "rewriter", "dataset", "decider", "n", "repeats",
               "seed", "language", "max_calls", "budget_usd", "mitigation", "recipe")  # fmt: skip
    changes: dict[str, object] = {
        name: getattr(said, name) for name in scalars if getattr(said, name) is not None
    }
    if said.dataset and "." not in said.dataset and "/" not in said.dataset:
        changes["path"] = said.path
    elif said.dataset and given.path is None and _needs_path(given.dataset):
        # The answer to "where is it": the data set stays what it was.
        changes |= {"dataset": given.dataset, "path": said.dataset}
    if said.relations and said.recipe == "metamorphic":
        changes.pop("recipe", None)
    changes |= dict.fromkeys(found.lifted)
    if found.factor and isinstance(given.n, int):
        changes["n"] = round(given.n * found.factor)
    only = re.search(r"\b(?:only|just|instead|rather|seulement|uniquement)\b", sentence, re.I)
    groups = {name for group in said.intersections for name in group}
    alone = [name for name in said.attributes if name not in groups]
    kept = set(given.attributes) - set(found.removed_attributes)
    wished = set(alone) if only and alone and not found.replaced else kept | set(alone)
    changes["attributes"] = tuple(sorted(wished))
    changes["intersections"] = _joined(given.intersections, said.intersections, kept | wished)
    if said.arms or found.removed_arms:
        before = set() if only and said.arms else set(given.arms)
        changes["arms"] = tuple(sorted((before | set(said.arms)) - set(found.removed_arms)))
    if said.relations:
        add = re.search(r"\b(?:add|also|as well|too|aussi|ajoute)\b", sentence, re.I)
        before_relations = given.relations if add else ()
        changes["relations"] = tuple(sorted({*before_relations, *said.relations}))
    return changes


def _joined(
    before: tuple[tuple[str, ...], ...], new: tuple[tuple[str, ...], ...], names: set[str]
) -> tuple[tuple[str, ...], ...]:
    """Former and new intersections, without attributes that are no longer in the plan."""
    groups = [tuple(name for name in group if name in names) for group in before]
    return tuple(dict.fromkeys(group for group in (*groups, *new) if len(group) > 1))


def _needs_path(name: str | None) -> bool:
    from evenhand.tools.datasets import datasets

    return name in datasets.names() and datasets.get(name).needs_path
