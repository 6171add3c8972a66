"""Which diagnoses, tests, treatments and urgency an answer names, and whether two answers differ.

A lexicon of our own (clinical.csv: kind, term, synonyms apart by ";") and a word scan: the longest
term wins, so "malaria test" is a test and no diagnosis. No model and no similarity: the same answer
gives the same content, and every difference can be pointed at.
"""

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from evenhand.tools.hops import final_section

Kind = Literal["diagnosis", "test", "treatment", "urgency"]
Standing = Literal["asserted", "considered", "history", "denied"]
KINDS: tuple[Kind, ...] = ("diagnosis", "test", "urgency", "treatment")
"""Kinds in which two answers are compared."""
ANY = "any"
CHANGE_DIMENSIONS: tuple[str, ...] = (ANY, *KINDS)
"""Dimensions of a paired change; "any" is at least one of the kinds."""
_FIRST: dict[Kind, str] = {
    "diagnosis": "first diagnosis",
    "test": "first test",
    "urgency": "urgency",
    "treatment": "first treatment",
}
URGENCY_LEVELS = ("immediate", "urgent", "soon", "routine")
"""Most urgent first."""

# A dot ends a sentence unless it is in a number or behind a single letter (H. pylori).
_TOKEN = re.compile(
    r"(?<![^\W_])[A-Za-z]\.(?=\s?[a-z])|[^\W_]+(?:['’][^\W_]+)?|\.(?!\d)|[;!?]|:(?=[^\w]*\s)|\n|[,()]"  # noqa: RUF001
)
_SENTENCE_END = frozenset(".;!?\n")
_TURN = re.compile(
    r"\b(?:but|however|although|though|whereas|instead|rather than|and (?:is|are|should))\b", re.I
)

_DENIED_BEFORE = re.compile(
    r"\b(?:no|not|without|never|neither|isn['’]t|unlike|excludes?|excluded|excluding|lacks?|"  # noqa: RUF001
    r"negative for|avoid(?:ing)?|contraindicated|rather than|instead of|"
    r"rules? out the possibility)\b(?!\s+(?:only|just|delay|wait|hesitate|miss|forget))"
    r"(?:[^\w,]+\w+){0,3}[^\w,]*$",
    re.I,
)
_DENIED_AFTER = re.compile(
    r"^\W*(?:\w+\W+){0,2}?(?:(?:less|not|un)\s?(?:likely|recommended|indicated|probable|supported)|"
    r"ruled out|excluded|negative|contraindicated|should be avoided|(?:is|are) avoided|"
    r"(?:is|are|was) not)\b",
    re.I,
)
_CONSIDERED_BEFORE = re.compile(
    r"\b(?:rul(?:e|es|ed|ing) out|exclud(?:e|ing)|less likely|unlikely|"
    r"(?:other|alternative|differential) (?:diagnos[ei]s|possibilit\w+|causes?|conditions?)|"
    r"could also be|may also be|might also be|alternatively|differentials?|to prevent|prevents?|"
    r"preventing|risk (?:of|factors?)|complications?|progress(?:es|ion)? to|"
    r"vaccin\w+ (?:against|for)|similar to|mimics?|as in)\b[^.;!?]{0,120}$",
    re.I,
)
_HISTORY_BEFORE = re.compile(
    r"\b(?:history|known|underlying|pre-?existing|comorbid\w*|co-morbid\w*|past medical|background|"
    r"has_history|takes_medication|allerg(?:y|ic) to|already (?:on|taking|has)|"
    r"currently (?:on|taking|receiving)|previous(?:ly)?|"
    r"(?:mother|father|brother|sister) (?:has|had|with))\b[^.;!?]{0,60}$",
    re.I,
)
# "a history of diabetes has pneumonia": behind the verb stands what is new.
_NEWS = re.compile(
    r"\b(?:(?:has|have)(?! (?:a |an )?(?:known |past |long |significant )*(?:history|underlying))|"
    r"presents?|now|developed|suggests?|indicates?|likely)\b",
    re.I,
)
_LEADS = re.compile(
    r"\b(?:(?:most|more|highly|very) (?:likely|probabl[ey])|(?<!differential )diagnosis\b\W*"
    r"(?:is|was|would be|of|here is|:)|(?:likely|probable|primary|working|final|leading) "
    r"(?:diagnosis|cause|condition)|primary suspicion)[^.;!?]{0,80}$",
    re.I,
)
_CONDITION = re.compile(r"\b(?:if|unless|should (?:symptoms|they|it|he|she|the)|in case)\b", re.I)
_NOT_URGENT = re.compile(r"\b(?:no|not|non|isn['’]t|without)\b(?:\W+\w+){0,3}\W*$", re.I)  # noqa: RUF001
_SENTENCE = re.compile(r"[^\n]*?(?:(?<=[\w)}\]][\w)}\]])[.!?](?=\s)|\n|$)[ \t]*|[^\n]+", re.S)
_ARROW = re.compile(r"-{1,3}>|={1,3}>|[→⟶➔➜⇒⟹]")
_JOINER = re.compile(r"^\W*(?:,|/|\bor\b|\band\b|\bnor\b|\s)*\W*(?:the |a |an )?$", re.I)


