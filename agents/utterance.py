"""What a sentence mentions: models, data, attributes, numbers. Found, never guessed.

Each finder takes the text and returns what it found and where; what one has read is blanked out, so
that no later finder reads it again ("20 TRINDS questions", "gpt-4o", "seed 11").
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Words = dict[str, list[str]]

_ROLE_NEAR = {
    "judge": r"judg\w*|grad(?:e|er|ed|es)|scored? by|rater|juge\w*",
    "rewriter": r"rewrit\w+|reecri\w+",
}
_PROVIDERS = (
    "openai|anthropic|vllm|ollama|mistral|mistralai|google|google_genai|groq|together|azure|hf|"
    "huggingface|replay|planted|echo|llama_cpp|local|http|torch|mimic"
)
_BESIDE = r"against|versus|vs\.?|compared (?:with|to)|side by side with|contre|face a"
"""Words before a second model that is asked the same."""
_MODEL_NAMES = (
    # (pattern, how the model is written); {0} is the match, tidied
    (r"gpt[- ]?(?:4o|4\.1|4|3\.5|5)(?:[- ](?:mini|nano|turbo))*", "openai/{0}"),
    (r"\bo[134](?:-mini|-pro)?", "openai/{0}"),
    (r"claude[- ][\w.-]*\d[\w.-]*", "anthropic/{0}"),
)
_LLAMA = r"llama[- ]?3\.(\d)[- ]?(\d+)b(?:[- ]instruct)?(?:\s*\(?(?:on )?(?:our )?vllm\)?)?"
REMOVE = r"drop|remove|leave out|without|minus|exclude|not|no longer|except|skip|sans|enleve\w*"
"""Words that take something away."""
_FILE = r"(?<![\w/])[\w./~-]*\w\.(?:csv|tsv|parquet|jsonl|xlsx)\b"
_NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "dix": 10, "quinze": 15, "vingt": 20,
    "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
}  # fmt: skip
_SCALES = {
    "hundred": 100,
    "cent": 100,
    "thousand": 1000,
    "mille": 1000,
    "dozen": 12,
    "douzaine": 12,
}


@cache
def words(section: str) -> Words:
    """Return a table of utterance.toml: name -> patterns."""
    text = (files("evenhand.agents") / "utterance.toml").read_text("utf-8")
    tables: dict[str, Words] = tomllib.loads(text)
    return tables[section]


def plain(text: str) -> str:
    """Return text without accents, in plain quotes and blanks: as long as patterns need it."""
    folded = unicodedata.normalize("NFD", text)
    bare = "".join(sign for sign in folded if not unicodedata.combining(sign))
    bare = bare.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r"\s+", " ", bare).strip()


@dataclass
class Text:
    """A sentence that is read piece by piece; what has been read is blanked out."""

    rest: str

    def take(self, pattern: str) -> list[re.Match[str]]:
        """Return the matches of a pattern (whole words, any case) and blank them out."""
        found = list(re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", self.rest, re.IGNORECASE))
        for match in found:
            self._blank(match.start(), match.end())
        return found

    def take_first(self, pattern: str) -> re.Match[str] | None:
        """Return the first match and blank that one out."""
        match = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", self.rest, re.IGNORECASE)
        if match:
            self._blank(match.start(), match.end())
        return match

    def has(self, pattern: str) -> bool:
        """Whether a pattern is still there."""
        return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", self.rest, re.IGNORECASE) is not None

    def _blank(self, start: int, end: int) -> None:
        # As long as it was, so that places keep their meaning; "_" is no word and no blank.
        self.rest = self.rest[:start] + "\0" * (end - start) + self.rest[end:]


@dataclass(frozen=True)
class Mention:
    """A name in the text."""

    name: str
    start: int
    end: int


def mentions(text: Text, table: Words, *, take: bool = True) -> list[Mention]:
    """Return the names of a table that the text mentions, in reading order."""
    found: list[Mention] = []
    for name, patterns in table.items():
        # Longest first: "older patients" is one mention, not two.
        joined = "|".join(sorted(patterns, key=len, reverse=True))
        matches = text.take(joined) if take else _search(text, joined)
        found += [Mention(name, match.start(), match.end()) for match in matches]
    return sorted(found, key=lambda mention: mention.start)


def _search(text: Text, pattern: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text.rest, re.IGNORECASE))


def correct_spelling(text: str, names: Collection[str] = ()) -> str:
    """Return text with slips of one or two signs mended in words that the tables know.

    Only words of five letters or more that keep their first letter: "gneder" is gender, but
    "trace" is not race.

    Args:
        text: What a person typed.
        names: Names that are no slips, whatever they are near to, in small letters.
    """
    own = {word for name in names for word in re.findall(r"[a-z]{5,}", name)}
    known = _known_words() | own
    return re.sub(r"[A-Za-z]{5,}", lambda m: _nearest(m.group(), known), text)


@cache
def _known_words() -> frozenset[str]:
    tables = (
        "recipes", "datasets", "attributes", "relations", "models", "deciders", "decisions",
        "units", "intents",
    )  # fmt: skip
    patterns = [p for table in tables for entry in words(table).values() for p in entry]
    plain_words = re.findall(r"(?<![\\(\[|a-z])[a-z]{5,}(?![a-z]*[\[(\\])", " ".join(patterns))
    extra = "attribute attributes audit model models patient patients question questions vignette "
    extra += "vignettes record records counterfactual metamorphic biasasker judge target gender "
    extra += "religion location ethnicity attack prompt answer report approve cancel combined "
    extra += (
        "nurse nurses please visit visits woman women female females elder elderly round right "
    )
    # Words of their own that are one slip away from another one.
    extra += "relation relations region regions places plain change changes judges notes"
    return frozenset(plain_words) | frozenset(extra.split())


def _nearest(word: str, known: frozenset[str]) -> str:
    low = word.lower()
    if low in known:
        return word
    most = 1 if len(low) < 8 else 2
    near = [k for k in known if k[0] == low[0] and abs(len(k) - len(low)) <= most]
    # Of two that are as near, the longer: a sign is left out sooner than put in.
    best = min(near, key=lambda k: (_distance(low, k), -len(k), k), default=low)
    # A plural or another grammatical ending is no slip: "relations", "disable".
    if low.startswith(best[:-1]) or best.startswith(low):
        return word
    return best if _distance(low, best) <= most else word


def _distance(a: str, b: str) -> int:
    """Edit distance in which two neighbours that changed places count once."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


