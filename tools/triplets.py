"""A model's text -> triplets: every form in which models write (a -> edge -> b).

A reader of untrusted text: what looks like a triplet and is none is returned with its reason, and
prose is passed over. One pass with bounded expressions, so a rambling reply costs linear time.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.tools.entities import canonical_key
from evenhand.tools.phrases import is_finding

Triplet = tuple[str, str, str]
RejectReason = Literal[
    "empty_end",
    "empty_relation",
    "missing_key",
    "non_entity_object",
    "non_entity_subject",
    "not_a_triplet",
    "not_three_parts",
    "placeholder",
    "self_loop",
    "too_long",
    "unclosed",
]

_LONGEST_PART = 200
_LONGEST_SET = 2_000
_MOST_JSON_FAILURES = 50

_MARKS = re.compile(r"^(?:[\s>*•‣◦▪·–—+`#-]|\(?\d{1,3}[.):](?!\d)|\[\d{1,3}\])+")  # noqa: RUF001
_LABEL = re.compile(r"^(?:knowledge )?(?:triplets?|triples?|facts?|relations?)\s*\d{0,3}\s*:", re.I)
_LABELLED_EDGE = re.compile(
    r"[ \t]{0,9}(?P<back><)?-{1,3}\s?\[:?(?P<edge>[^\[\]]{0,120})\]\s?-{1,3}(?P<forth>>)?[ \t]{0,9}"
)
# A bare > or < is part of a name (c.1799T>A, pH<7.2); an arrow has a shaft.
_ARROW = re.compile(r"-{1,3}>|={1,3}>|[→⟶➔➜⇒⟹]|—>|–>")  # noqa: RUF001
_DASHED_EDGE = re.compile(r"\s--?\s?(?=[^\s-])|--")
_FULL_STOP = re.compile(r"(?<=\w\w)\.$")
_SENTENCE_END = re.compile(r"(?<=[\w)}\]][\w)}\]])\.\s+")  # not in "E. coli", not behind "1."
_DASH = re.compile(r"\s[-–—]\s")  # noqa: RUF001
_COMMA = re.compile(r",")
_TABLE_RULE = re.compile(r"^[\s|:+-]+$")
_CONJUNCTION = re.compile(r"\s*,\s*(?:and|or)\s+|\s+(?:and|or)\s+|\s*,\s*|\s*;\s*", re.I)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "\"'`*“”‘’"  # noqa: RUF001

_NO_ENTITY = frozenset(
    "this that these those it its he she they him her them his hers their theirs we us i you me "  # noqa: SIM905
    "which who whom whose what there here something someone none nothing".split()
) | {"the above", "the following", "the former", "the latter", "n/a", "such", "same", "etc", "..."}
_PLACEHOLDERS = frozenset(
    {
        ("start", "end"),
        ("start node", "end node"),
        ("subject", "object"),
        ("head", "tail"),
        ("source", "target"),
        ("entity1", "entity2"),
        ("entity 1", "entity 2"),
        ("entity", "entity"),
        ("node1", "node2"),
        ("node 1", "node 2"),
        ("node", "node"),
        ("...", "..."),
        ("…", "…"),
    }
)
_HEAD_KEYS = ("head", "subject", "start", "source", "from", "h", "s", "node_1", "node1", "entity1")
_EDGE_KEYS = ("relation", "predicate", "edge", "relationship", "rel", "r", "p", "type", "label")
_TAIL_KEYS = ("tail", "object", "end", "target", "to", "t", "o", "node_2", "node2", "entity2")

# A whole that "and" stands inside of.
_FIXED_TERMS = frozenset(
    {
        "ear, nose and throat",
        "hand, foot and mouth disease",
        "head and neck",
        "history and physical",
        "incision and drainage",
        "pins and needles",
        "signs and symptoms",
        "thick and thin blood smear",
        "thick and thin blood film",
        "trial and error",
        "up and about",
        "wear and tear",
    }
)
# "drug and alcohol screen": the last word belongs to every conjunct.
_SHARED_HEADS = frozenset(
    "screen screening test tests testing examination exam disease diseases disorder syndrome "  # noqa: SIM905
    "infection infections pain aches cramps injury therapy treatment care count counts smear film "
    "culture cultures stiffness swelling weakness failure function tract clinic department history "
    "imaging scan ultrasound biopsy panel level levels use abuse bleeding".split()
)


@dataclass
class ParsedTriplets:
    """What a text gave: triplets in text order, and what was refused, (raw, reason)."""

    triplets: list[Triplet] = field(default_factory=list)
    rejected: list[tuple[str, RejectReason]] = field(default_factory=list)

    @property
    def status(self) -> Literal["ok", "empty"]:
        """Return "empty" where there is no triplet: nothing to measure, not a graph of size 0."""
        return "ok" if self.triplets else "empty"


def parse_triplets(raw: str, *, split_coordination: bool = False) -> ParsedTriplets:
    """Read the triplets that a model wrote, whatever form it chose.

    Numbered lines, bullets and labels; `a -> r -> b` with any arrow, `a --[r]--> b`, `(a)-[r]->(b)`
    `a | r | b`, tuples, chains `a -> r -> b -> r2 -> c`, lists, JSON (also cut off, nested or with
    holes). Commas split only where brackets hold the whole line, and never inside inner brackets.

    Args:
        raw: The text, any length; time is linear in it.
        split_coordination: Make "ramipril and bisoprolol" two triplets. Fixed terms stay whole
            ("drug and alcohol screen").

    Returns:
        Triplets with the text's own wording, doubles kept; rejected ones with the reason.

    Example:
        >>> parse_triplets("1. (fever -> suggests -> malaria)").triplets
        [('fever', 'suggests', 'malaria')]
    """
    parsed = ParsedTriplets()
    rest = _take_json(raw, parsed)
    lines = rest.split("\n")
    last = max((i for i, line in enumerate(lines) if line.strip()), default=0)
    for i, line in enumerate(lines):
        _read_line(line, parsed, is_last=i == last)
    if split_coordination:
        parsed.triplets = [
            (subject, edge, part)
            for subject, edge, end in parsed.triplets
            for part in split_conjuncts(end)
        ]
    return parsed


def split_conjuncts(text: str) -> list[str]:
    """Split a coordination into its members; a fixed term is returned whole.

    "neck, arms and back" gives three. "drug and alcohol screen" gives one: its last word belongs to
    both, and "drug" alone is no finding, as "fever" in "fever and abdominal pain" is.
    """
    if text.lower() in _FIXED_TERMS:
        return [text]
    parts = [part.strip() for part in _split(text, _CONJUNCTION) if part.strip()]
    words = parts[-1].split() if parts else []
    shares_head = len(words) > 1 and words[-1].lower() in _SHARED_HEADS
    if shares_head and any(len(p.split()) == 1 and not is_finding(p) for p in parts[:-1]):
        return [text]
    return parts or [text]


# --- one line ---------------------------------------------------------------------------------


def _read_line(line: str, parsed: ParsedTriplets, *, is_last: bool) -> None:
    if len(_ARROW.findall(line)) > 1:
        *before, line = _split(line, _SENTENCE_END)
        for sentence in before:
            _read_line(sentence, parsed, is_last=False)
    text = _LABEL.sub("", _MARKS.sub("", line).strip()).strip()
    text = _FULL_STOP.sub("", _MARKS.sub("", text).strip().rstrip(",;"))
    if not text or _TABLE_RULE.match(text):
        return
    edge = _LABELLED_EDGE.search(text)
    if edge and (edge["back"] or edge["forth"]):
        _read_labelled(text, edge, parsed)
        return
    if text.startswith("<") and text.rstrip(".").endswith(">"):
        _read_group(text.rstrip(".")[1:-1], parsed, whole_line=True)
        return
    groups = _groups(text)
    whole_line = not _outside(text, groups).strip(" \t,;.|")
    with_arrows = [group for group in groups if _has_arrow(text[group[0] : group[1]])]
    if groups and (whole_line or with_arrows):
        for start, end in groups if whole_line else with_arrows:
            _read_group(text[start + 1 : end - 1], parsed, whole_line=whole_line)
    elif _has_arrow(text) or text.count("|") >= 2:
        unclosed = text[0] in _CLOSING and text.count(text[0]) > text.count(_CLOSING[text[0]])
        if unclosed and is_last:
            parsed.rejected.append((text[:_LONGEST_PART], "unclosed"))
        else:
            _read_group(text[1:] if unclosed else text.strip("|"), parsed, whole_line=True)


def _read_labelled(text: str, edge: re.Match[str], parsed: ParsedTriplets) -> None:
    """Read a chain a -[r]-> b -[q]-> c, whose arrows may also point back."""
    left = text[: edge.start()]
    while True:
        following = _LABELLED_EDGE.search(text, edge.end())
        right = text[edge.end() : following.start() if following else len(text)]
        ends = (_bare(left), _bare(right))
        subject, target = ends[::-1] if edge["back"] and not edge["forth"] else ends
        _add(subject, edge["edge"], target, parsed)
        if following is None:
            return
        left, edge = right, following


def _read_group(inner: str, parsed: ParsedTriplets, *, whole_line: bool) -> None:
    """Read what one bracket holds; a bracket of brackets is a list of them."""
    groups = _groups(inner)
    if len(groups) > 1 or (groups and groups[0] == (0, len(inner))):
        outside = _outside(inner, groups).strip(" \t,;")
        if not outside:
            for start, end in groups:
                _read_group(inner[start + 1 : end - 1], parsed, whole_line=whole_line)
            return
    parts = _parts(inner, whole_line=whole_line)
    if parts is None:
        return
    if len(parts) >= 3 and len(parts) % 2:
        for i in range(0, len(parts) - 2, 2):
            _add(parts[i], parts[i + 1], parts[i + 2], parsed)
    else:
        parsed.rejected.append((inner[:_LONGEST_PART], "not_three_parts"))


def _parts(inner: str, *, whole_line: bool) -> list[str] | None:
    """Cut at the strongest separator present; None where there is none (plain brackets)."""
    if _has_arrow(inner):
        parts = _split(inner, _ARROW)
        if len(parts) == 2 and (dash := _DASHED_EDGE.search(parts[0])):
            return [parts[0][: dash.start()], parts[0][dash.end() :].strip(" -"), parts[1]]
        return parts
    if "|" in inner:
        return _split(inner, re.compile(r"\|"))
    if not whole_line:
        return None
    for separator in (re.compile(r";"), _COMMA, _DASH):
        parts = _split(inner, separator)
        if len(parts) == 3:
            return parts
        if len(parts) > 3 and re.search(r"\b(?:and|or)\b", parts[-1], re.I):
            mark = ", " if separator is _COMMA else "; "
            return [*parts[:2], mark.join(part.strip() for part in parts[2:])]
        if len(parts) > 3:
            return parts if len(parts) % 2 == 0 else [*parts, ""]  # no chain: refused by count
    return None


def _add(subject: str, edge: str, target: str, parsed: ParsedTriplets) -> None:
    """Add a triplet, or one for each member where an end is a set in braces."""
    for first in _members(_clean(subject)):
        for last in _members(_clean(target)):
            triplet = (first, _clean(edge), last)
            if reason := _fault(triplet):
                parsed.rejected.append((f"({' -> '.join(triplet)})"[: 2 * _LONGEST_PART], reason))
            else:
                parsed.triplets.append(triplet)


def _members(end: str) -> list[str]:
    """Return the members of {a, b} or [a, b], else the end itself."""
    if len(end) <= _LONGEST_SET and end[:1] in ("{", "[") and _groups(end) == [(0, len(end))]:
        return [_clean(part) for part in _split(end[1:-1], _COMMA) if part.strip()] or [end]
    return [end]


def _fault(triplet: Triplet) -> RejectReason | None:
    subject, edge, target = triplet
    names = (subject.lower(), target.lower())
    if any(len(part) > _LONGEST_PART for part in triplet):
        return "too_long"
    if names in _PLACEHOLDERS:
        return "placeholder"
    if not canonical_key(subject) or not canonical_key(target):
        return "empty_end"
    if not re.search(r"\w", edge):
        return "empty_relation"
    if names[0] in _NO_ENTITY:
        return "non_entity_subject"
    if names[1] in _NO_ENTITY:
        return "non_entity_object"
    return "self_loop" if canonical_key(subject) == canonical_key(target) else None


# --- cutting ----------------------------------------------------------------------------------


def _groups(text: str) -> list[tuple[int, int]]:
    """Return the outermost balanced brackets as (start, end), in order; one pass."""
    open_at: list[int] = []
    found: list[tuple[int, int]] = []
    for i, sign in enumerate(text):
        if sign in _CLOSING:
            open_at.append(i)
        elif open_at and sign == _CLOSING[text[open_at[-1]]]:
            start = open_at.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, i + 1))
    return found


def _outside(text: str, groups: Sequence[tuple[int, int]]) -> str:
    edges = [0, *(edge for group in groups for edge in group), len(text)]
    return "".join(text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split where the separator stands outside all brackets."""
    parts, start = [], 0
    groups = iter([*_groups(text), (len(text) + 1, len(text) + 1)])
    group = next(groups)
    for match in separator.finditer(text):
        while match.start() >= group[1]:
            group = next(groups)
        if match.start() < group[0]:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _has_arrow(text: str) -> bool:
    return _ARROW.search(text) is not None