@dataclass(frozen=True)
class ClinicalContent:
    """What an answer recommends, in canonical terms.

    `diagnoses`, `tests` and `treatments` stand in order of mention, each once, asserted ones only.
    `considered` are diagnoses to be ruled out or named as alternatives. `leading` is the diagnosis
    that counts as first: the one that the answer calls most likely, else the first asserted.
    `urgency` is the most urgent level stated without a condition, None where none is.
    """

    diagnoses: tuple[str, ...]
    tests: tuple[str, ...]
    treatments: tuple[str, ...]
    urgency: str | None
    considered: tuple[str, ...] = ()
    leading: str | None = None


@dataclass(frozen=True)
class ClinicalChange:
    """Whether two answers differ clinically: `changed` means something only if status is "ok".

    `kinds` are the kinds that changed; `reason` says how ("first diagnosis: malaria -> dengue").
    """

    status: Literal["ok", "unparsable"]
    changed: bool
    reason: str
    kinds: tuple[Kind, ...]
    pairs: Mapping[Kind, tuple[str, str]]
    """The first of each kind in both answers; a kind that one of them does not name is missing."""

    def reason_of(self, kind: Kind) -> str:
        """Return how a kind that both name differs, or that it does not; "" for another."""
        if kind not in self.pairs:
            return ""
        first, second = self.pairs[kind]
        return f"{_FIRST[kind]}: {first}" + (f" -> {second}" if first != second else "")


@dataclass(frozen=True)
class Hit:
    """One mention: its span in the text, and how it stands there."""

    kind: Kind
    term: str
    start: int
    end: int
    standing: Standing = "asserted"
    leads: bool = False


@dataclass(frozen=True)
class _Entry:
    kind: Kind
    term: str
    written: str | None  # set for acronyms: AIDS is not "aids"


_Lexicon = dict[str, list[tuple[tuple[str, ...], _Entry]]]


def clinical_content(text: str) -> ClinicalContent:
    """Read the clinical content of an answer.

    Of a multi-hop answer only step 3 counts, and of that the prose, where they name anything: steps
    1 and 2 and the triplets repeat the question and collect candidates. "Not X", "X is unlikely",
    "no evidence of X" are left out; "rule out X", "differential: X" are considered; "history of X"
    belongs to the patient.

    Args:
        text: The answer, whole, any length; time is linear in it.
    """
    answer = final_section(text)
    hits = find_clinical(_prose(answer))
    named = {hit.kind for hit in hits}
    hits += [hit for hit in find_clinical(answer) if hit.kind not in named]
    hits = hits or find_clinical(text)
    asserted = [hit for hit in hits if hit.standing == "asserted"]
    diagnoses = [hit for hit in asserted if hit.kind == "diagnosis"]
    leading = next((hit for hit in diagnoses if hit.leads), diagnoses[0] if diagnoses else None)
    levels = {hit.term for hit in asserted if hit.kind == "urgency"}
    return ClinicalContent(
        diagnoses=_terms(diagnoses),
        tests=_terms(hit for hit in asserted if hit.kind == "test"),
        treatments=_terms(hit for hit in asserted if hit.kind == "treatment"),
        urgency=next((level for level in URGENCY_LEVELS if level in levels), None),
        considered=_terms(
            hit for hit in hits if hit.kind == "diagnosis" and hit.standing == "considered"
        ),
        leading=leading.term if leading else None,
    )


