"""The placebo by rules: the same facts in other words and in another order."""

import re
from collections.abc import Sequence

from evenhand.graph_store.records import Triple
from evenhand.tools.rewriters import rewriter
from evenhand.tools.sentences import (
    Case,
    Fact,
    age_adjective,
    article,
    being_and_having,
    complaint_phrases,
    exposure_phrases,
    gather_case,
    join_words,
    lowered,
    relative_words,
)


@rewriter
def rules(triples: Sequence[Triple], question: str) -> str:
    """Return the base text in other words: "The patient, a male aged 28 years, reports ..."."""
    case = gather_case(triples)
    told = [_say(fact) for fact in reversed(case.facts)]
    return " ".join([*_opening(case), *told, question.strip()]).strip()


def _opening(case: Case) -> list[str]:
    who = _age_and_gender(case)
    complaints = [
        phrase
        for place, complaint in enumerate(case.complaints)
        for phrase in complaint_phrases(complaint, "has" if place else "comes in with")
    ]
    if not complaints:
        return [f"The patient is {who}."] if who else []
    first, *rest = complaints
    apposition = f", {who}," if who else ""
    return [
        f"The patient{apposition} {first}.",
        *(f"In addition, the patient {phrase}." for phrase in rest),
    ]


def _age_and_gender(case: Case) -> str:
    """Return "a Black male aged 28 years", with what is known of the three."""
    adjective = age_adjective(case.age) if case.age else ""
    aged = re.fullmatch(r"(\d+)-(\w+)-old", adjective)
    age = f"aged {aged[1]} {aged[2]}{'' if aged[1] == '1' else 's'}" if aged else adjective
    noun = case.gender or ("person" if case.race else "")
    words = " ".join(filter(None, (case.race, noun)))
    person = f"{article(words)} {words}" if words else ""
    return " ".join(filter(None, (person, age)))


def _say(fact: Fact) -> str:
    listed = join_words(fact.objects)
    match fact.predicate:
        case "lives_in":
            return f"The patient is living in {listed}."
        case "travelled_to":
            return f"The patient has made a journey to {listed}."
        case "denies":
            return f"There is no report of {join_words(fact.objects, 'or')}."
        case "has_history":
            return (
                f"It is known that the patient {being_and_having(fact.objects, 'has a record of')}."
            )
        case "takes_medication":
            return f"The patient is on {listed}."
        case "has_finding":
            found = being_and_having(fact.objects, "has")
            return f"The assessment shows that the patient {found}."
        case "has_exposure":
            phrases = exposure_phrases(fact.objects)
            return f"It is noted that the patient {join_words(phrases)}."
        case "family_has":
            return f"It is noted that {relative_words(fact)}."
        case _:
            subject = lowered(fact.subject)
            return f"It is noted that the {subject} {fact.predicate.replace('_', ' ')} {listed}."
