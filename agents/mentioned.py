"""Everything that one sentence mentions of a plan; what is read first is not read again."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel

from evenhand.agents.draft import COUNTERFACTUAL, Draft, holds_visits
from evenhand.agents.named_attributes import find_attributes, find_intersections, find_text_only
from evenhand.agents.utterance import REMOVE, Text, find_datasets, find_models, mentions, words
from evenhand.tools.triage.run_pairs import MIMIC, is_mimic


class Found(BaseModel):
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


def find_all(sentence: str, given: Draft | None = None) -> Found:
    """Find everything in one sentence; what is read first is not read again.

    Args:
        sentence: The sentence, its quotes and markup taken out.
        given: The plan that it is said of, if one waits.
    """
    text = Text(sentence)
    text_only = find_text_only(text)
    named, sources = find_datasets(text, _registered_datasets())
    # A file beside a registered name is where that data set lies; alone it is the data set.
    datasets, path = (named, sources[0]) if named and len(sources) == 1 else (named + sources, None)
    deciders = _deciders(text, datasets or [(given and given.dataset) or ""])
    people = (given is None or given.target is None) and (_asks_people(text) or bool(deciders))
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
    removed, attributes, swapped, never = find_attributes(text)
    # Of visits a second model may be asked the same; else two models are one too many.
    named = [*recipes, *datasets, *((given.recipe or "", given.dataset or "") if given else ())]
    of_visits = COUNTERFACTUAL in named or any(map(holds_visits, named))
    of_people = people or any(map(is_mimic, models.targets))
    against = models.against if of_visits or of_people else None
    targets = [name for name in models.targets if name != against]
    if people and not targets and not models.unclear:
        targets = [MIMIC]
    contradictions = _contradictions(targets, datasets, deciders, never, models.unclear)
    recipe = recipes[0] if recipes else "metamorphic" if relations else None
    draft = Draft(
        recipe=recipe or (COUNTERFACTUAL if any(map(is_mimic, targets)) else None),
        target=targets[0] if len(targets) == 1 else None,
        judge=models.judge,
        rewriter=models.rewriter,
        against=against,
        dataset=datasets[0] if len(datasets) == 1 else None,
        path=path if len(datasets) == 1 else None,
        decider=deciders[0] if len(deciders) == 1 else None,
        attributes=() if never else tuple(sorted({m.name for m in attributes})),
        intersections=find_intersections(sentence, attributes),
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
    return Found(
        draft=draft,
        removed_attributes=tuple(removed),
        removed_arms=tuple(removed_arms),
        replaced=swapped,
        contradictions=contradictions,
        factor=factor,
        lifted=lifted,
    )


def _deciders(text: Text, datasets: Sequence[str]) -> list[str]:
    """Return whose decisions are named, of those whom the one data set knows."""
    known = _registered_deciders(datasets[0]) if len(datasets) == 1 else ()
    # "our nurses" is read again as the target, so nothing is taken.
    table = {name: words("deciders").get(name, [re.escape(name)]) for name in known}
    return list(dict.fromkeys(mention.name for mention in mentions(text, table, take=False)))


def _asks_people(text: Text) -> bool:
    """Whether a sentence is about decisions, and not about those of a model."""
    named = {mention.name for mention in mentions(text, words("decisions"), take=False)}
    return named == {"people"}


def _registered_datasets() -> dict[str, str | None]:
    """Return name -> Hugging Face id of the registered data sets."""
    from evenhand.tools.datasets import datasets

    return {name: datasets.get(name).hub for name in datasets.names()}


def _registered_deciders(dataset: str) -> tuple[str, ...]:
    """Return who decided in a data set of visits, as the mapping that ships with it says."""
    from evenhand.tools.visit_mapping import shipped_mapping

    if not holds_visits(dataset):
        return ()
    try:
        return tuple(shipped_mapping(dataset).deciders)
    except FileNotFoundError:
        return ()


def _relations(text: Text) -> list[str]:
    if text.take_first(r"(?:all|every)(?: of)?(?: the)?(?: \d+)?(?: metamorphic)? relations"):
        return ["all"]
    pairs: list[str] = []
    for match in text.take(r"MR ?([1-6]) ?(?:\+|&|x|with) ?MR ?([1-6])"):
        pairs.append("+".join(sorted(f"MR{d}" for d in match.groups())))
    single = [f"MR{m.group(1)}" for m in text.take(r"MR ?-?([1-6])")]
    single += [m.name for m in mentions(text, words("relations"))]
    single += [m.name for m in mentions(text, registered_relations())]
    single = sorted(set(single))
    if len(single) == 2 and text.take_first(
        r"in (?:the same|one|a single) (?:question|prompt)|at once|as a pair|together"
    ):
        pairs, single = [*pairs, "+".join(single)], []
    return sorted({*single, *pairs})


def registered_relations() -> dict[str, list[str]]:
    """Return the registered relations that are not among the six, each by its own name."""
    from evenhand.tools.relations import relations

    others = (name for name in relations.names() if not re.fullmatch(r"mr[1-6]", name))
    return {name: [re.escape(name)] for name in others}


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
        if text.take_first(rf"(?:{REMOVE})(?: the)? (?:{'|'.join(patterns)})"):
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


def _contradictions(
    targets: list[str],
    datasets: list[str],
    deciders: list[str],
    never: bool,
    unclear: Iterable[str],
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in unclear:
        found["target"] = f"Which {name} is meant? Write it as 'provider/name'."
    if len(targets) > 1:
        found["target"] = f"Which one is the target: {' or '.join(targets)}?"
    if len(datasets) > 1:
        found["dataset"] = f"Which data set is meant: {' or '.join(datasets)}?"
    if len(deciders) > 1:
        found["decider"] = (
            f"Whose decisions first: {' or '.join(deciders)}? A run is about one of them; the "
            "report of the second sets both side by side."
        )
    if never:
        found["attributes"] = (
            "The attribute is to be audited and never changed; which of the two is meant?"
        )
    return found
