"""A clinical text -> the triples of its patient: spaCy's facts and the rule filter.

Paper 1, section 3.1 and appendix A.1: E' = {e in E | matches(e, P)}. E are the phrases of the text,
P the patterns of extraction.toml: a cue opens a segment ("reports", "lives in", "denies"), the
segment's members that match the cue's words are kept, under the predicates of recipe kg. Both
counts are reported, as in the paper's Table 4.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.graph_store.records import Sample, Triple, child_id
from evenhand.tools.entities import canonical_key
from evenhand.tools.facts import Fact, FactExtraction, extract_facts
from evenhand.tools.statements import read_patient

__all__ = [
    "Extraction",
    "Fact",
    "FactExtraction",
    "extract_all",
    "extract_facts",
    "extract_triples",
]


@dataclass(frozen=True)
class Extraction:
    """Triples of one sample, and the two counts of the paper's Table 4.

    `n_spacy` counts the facts that spaCy alone finds, `n_filtered` the triples after the rules.
    """

    triples: tuple[Triple, ...]
    n_spacy: int
    n_filtered: int


def extract_triples(sample: Sample) -> Extraction:
    """Extract the triples of a sample's patient in text order, each once.

    Predicates as in recipe kg; the subject is "patient", or the relative of a family_has. Objects
    have the text's wording and case, leading articles included, with three exceptions: has_age
    ("28", "8 months") and has_gender ("male", "female", also from the pronouns where no noun says
    it) are canonical; possessive pronouns become "the", so that a changed gender leaves no trace;
    a has_exposure is a verb phrase in the third person ("owns domestic animals").

    In a person's own question the patient is who is ill: "My son has a fever" is about the son.
    Questions ("Do I have malaria?") state nothing but place, age and gender.

    Ids: child_id(sample.id, "t", position, subject, predicate, object); origin "rules".
    """
    return extract_all([sample])[0]


def extract_all(samples: Sequence[Sample]) -> list[Extraction]:
    """Extract from many samples; see extract_triples. The model is loaded once."""
    return [_extraction(sample) for sample in samples]


def _extraction(sample: Sample) -> Extraction:
    text = _stating_part(sample)
    facts = extract_facts(text)
    found = sorted(read_patient(text), key=lambda item: item.start)
    triples: list[Triple] = []
    seen: set[tuple[str, str, str]] = set()
    measured: set[str] = set()
    for item in found:
        keys = (canonical_key(item.subject), canonical_key(item.object))
        measure = re.match(r"an? .+(?= of [<>]?\d)", item.object)
        if measure and measure.group() in measured:
            continue  # a later value: side by side the two would contradict each other
        measured.update([measure.group()] if measure else [])
        if not keys[1] or (keys[0], item.predicate, keys[1]) in seen:
            continue
        seen.add((keys[0], item.predicate, keys[1]))
        triples.append(
            Triple(
                id=child_id(
                    sample.id, "t", len(triples), item.subject, item.predicate, item.object
                ),
                source_id=sample.id,
                subject=item.subject,
                predicate=item.predicate,
                object=item.object,
                subject_key=keys[0],
                object_key=keys[1],
                hop=0,
                origin="rules",
            )
        )
    return Extraction(tuple(triples), len(facts.triples), len(triples))


def _stating_part(sample: Sample) -> str:
    """Leave out a task at the end of a text ("Statement: ... 1. Disagree"); questions are read."""
    asked = (sample.question or "").rstrip()
    if asked.endswith("?") or not asked or not sample.text.endswith(asked):
        return sample.text
    return sample.text[: -len(asked)]