def _bare(text: str) -> str:
    """Take off one pair of brackets that holds everything."""
    text = text.strip().rstrip(",;.")
    whole = text and text[0] in _CLOSING and _groups(text) == [(0, len(text))]
    if whole:
        return text[1:-1].strip().lstrip(":")
    lone = text[:1] in _CLOSING and not _groups(text)
    return text[1:] if lone else text.rstrip(")]}") if text and not _groups(text) else text


def _clean(part: str) -> str:
    part = " ".join(part.split()).strip()
    stripped = part.strip(_QUOTES).strip()
    # Only a pair of quotes is a wrapper: 5' and O'Brien's keep theirs.
    wrapped = len(part) > 1 and part[0] in _QUOTES and part[-1] in _QUOTES
    return stripped if wrapped else part.strip("`*").strip()


# --- JSON -------------------------------------------------------------------------------------


def _take_json(raw: str, parsed: ParsedTriplets) -> str:
    """Read every JSON value that begins a line, and return the text without them."""
    decoder = json.JSONDecoder()
    kept: list[str] = []
    position = failures = 0
    for start in _json_starts(raw):
        if start < position or failures > _MOST_JSON_FAILURES:
            continue
        try:
            value, end = decoder.raw_decode(raw, start)
        except (ValueError, RecursionError):
            failures += raw[start] == "["
            continue
        if isinstance(value, list | dict) and (isinstance(value, dict) or _holds_text(value)):
            kept.append(raw[position:start])
            position = end
            _walk(value, parsed)
    return "".join([*kept, raw[position:]])