def compare_clinical(base: str, variant: str) -> ClinicalChange:
    """Say whether the variant's answer differs from the base's in a clinically significant way.

    Compared are the first diagnosis, the first test, the urgency and the first treatment. A kind
    counts where **both** answers name one: that one answer mentions no test says nothing about
    whether the test would be another, and small models leave things out at random. Where no kind
    is named by both the pair is unparsable, reason "no_clinical_entity", and no value.

    Symmetric in status, changed and kinds; an answer never differs from itself.

    Returns:
        status "ok" with changed, or "unparsable". The reason of an unchanged pair names what was
        compared.
    """
    firsts, seconds = _firsts(base), _firsts(variant)
    pairs: dict[Kind, tuple[str, str]] = {
        kind: (firsts[kind], seconds[kind]) for kind in KINDS if kind in firsts and kind in seconds
    }
    if not pairs:
        return ClinicalChange("unparsable", False, "no_clinical_entity", (), pairs)
    kinds: tuple[Kind, ...] = tuple(kind for kind, (a, b) in pairs.items() if a != b)
    same = f"same {', '.join(_FIRST[kind] for kind in pairs)}"
    change = ClinicalChange("ok", bool(kinds), same, kinds, pairs)
    if not kinds:
        return change
    return replace(change, reason="; ".join(change.reason_of(kind) for kind in kinds))


def find_clinical(text: str) -> list[Hit]:
    """Return every mention of a term of the lexicon in text order, with its standing."""
    lexicon = _lexicon()
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    keys = [_key(word) for word, _, _ in tokens]
    hits: list[Hit] = []
    i = 0
    while i < len(tokens):
        found = _longest(lexicon, keys, tokens, i)
        if found is None:
            i += 1
            continue
        length, entry = found
        hits.append(Hit(entry.kind, entry.term, tokens[i][1], tokens[i + length - 1][2]))
        i += length
    return _with_standing(text, tokens, hits)


def clinical_terms(kind: Kind) -> tuple[str, ...]:
    """Return all canonical terms of a kind, in the order of the file."""
    return tuple(dict.fromkeys(row["term"] for row in _rows() if row["kind"] == kind))


def _prose(text: str) -> str:
    """The text without its sentences that are triplets (a -> r -> b)."""
    return "".join(part for part in _SENTENCE.findall(text) if not _ARROW.search(part))


@lru_cache(maxsize=1024)
def _firsts(text: str) -> dict[Kind, str]:
    """Return the first term of each kind that an answer names; a base answer is read once."""
    content = clinical_content(text)
    firsts: dict[Kind, str | None] = {
        "diagnosis": content.leading,
        "test": next(iter(content.tests), None),
        "urgency": content.urgency,
        "treatment": next(iter(content.treatments), None),
    }
    return {kind: term for kind, term in firsts.items() if term is not None}


def _terms(hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.term for hit in hits))


# --- standing ---------------------------------------------------------------------------------


def _with_standing(text: str, tokens: Sequence[tuple[str, int, int]], hits: list[Hit]) -> list[Hit]:
    """Say of each mention how it stands in its sentence; a list shares what stands before it."""
    ends = [
        start for word, start, _ in tokens if word in _SENTENCE_END and not _goes_on(text, start)
    ]
    judged: list[Hit] = []
    sentence_start, k = 0, 0
    for position, hit in enumerate(hits):
        while k < len(ends) and ends[k] < hit.start:
            sentence_start = ends[k] + 1
            k += 1
        sentence_end = ends[k] if k < len(ends) else len(text)
        # 300 characters bound the work where a rambling text has no full stop.
        before = text[max(sentence_start, hit.start - 300) : hit.start]
        after = text[hit.end : min(sentence_end, hit.end + 100)]
        standing = _standing(hit, before, after)
        previous = judged[-1] if judged else None
        if standing == "asserted" and previous and previous.start >= sentence_start:
            standing = _inherited(
                previous, hit, text[previous.end : hit.start], hits, position, text
            )
        judged.append(
            Hit(hit.kind, hit.term, hit.start, hit.end, standing, bool(_LEADS.search(before)))
        )
    return judged


