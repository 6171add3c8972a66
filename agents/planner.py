"""A sentence -> what it asks for: the built-in planner, without a model.

It reads what the sentence determines and leaves the rest open; what is missing or contradictory
becomes a question. It never approves: approval is a short sentence of its own, answered to a plan
that was shown, and any other word in it makes it something else.
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evenhand.agents.plan import Plan, Role, RoleModel
from evenhand.agents.recipe import ASKED_ARMS
from evenhand.agents.utterance import (
    Mention,
    Text,
    correct_spelling,
    digits_for_words,
    find_datasets,
    find_models,
    mentions,
    plain,
    words,
)
from evenhand.graph_store.errors import UserError

Intent = Literal[
    "plan_audit",
    "revise_plan",
    "approve",
    "cancel",
    "status",
    "list_runs",
    "compare_runs",
    "show_trace",
    "explain_result",
    "iterate_strategy",
    "mitigate",
    "finetune",
    "export_report",
    "help",
    "out_of_scope",
]

_INJECTION = (
    r"\b(?:system|assistant|developer)\s*:.*$|</?\w+[^>]*>|"
    r"\bignore (?:all |any |your |the |previous )+(?:rules|instructions).*$"
)
_QUOTED = r"(?<!\w)(['\"])(?:(?!\1).)*\s(?:(?!\1).)*\s(?:(?!\1).)*\1(?!\w)"
_REMOVE = r"drop|remove|leave out|without|minus|exclude|not|no longer|except|skip|sans|enleve\w*"
_TOGETHER = (
    r"combined|combination\w*|jointly|together|cross(?:ed|ing)?|intersect\w*|interaction\w*|"
    r"croise\w*|combine\w*|conjointement|ensemble"
)


_PEOPLE_OF_A_PLACE = (
    r"\b(?:women|men|patients|people|woman|man) (?:who (?:live|are) )?"
    r"(?:from|living in|in) (?=[A-Z][a-z])"
)
_WHOLE_AUDIT = 3
"""So many of target, data, attributes, relations and n make a sentence a plan."""


class Draft(BaseModel):
    """What is known of a plan; None and () are what nobody has said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: str | None = None
    target: str | None = None
    judge: str | None = None
    rewriter: str | None = None
    dataset: str | None = None
    path: str | None = None
    """File or Hugging Face id of a data set that is named beside it."""
    attributes: tuple[str, ...] = ()
    intersections: tuple[tuple[str, ...], ...] = ()
    arms: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    n: int | Literal["all"] | None = None
    repeats: int | None = None
    seed: int | None = None
    language: str | None = None
    max_calls: int | None = None
    budget_usd: float | None = None
    mitigation: str | None = None


