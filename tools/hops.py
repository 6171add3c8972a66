"""The steps of a multi-hop answer, and the triples that each of them states.

A target is asked for three steps: triplets of the question, their expansion from its own knowledge,
the answer by mapping (paper 1, section 3.2). Small models spell the headings in many ways, repeat
them and ramble; one pass with bounded expressions reads them all.
"""

import re

from evenhand.graph_store.records import Answer, Triple, child_id
from evenhand.tools.entities import canonical_key
from evenhand.tools.triplets import ParsedTriplets, Triplet, parse_triplets, split_conjuncts

__all__ = [
    "ParsedTriplets",
    "answer_sections",
    "answer_triples",
    "final_section",
    "parse_triplets",
    "split_conjuncts",
]

_NUMBER = {"one": 1, "i": 1, "two": 2, "ii": 2, "three": 3, "iii": 3}
_STEP = re.compile(
    r"""
    (?:^[ \t>#*_\-]{0,12}(?:\d[.)][ \t]{0,3})?[*_]{0,3}   # a line of its own ...
      (?:step|hop|stage)[ \t]{0,3}[#-]?[ \t]{0,3}(?P<line>[1-3]|one|two|three|i{1,3})\b(?![ \t]*->)
    | (?<![\w(])(?:step)[ ]{0,2}(?P<inline>[1-3])[*_]{0,3}[ ]{0,2}[:–—-](?!>)       # ... or inline
    | ^[ \t>#*_]{0,8}(?P<number>[1-3])[.):][ \t]{0,3}[*_]{0,3}[ \t]{0,3}      # "2. Expansion"
      (?:(?:knowledge|initial|extracted|generated|final)[ ])?
      (?:tripl|expan|answer|mapping|response|reasoning|conclusion|diagnos)
    )
    [*_]{0,3}[ \t]{0,3}[:.)–—-]{0,2}(?!>)
    """,  # noqa: RUF001
    re.I | re.M | re.X,
)


def answer_sections(text: str) -> list[tuple[int, str]]:
    """Cut a multi-hop answer at its step headings, in many spellings.

    Returns:
        (step 1 to 3, text below its heading), in order. Text before the first heading, or an
        answer without headings, is step 1: it is not known to be more.
    """
    marks = [(match.start(), match.end(), _step_number(match)) for match in _STEP.finditer(text)]
    sections = [(1, text[: marks[0][0] if marks else len(text)])]
    for i, (_, end, step) in enumerate(marks):
        stop = marks[i + 1][0] if i + 1 < len(marks) else len(text)
        sections.append((step, text[end:stop]))
    return [(step, part) for step, part in sections if part.strip()]


def final_section(text: str) -> str:
    """Return the text of the first step 3, the answer itself; all of it where there is no step."""
    return next((part for step, part in answer_sections(text) if step == 3), text)


def answer_triples(answer: Answer) -> list[Triple]:
    """Parse the hops of a target's answer: hop = number of the step that states the triple.

    A triple that is stated again, in its step or a later one, is kept once, where it came first.
    Ids: child_id(answer.id, "t", i, subject, predicate, object); origin "target".
    """
    triples: list[Triple] = []
    seen: set[Triplet] = set()
    for hop, section in answer_sections(answer.text):
        for subject, predicate, target in parse_triplets(section).triplets:
            key = (canonical_key(subject), canonical_key(predicate), canonical_key(target))
            if key in seen:
                continue
            seen.add(key)
            triples.append(
                Triple(
                    id=child_id(answer.id, "t", len(triples), subject, predicate, target),
                    source_id=answer.id,
                    subject=subject,
                    predicate=predicate,
                    object=target,
                    subject_key=key[0],
                    object_key=key[2],
                    hop=hop,
                    origin="target",
                )
            )
    return triples


def _step_number(match: re.Match[str]) -> int:
    word = (match["line"] or match["inline"] or match["number"]).lower()
    return _NUMBER.get(word) or int(word)