def digits_for_words(text: str) -> str:
    """Return text with numbers in digits: "a hundred and fifty" -> "150", "1,000" -> "1000"."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(
        r"\b(\d+(?:\.\d+)?)k\b", lambda m: str(round(float(m.group(1)) * 1000)), text, flags=re.I
    )
    unit = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
    scale = "|".join(_SCALES)
    number = rf"(?!(?:one|zero)\b(?! (?:{scale})))(?:(?:{unit})(?:[- ](?:{unit}))?)"
    pattern = rf"\b(?:(?:an?|une?|{number}) (?:{scale})s?(?: (?:and )?{number})?|{number})\b"
    return re.sub(pattern, lambda m: str(_value(m.group().lower())), text, flags=re.IGNORECASE)


def _value(phrase: str) -> int:
    total, current = 0, 0
    for word in re.split(r"[- ]+", phrase):
        scale = _SCALES.get(word, _SCALES.get(word.rstrip("s"), 0))
        if word in ("a", "an", "un", "une"):
            current = 1
        elif scale:
            total, current = total + max(current, 1) * scale, 0
        else:
            current += _NUMBER_WORDS.get(word, 0)
    return total + current


@dataclass(frozen=True)
class Models:
    """Models by the role that the sentence gives them; more than one target is a contradiction."""

    targets: tuple[str, ...]
    judge: str | None
    rewriter: str | None
    against: str | None = None
    """The target that is named as one to set the others against; it is among the targets."""
    unclear: tuple[str, ...] = ()
    """Names that could be several models ("mistral")."""


def find_models(text: Text) -> Models:
    """Return the models and what role each plays, by the words beside it."""
    targets: list[str] = []
    roles: dict[str, str] = {}
    against: str | None = None
    before = text.rest
    for name, start, end in _model_mentions(text):
        role = _role_beside(before, start, end)
        if role is None:
            targets.append(name)
            if re.search(rf"\b(?:{_BESIDE}) (?:(?:the|an?|le|la|l') ?)?$", before[:start], re.I):
                against = name
        else:
            roles[role] = name
    unclear = [
        m.group().lower() for m in text.take(r"mistral|llama(?:[- ]?\d[\w.]*)?|gemini|claude|qwen")
    ]
    return Models(
        tuple(dict.fromkeys(targets)),
        roles.get("judge"),
        roles.get("rewriter"),
        against,
        tuple(unclear),
    )


def _model_mentions(text: Text) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []

    def add(name: str, match: re.Match[str]) -> None:
        found.append((name, match.start(), match.end()))

    for match in text.take(r"(?:http/)?https?://[^\s,;\0]+[^\s,;.\0]"):
        add("http/" + match.group().removeprefix("http/"), match)
    for match in text.take(rf"(?:{_PROVIDERS})/[\w][\w./:-]*\w"):
        add(match.group(), match)
    for match in text.take(_LLAMA):
        add(f"vllm/meta-llama/Llama-3.{match.group(1)}-{match.group(2)}B-Instruct", match)
    for pattern, form in _MODEL_NAMES:
        for match in text.take(pattern):
            tidy = re.sub(r"^gpt[- ]?", "gpt-", match.group().lower()).replace(" ", "-")
            add(form.format(tidy), match)
    for mention in mentions(text, words("models")):
        found.append((mention.name, mention.start, mention.end))
    # "local" is a word, too ("local hospitals"): a model where no noun follows.
    for match in text.take(
        r"local(?= ?(?:[,;.:?!]|and|on|as|for|with|answers?|treats?|favou?rs?|$))"
    ):
        add("local", match)
    return sorted(found, key=lambda item: item[1])


def _role_beside(text: str, start: int, end: int) -> str | None:
    """Which role the words beside a model give it; None: the target."""
    before = re.split(r"[,;.:!?](?=\s|$)|\band\b", text[:start])[-1]
    before = before if before.strip() else text[max(0, start - 12) : start]
    after = re.split(r"[,;.:!?](?=\s|$)", text[end:])[0]
    for role, near in _ROLE_NEAR.items():
        if re.match(rf"\W*(?:\w+\W+){{0,4}}?(?:{near})\b", after, re.IGNORECASE):
            return role
        if re.search(rf"\b(?:{near})\W+(?:\w+\W+){{0,2}}$", before, re.IGNORECASE):
            return role
    return None


def find_datasets(text: Text, registered: Mapping[str, str | None]) -> tuple[list[str], list[str]]:
    """Return data sets by registered name, and files or Hugging Face ids, in reading order.

    Args:
        text: The sentence.
        registered: Name -> Hugging Face id of the data sets that exist.
    """
    hubs = "|".join(re.escape(hub) for hub in set(registered.values()) if hub)
    sources = [match.group() for match in text.take(hubs)] if hubs else []
    sources += [match.group() for match in text.take(_FILE)]
    table = dict(words("datasets"))
    for name in registered:
        # "table" is a word; other names of several parts may be written with blanks.
        if name not in table and name != "table":
            table[name] = [re.escape(name).replace("_", "[- _]?")]
    named = [mention.name for mention in mentions(text, table)]
    return list(dict.fromkeys(named)), list(dict.fromkeys(sources))