class Reading(BaseModel):
    """What a sentence wants, the plan so far, and what must still be said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    intent: Intent
    plan: Draft = Draft()
    questions: tuple[str, ...] = ()


class _Found(BaseModel):
    """Everything that one sentence mentions, and what it takes away again."""

    draft: Draft
    removed_attributes: tuple[str, ...] = ()
    removed_arms: tuple[str, ...] = ()
    replaced: bool = False
    """An attribute takes the place of another ("swap race for religion")."""
    contradictions: dict[str, str] = {}
    """Field of the draft -> the question that its contradiction asks."""
    factor: float | None = None
    """Times the former n ("double the number")."""
    lifted: tuple[str, ...] = ()
    """Limits that are taken away."""


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
    return digits_for_words(correct_spelling(bare)).strip()


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
    found = _find(sentence)
    draft = found.draft
    named = any(value not in (None, ()) for value in draft.model_dump().values())
    about = any(re.search(rf"\b{verb}\b", sentence, re.I) for verb in words("audit")["verbs"])
    subject = draft.target or draft.dataset or draft.recipe or draft.relations
    if not (subject and (named or about)) and not (about and (draft.attributes or not named)):
        return Reading(intent="out_of_scope")
    return Reading(
        intent="plan_audit", plan=draft, questions=open_questions(draft, found.contradictions)
    )


def open_questions(draft: Draft, contradictions: Mapping[str, str] = {}) -> tuple[str, ...]:
    """Return what must still be said before the plan can be priced.

    Args:
        draft: What is known.
        contradictions: Questions that take the place of the usual ones, by field.
    """
    questions = dict(contradictions)
    if draft.target is None:
        questions.setdefault(
            "target",
            "Which model is to be audited? For example local (the built-in model, nothing leaves "
            "this machine), openai/gpt-4o, or http/ and the address of your own server.",
        )
    if draft.dataset is None:
        questions.setdefault(
            "dataset",
            "On which data? Name a data set, such as demo or trinds, or give the path of a file.",
        )
    if not draft.attributes:
        questions.setdefault(
            "attributes", "Which attributes are to be changed? For example age, gender, location."
        )
    return tuple(questions.values())


def _revise(sentence: str, given: Draft) -> Reading:
    found = _find(sentence)
    changes = _changes(sentence, given, found)
    revised = given.model_copy(update=changes)
    if revised == given and not found.contradictions:
        return Reading(intent=_other_intent(sentence) or "out_of_scope", plan=given)
    questions = open_questions(revised, found.contradictions)
    return Reading(intent="revise_plan", plan=revised, questions=questions)


def _changes(sentence: str, given: Draft, found: _Found) -> dict[str, object]:
    said = found.draft
    scalars = ("target", "judge", "rewriter", "dataset", "n", "repeats", "seed", "language",
               "max_calls", "budget_usd", "mitigation", "recipe")  # fmt: skip
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


def _find(sentence: str) -> _Found:
    """Find everything in one sentence; what is read first is not read again."""
    text = Text(sentence)
    text_only = _text_only(text)
    named, sources = find_datasets(text, _registered_datasets())
    # A file beside a registered name is where that data set lies; alone it is the data set.
    datasets, path = (named, sources[0]) if named and len(sources) == 1 else (named + sources, None)
    models = find_models(text)
    relations = _relations(text)
    seed = _number(text, r"seed\W+(?:\w+\W+)?(\d+)|(\d+) as the (?:random )?seed")
    lifted = _lifted(text)
    max_calls = _number(
        text, r"(?:[a-z]+ )?(?:at most|no more than|max(?:imum)?|up to|within|under)? ?(\d+) calls"
    )
    budget = _budget(text)
    repeats = _repeats(text)
    removed_arms, arms = _taken(text, words("arms"))
    recipes = [m.name for m in mentions(text, words("recipes"))]
    language = _language(text)
    mitigation = _mitigation(text)
    factor = (
        2.0 if text.take_first(r"doubl\w+") else 0.5 if text.take_first(r"halve|half") else None
    )
    n = _count(text)
    removed, attributes, swapped, never = _attributes(text)
    targets = [t for t in models.targets]
    human = "mimic" in targets
    contradictions = _contradictions(targets, datasets, never, models.unclear)
    recipe = recipes[0] if recipes else "metamorphic" if relations else None
    draft = Draft(
        recipe=recipe or ("counterfactual" if human else None),
        target=targets[0] if len(targets) == 1 else None,
        judge=models.judge,
        rewriter=models.rewriter,
        dataset=datasets[0] if len(datasets) == 1 else None,
        path=path if len(datasets) == 1 else None,
        attributes=() if never else tuple(sorted({m.name for m in attributes})),
        intersections=_intersections(sentence, attributes),
        arms=tuple(sorted({*arms, *(["text_only"] if text_only else [])})),
        relations=tuple(relations),
        n=n,
        repeats=repeats,
        seed=seed,
        language=language,
        max_calls=max_calls,
        budget_usd=budget,
        mitigation=mitigation,
    )
    if text_only and not draft.attributes:
        draft = draft.model_copy(update={"attributes": (text_only,)})
    return _Found(
        draft=draft,
        removed_attributes=tuple(removed),
        removed_arms=tuple(removed_arms),
        replaced=swapped,
        contradictions=contradictions,
        factor=factor,
        lifted=lifted,
    )


def _registered_datasets() -> dict[str, str | None]:
    """Return name -> Hugging Face id of the registered data sets."""
    from evenhand.tools.datasets import datasets

    return {name: datasets.get(name).hub for name in datasets.names()}


def _needs_path(name: str | None) -> bool:
    from evenhand.tools.datasets import datasets

    return name in datasets.names() and datasets.get(name).needs_path


def _text_only(text: Text) -> str | None:
    """Return the attribute of "change only the notes, not the sex column": the text-only arm."""
    match = text.take_first(
        r"(?:(?:change|modif\w+)\W+(?:only |just )?(?:que )?(?:the |le )?(?:notes?|text\w*)\W+)?"
        r"(?:but )?(?:not|pas|leave) (?:the |la )?(sex|gender|age|race|sexe) (?:column|field)"
        r"|(?:ne )?modif\w+ (?:que |uniquement )?le texte\W+pas la colonne (sexe|age)"
    )
    if match is None:
        return None
    name = match.group(1) or match.group(2)
    return "gender" if name.lower() in ("sex", "sexe", "gender") else name.lower()


def _relations(text: Text) -> list[str]:
    if text.take_first(r"(?:all|every)(?: of)?(?: the)?(?: \d+)?(?: metamorphic)? relations"):
        return ["all"]
    pairs: list[str] = []
    for match in text.take(r"MR ?([1-6]) ?(?:\+|&|x|with) ?MR ?([1-6])"):
        pairs.append("+".join(sorted(f"MR{d}" for d in match.groups())))
    single = [f"MR{m.group(1)}" for m in text.take(r"MR ?-?([1-6])")]
    single += [m.name for m in mentions(text, words("relations"))]
    single = sorted(set(single))
    if len(single) == 2 and text.take_first(
        r"in (?:the same|one|a single) (?:question|prompt)|at once|as a pair|together"
    ):
        pairs, single = [*pairs, "+".join(single)], []
    return sorted({*single, *pairs})


def _number(text: Text, pattern: str) -> int | None:
    match = text.take_first(pattern)
    return int(next(group for group in match.groups() if group)) if match else None


def _lifted(text: Text) -> tuple[str, ...]:
    lift = r"(?:remove|drop|lift|no|without)(?: the| any)?"
    found = []
    if text.take_first(rf"{lift} (?:calls? (?:limit|cap)|(?:limit|cap) (?:on|of) calls)"):
        found.append("max_calls")
    if text.take_first(rf"{lift} (?:budget|cost|spending)(?: (?:limit|cap))?"):
        found.append("budget_usd")
    return tuple(found)


def _budget(text: Text) -> float | None:
    amount = r"(\d+(?:\.\d+)?)"
    match = text.take_first(
        rf"(?:[a-z]+ )?(?:budget\W+(?:\w+\W+){{0,2}}?)?\$ ?{amount}|{amount} ?(?:\$|usd|dollars?)"
    ) or re.search(rf"\$ ?{amount}", text.rest)
    return float(next(group for group in match.groups() if group)) if match else None


def _repeats(text: Text) -> int | None:
    if text.take_first(r"twice|deux fois"):
        return 2
    if text.take_first(r"thrice"):
        return 3
    return _number(text, r"(\d+) (?:times|fois|repeats|repetitions)(?: each)?|repeats?\W+(\d+)")


def _taken(text: Text, table: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """Return the names that are taken away, and those that are asked for."""
    gone: list[str] = []
    for name, patterns in table.items():
        if text.take_first(rf"(?:{_REMOVE})(?: the)? (?:{'|'.join(patterns)})"):
            gone.append(name)
    return gone, [m.name for m in mentions(text, table)]


def _language(text: Text) -> str | None:
    if text.take_first(r"(?:in|are|are written in|rediges? en|redigees en|en) (?:french|francais)"):
        return "fr"
    return "en" if text.take_first(r"(?:in|en) (?:english|anglais)") else None


def _mitigation(text: Text) -> str | None:
    if not text.has(r"mitigat\w+"):
        return None
    if text.take_first(r"few[- ]?shot"):
        return "few_shot"
    return "fine_tune" if text.take_first(r"fine[- ]?tun\w+") else None


def _count(text: Text) -> int | Literal["all"] | None:
    """Return n: a number of questions, "all of them", or the one number that nothing claims."""
    unit = "|".join(words("units")["n"])
    every = (
        rf"(?:all|every|toutes?|tous)(?: of)?(?: the| les)? (?:(?:\w+ )?(?:{unit})|of them|them)"
    )
    if text.take_first(every) or text.take_first(r"use all|all of (?:it|them)"):
        return "all"
    counted = _number(text, rf"(\d+)(?: \w+| \0+| \w+ \w+)? (?:{unit}|of them|of those)")
    counted = counted or _number(
        text, r"(\d+)(?: |\0)+(?:questions?|vignettes?|items?|visits?|rows?)"
    )
    if counted:
        return counted
    # "row 4" and "run 3" are names, not numbers of something.
    named = r"(?:rows?|lines?|cases?|runs?|levels?|steps?|version|no\.?)\s\d+"
    visible = re.sub(named, " ", text.rest, flags=re.IGNORECASE)
    loose = re.findall(r"(?<![\w.$/:\0-])\d+(?![\w%/:-]|\.\d)", visible)
    return int(loose[0]) if len(loose) == 1 and int(loose[0]) > 0 else None


def _attributes(text: Text) -> tuple[list[str], list[Mention], bool, bool]:
    """Return attributes taken away, asked for, whether one is swapped, and forbidden to change."""
    table = words("attributes")
    either = {name: "|".join(patterns) for name, patterns in table.items()}
    removed: list[str] = []
    swapped = never = False
    for name, pattern in either.items():
        if text.take_first(rf"(?:never|do not|don't|without) chang\w+ (?:the )?(?:{pattern})"):
            never = True
        if text.take_first(
            rf"(?:swap|replace|exchange|switch) (?:the )?(?:{pattern})(?= (?:for|by|with))"
        ):
            removed.append(name)
            swapped = True
        negated = rf"(?:but )?(?:{_REMOVE})(?: the| on)? (?:{pattern})(?! column)"
        if text.take_first(negated):
            removed.append(name)
    place = re.search(_PEOPLE_OF_A_PLACE, text.rest)
    found = mentions(text, table)
    if place:
        found.append(Mention("location", place.end(), place.end()))
    return removed, [m for m in found if m.name not in removed], swapped, never


def _intersections(sentence: str, found: list[Mention]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of attributes that the sentence asks for in combination."""
    names = sorted({m.name for m in found})
    groups: list[tuple[str, ...]] = []
    spans = sorted(found, key=lambda m: m.start)
    trigger = re.search(rf"\b(?:{_TOGETHER})\b", sentence, re.IGNORECASE)
    for one, two in itertools.pairwise(spans):
        between = sentence[one.end : two.start]
        joined = r"\s*[+x*\u00d7]\s*" + (r"|\s+(?:with|by|avec|par)\s+(?:the )?" if trigger else "")
        if one.name != two.name and re.fullmatch(joined, between):
            groups.append(tuple(sorted((one.name, two.name))))
    if groups or trigger is None or len(names) < 2:
        return tuple(dict.fromkeys(groups))
    if re.search(rf"\ball (?:of them |\d+ )?(?:{_TOGETHER})", sentence, re.IGNORECASE):
        return (tuple(names),)
    clause = _clause(sentence, trigger)
    inside = sorted({m.name for m in found if clause[0] <= m.start < clause[1]})
    return (tuple(inside if len(inside) > 1 else names),)