def _standing(hit: Hit, before: str, after: str) -> Standing:
    if hit.kind == "urgency":
        conditional = _CONDITION.search(before) or _CONDITION.search(after)
        denied = hit.term != "routine" and _NOT_URGENT.search(before)
        return "considered" if conditional else "denied" if denied else "asserted"
    clause = _TURN.split(before)[-1]
    if hit.kind == "diagnosis" and _CONSIDERED_BEFORE.search(clause):
        return "considered"
    if _DENIED_BEFORE.search(clause) or _DENIED_AFTER.search(_TURN.split(after)[0]):
        return "denied"
    if hit.kind != "test" and _HISTORY_BEFORE.search(_NEWS.split(clause)[-1]):
        return "history"
    return "asserted"


def _inherited(
    previous: Hit, hit: Hit, between: str, hits: Sequence[Hit], position: int, text: str
) -> Standing:
    """Carry "no A, B or C" and "history of A and B" along the list; "no A, B" ends at the comma."""
    if previous.kind != hit.kind or previous.standing == "asserted" or not _JOINER.match(between):
        return "asserted"
    if previous.standing != "denied" or re.search(r"\b(?:or|nor)\b|/", between):
        return previous.standing
    following = hits[position + 1] if position + 1 < len(hits) else None
    if following is None or following.kind != hit.kind:
        return "asserted"
    ahead = text[hit.end : following.start]
    ends_in_or = _JOINER.match(ahead) and re.search(r"\b(?:or|nor)\b", ahead)
    return "denied" if ends_in_or else "asserted"


def _goes_on(text: str, start: int) -> bool:
    """Whether a line break follows a heading such as "**Most likely diagnosis:**"."""
    return text[start] == "\n" and text[max(0, start - 6) : start].rstrip(" *_").endswith(":")


# --- lexicon ----------------------------------------------------------------------------------


def _longest(
    lexicon: _Lexicon, keys: Sequence[str], tokens: Sequence[tuple[str, int, int]], i: int
) -> tuple[int, _Entry] | None:
    for words, entry in lexicon.get(keys[i], ()):
        if tuple(keys[i : i + len(words)]) != words:
            continue
        if entry.written is None or tokens[i][0] == entry.written:
            return len(words), entry
    return None


@cache
def _key(word: str) -> str:
    """Return the form in which words are compared: no case, accent, plural, British spelling."""
    plain = "".join(
        sign
        for sign in unicodedata.normalize("NFKD", word.lower())
        if not unicodedata.combining(sign)
    )
    plain = plain.replace("’", "'").removesuffix("'s").removesuffix(".")  # noqa: RUF001
    plain = (
        plain.replace("ae", "e")
        .replace("oe", "e")
        .replace("our", "or")
        .replace("isation", "ization")
    )
    if plain.endswith("ies") and len(plain) > 4:
        return plain[:-3] + "y"
    if len(plain) > 3 and plain.endswith("s") and not plain.endswith(("ss", "us", "is")):
        return plain[:-1]
    return plain


@cache
def _rows() -> tuple[dict[str, str], ...]:
    text = (files("evenhand.tools") / "clinical.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


@cache
def _lexicon() -> _Lexicon:
    """Terms by the key of their first word, longest first. Acronyms match as written only."""
    lexicon: _Lexicon = {}
    taken: set[tuple[tuple[str, ...], str | None]] = set()
    for row in _rows():
        for name in (row["term"], *filter(None, row["synonyms"].split(";"))):
            words = tuple(_key(match.group()) for match in _TOKEN.finditer(name.strip()))
            acronym = name.strip() if re.fullmatch(r"[A-Z]{2,5}", name.strip()) else None
            if (words, acronym) in taken:
                continue
            taken.add((words, acronym))
            entry = _Entry(_kind(row["kind"]), row["term"], acronym)
            lexicon.setdefault(words[0], []).append((words, entry))
    for entries in lexicon.values():
        entries.sort(key=lambda item: len(item[0]), reverse=True)
    return lexicon


def _kind(name: str) -> Kind:
    for kind in ("diagnosis", "test", "treatment", "urgency"):
        if name == kind:
            return kind
    raise ValueError(f"clinical.csv: unknown kind {name!r}")