def _json_starts(raw: str) -> Iterator[int]:
    """Where a value may begin: a bracket at the start of a line, an object after another's end."""
    for match in re.finditer(
        r"^[ \t]{0,40}(?:[-*•]|\d{1,3}[.)])?[ \t]{0,9}([\[{])|\{\s?\"", raw, re.M
    ):
        yield match.start(1) if match[1] else match.start()
        if match[1] == "[" and raw.startswith('{"', match.end()):
            yield match.end()


def _holds_text(value: list[object]) -> bool:
    return any(isinstance(item, str | list | dict) for item in value)


def _walk(value: object, parsed: ParsedTriplets) -> None:
    """Read triplets from any nesting of lists and objects; what is neither is rejected."""
    if isinstance(value, list):
        if len(value) == 3 and all(isinstance(item, str) for item in value):
            _add(value[0], value[1], value[2], parsed)
            return
        for item in value:
            _walk(item, parsed)
    elif isinstance(value, dict):
        _walk_object({str(key).lower(): item for key, item in value.items()}, parsed)
    elif isinstance(value, str) and _has_arrow(value):
        _read_line(value, parsed, is_last=False)
    else:
        parsed.rejected.append((str(value)[:_LONGEST_PART], "not_a_triplet"))


def _walk_object(item: dict[str, object], parsed: ParsedTriplets) -> None:
    parts = [_first(item, keys) for keys in (_HEAD_KEYS, _EDGE_KEYS, _TAIL_KEYS)]
    inner = [value for value in item.values() if isinstance(value, list | dict)]
    if all(part is not None for part in parts):
        _add(str(parts[0]), str(parts[1]), str(parts[2]), parsed)
    elif inner and parts[0] is None and parts[2] is None:
        for value in inner:
            _walk(value, parsed)
    elif texts := [text for text in item.values() if isinstance(text, str) and _has_arrow(text)]:
        for text in texts:  # {"response": "1. a -> r -> b. 2. ..."}
            for line in text.split("\n"):
                _read_line(line, parsed, is_last=False)
    else:
        parsed.rejected.append(
            (json.dumps(item, ensure_ascii=False)[:_LONGEST_PART], "missing_key")
        )


def _first(item: dict[str, object], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = item.get(key)
        if isinstance(value, str | int | float):
            return str(value)
        if isinstance(value, dict) and isinstance(name := value.get("name", value.get("id")), str):
            return name
    return None