def _clause(sentence: str, trigger: re.Match[str]) -> tuple[int, int]:
    """Return where the clause begins and ends that holds the word "combined"."""
    stops = [m.end() for m in re.finditer(r"[;.:]|,? (?:and|et) (?:also|aussi)\b", sentence)]
    start = max([0, *(s for s in stops if s <= trigger.start())])
    end = min([len(sentence), *(s for s in stops if s > trigger.end())])
    return start, end


def _contradictions(
    targets: list[str], datasets: list[str], never: bool, unclear: Iterable[str]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in unclear:
        found["target"] = f"Which {name} is meant? Write it as 'provider/name'."
    if len(targets) > 1:
        found["target"] = f"Which one is the target: {' or '.join(targets)}?"
    if len(datasets) > 1:
        found["dataset"] = f"Which data set is meant: {' or '.join(datasets)}?"
    if never:
        found["attributes"] = (
            "The attribute is to be audited and never changed; which of the two is meant?"
        )
    return found


def to_plan(
    draft: Draft, roles: dict[Role, RoleModel], *, graph: str = "sqlite", max_in_flight: int = 16
) -> Plan:
    """Return the Plan of a draft that has no open question; names are not checked yet.

    Args:
        draft: What is known.
        roles: The models of the roles that the draft leaves open.
        graph: Where the knowledge graph is kept.
        max_in_flight: Calls at once, at most.

    Raises:
        UserError: Something is missing, or this version cannot do it.
    """
    missing = open_questions(draft)
    if missing:
        raise UserError(missing[0])
    unable = [name for name in ("relations", "mitigation") if getattr(draft, name)]
    if unable:
        raise UserError(
            f"This version cannot run {' and '.join(unable)} yet; expected a kg audit with "
            "attributes. Ask for age, gender or location."
        )
    chosen = dict(roles)
    for role, model in (
        ("target", draft.target),
        ("judge", draft.judge),
        ("rewriter", draft.rewriter),
    ):
        if model is not None:
            chosen[role] = _role_model(chosen[role], model)  # type: ignore[index]
    is_file = "." in (draft.dataset or "")
    return Plan(
        recipe=draft.recipe or "kg",
        dataset="equitymedqa" if is_file else draft.dataset or "demo",
        path=draft.dataset if is_file else draft.path,
        n=draft.n if isinstance(draft.n, int) else None,
        seed=draft.seed or 0,
        attributes=draft.attributes,
        intersections=draft.intersections,
        asked=tuple(arm for arm in ASKED_ARMS if arm in draft.arms),
        controls=tuple(arm for arm in ("repeat", "placebo") if arm in draft.arms) or None,
        repeats=draft.repeats or 1,
        roles=chosen,
        max_calls=draft.max_calls,
        budget_usd=draft.budget_usd,
        graph=graph,
        max_in_flight=max_in_flight,
    )


def _role_model(usual: RoleModel, model: str) -> RoleModel:
    if model == usual.model:
        return usual
    # An address or a file belongs to the model that it was set for.
    return usual.model_copy(update={"model": model, "base_url": None, "path": None})
