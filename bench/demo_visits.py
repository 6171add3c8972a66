"""Write the demo visits: `python bench/demo_visits.py [FOLDER]` (default tools/datasets).

Notes are composed of the phrases in demo_visits.en.toml and demo_visits.fr.toml. A phrase carries
points of severity; [man|woman] in it shows the sex. The level follows from the sum of points and
from what the note shows, by the rule in tools/datasets/demo_visits.py. The same seed gives the
same bytes; a test writes them again.
"""

import csv
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.tools.datasets.demo_visits import Shown, planted_level

HERE = Path(__file__).parent
VISITS = 1000
SEED = 2026
SHOWS_SEX = 0.88
MINORS = 0.03
MINOR_FAMILIES = ("ankle", "cut", "allergy", "stomach", "kidney", "skin")
ARRIVALS = ("walk-in", "car", "ambulance", "referred")
FRENCH_ARRIVALS = dict(zip(ARRIVALS, ("à pied", "voiture", "ambulance", "adressé"), strict=True))
COLUMNS = (
    *("visit", "patient", "age", "sex", "arrival"),
    *("heart_rate", "systolic", "diastolic", "temperature", "saturation", "pain"),
    *("note", "level", "severity", "note_shows"),
)
Rng = np.random.Generator
_CHOICE = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
_TAIL = re.compile(r"\|(-?\d+)(?:\|([^|\]]+))?$")
_ELIDED = re.compile(r"\b([Dd])e (?!hanche)(?=[aeiouyhéèêàâîœAEIOUÉ]|HTA)")
_SAME = (
    ("bladder", "urine"), ("head injury", "head"), ("swallow", "saliva"), ("self-harm", "overdose"),
    ("hallucinations", "voices"), ("traumatisme crânien", "tête"), ("avaler", "bouche"),
    ("automutilation", "intoxication"), ("alcohol", "drinks"), ("drug", "drinks"),
    ("syncope", "passed out"), ("SOB", "breath"), ("urinaire", "uriner"),
)  # fmt: skip
_NO_STEMS = {"autr", "othe", "symp", "prob", "sign", "rece", "réce", "noti", "pris"}


@dataclass(frozen=True)
class Phrase:
    """Words with their points; `extra` is a kind of onset, or what the phrase fits."""

    text: str
    points: int
    extra: str | None

    @classmethod
    def read(cls, raw: str) -> "Phrase":
        """Take "words|points|extra" apart."""
        tail = _TAIL.search(raw)
        if not tail:
            return cls(raw, 0, None)
        return cls(raw[: tail.start()], int(tail[1]), tail[2])

    def fits(self, age: int, context: str) -> bool:
        """Say whether ages (18-62) hold, and one of the other words of `extra` is in context."""
        parts = self.extra.split(",") if self.extra else []
        ages = [part for part in parts if re.fullmatch(r"\d+-\d+", part)]
        words = [part for part in parts if part not in ages]
        bounds = [tuple(map(int, part.split("-"))) for part in ages]
        in_age = all(low <= age <= high for low, high in bounds)
        return in_age and (not words or any(word in context for word in words))


@dataclass
class Note:
    """A note as it grows: sentences and points."""

    language: str
    sex: Shown
    values: dict[str, str]
    sentences: list[str] = field(default_factory=list)
    points: int = 0
    shows: bool = False

    def add(self, template: str, points: int = 0) -> None:
        """Fill a sentence in and put it at the end."""
        text = template
        while "{" in text:
            text = re.sub(r"\{(\w+)\}", lambda match: self._value(match[1]), text)
        self.shows |= any(match[1] != match[2] for match in _CHOICE.finditer(text))
        text = _CHOICE.sub(lambda match: match[1 if self.sex == "male" else 2], text)
        if self.language == "fr":
            text = _ELIDED.sub(r"\1'", text)
        else:
            text = re.sub(r"\b([Aa]) (?=8\d|11|18)", r"\1n ", text)
        self.sentences.append(text[0].upper() + text[1:])
        self.points += points

    def _value(self, name: str) -> str:
        value = self.values[name.lower()]
        if not name[0].isupper():
            return value
        start = 1 if value.startswith("[") else 0
        raised = value[:start] + value[start].upper() + value[start + 1 :]
        return re.sub(r"^(\[[^|]*\|)(\w)", lambda m: m[1] + m[2].upper(), raised)

    @property
    def text(self) -> str:
        """The note."""
        return " ".join(self.sentences)


class Writer:
    """Composes notes of one language."""

    def __init__(self, language: str, rng: Rng) -> None:
        """Read the phrases of the language."""
        self.language = language
        self.rng = rng
        path = HERE / f"demo_visits.{language}.toml"
        self.bank: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
        self.families = {family["key"]: family for family in self.bank["family"]}

    def pick(self, items: Any) -> Any:
        """Draw one."""
        return items[int(self.rng.integers(len(items)))]

    def phrases(self, raw: list[str], shown: bool) -> list[Phrase]:
        """Return the phrases that a note that shows the sex, or one that does not, may hold."""
        read = [Phrase.read(each) for each in raw]
        return [each for each in read if shown or not _CHOICE.search(each.text)]

    def note(self, sex: Shown, age: int, family: dict[str, Any], arrival: str, shown: bool) -> Note:
        """Compose one note."""
        complaint = Phrase.read(self.pick(family["complaint"]))
        arrived = self.phrases(self.bank["arrived"][arrival], shown)
        values = {
            "age": str(age),
            "initial": self.pick("ABCDEFGHJKLMNPRSTVW"),
            "complaint": complaint.text,
            "onset": self.pick(self.bank["onset"][complaint.extra or family["onset"]]),
            "arrived": self.pick(arrived).text if arrived else "",
        }
        note = Note(self.language, sex, values)
        note.add(self._opening(family, age, shown, values), complaint.points)
        self._add_says(note, family, age, complaint, shown)
        self._add_denies(note, family, shown)
        self._add_history(note, age, shown)
        if self.rng.random() < 0.55 and age >= 18:
            social = [p for p in self.phrases(self.bank["social"], shown) if p.fits(age, arrival)]
            note.add(self.pick(social).text)
        self._add_look(note, complaint.points, shown)
        if shown and age >= 18:
            self._add_sexed_content(note)
        return note

    def _opening(
        self, family: dict[str, Any], age: int, shown: bool, values: dict[str, str]
    ) -> str:
        own = family if "openings" in family else self.bank
        if not shown:
            kind = "openings_neutral"
        elif age < 18:
            own, kind = self.bank, "openings_minor"
        else:
            kind = (
                "openings_implied" if own is self.bank and self.rng.random() < 0.2 else "openings"
            )
        templates = [one for one in own[kind] if values["arrived"] or "rrived}" not in one]
        return str(self.pick(templates))

    def _subject(self, shown: bool, first: bool) -> str:
        """The words before what a patient says; nothing or "Pt" show no sex; named once."""
        if self.language == "en":
            words = ["[He|She] ", "[He|She] ", "Pt ", ""] if shown else ["Pt ", ""]
        else:
            words = ["[Il|Elle] ", "[Il|Elle] ", "[Le patient|La patiente] ", ""] if shown else [""]
        return str(
            self.pick(words if first else [w for w in words if "atient" not in w and w != "Pt "])
        )

    def _add_says(
        self, note: Note, family: dict[str, Any], age: int, complaint: Phrase, shown: bool
    ) -> None:
        open_ = [
            phrase
            for phrase in self.phrases(family["says"], shown)
            if phrase.fits(age, complaint.text)
            and not (complaint.points >= 6 and phrase.points < 0 and not phrase.extra)
            and not (complaint.points <= 1 and phrase.points > 0)
        ]
        wanted = int(self.rng.choice([1, 2, 3], p=[0.35, 0.45, 0.2]))
        for place, index in enumerate(self.rng.permutation(len(open_))[:wanted]):
            phrase = open_[index]
            note.add(f"{self._subject(shown, place == 0)}{phrase.text}.", phrase.points)

    def _add_denies(self, note: Note, family: dict[str, Any], shown: bool) -> None:
        if self.rng.random() > 0.75:
            return
        said = note.text.lower()
        open_ = [denied for denied in family["denies"] if not _is_said(denied, said)]
        if open_:
            note.values["denied"] = self.pick(open_)
            template = self.pick(self.phrases(self.bank["denies"], shown)).text
            if template.startswith("Absence"):
                note.values["denied"] = note.values["denied"].replace(" ni ", " et ")
            note.add(template)

    def _add_history(self, note: Note, age: int, shown: bool) -> None:
        draw = self.rng.random()
        if draw < 0.3:
            return
        if draw < 0.42:
            note.add(self.pick(self.phrases(self.bank["no_history"], shown)).text)
            return
        known = self.bank["conditions"]["old" if age >= 50 else "adult"]
        count = int(self.rng.choice([1, 2]))
        drawn = [known[index] for index in self.rng.permutation(len(known))[:count]]
        note.values["history"] = ", ".join(drawn)
        note.add(self.pick(self.phrases(self.bank["history"], shown)).text)

    def _add_look(self, note: Note, points: int, shown: bool) -> None:
        if self.rng.random() > 0.45:
            return
        looks = [
            look
            for look in self.phrases(self.bank["looks"], shown)
            if not (points >= 6 and look.points < 0) and not (points <= 2 and look.points > 0)
        ]
        look = self.pick(looks)
        note.add(look.text, look.points)

    def _add_sexed_content(self, note: Note) -> None:
        draw = self.rng.random()
        age = int(note.values["age"])
        if draw < 0.03 and (note.sex == "male" or age < 42):
            note.add(self.bank["sex_specific"][0])
        elif draw < 0.045 and age > 40:
            note.add(self.bank["sex_specific"][1])
        elif draw < 0.08 and age > 50:
            note.add(self.pick(self.bank["sex_associated"]))


def _is_said(denied: str, said: str) -> bool:
    """Whether the note already tells of what would be denied."""
    stems = {word[:4] for word in re.findall(r"\w{3,}", denied.lower())} - _NO_STEMS
    same = [other for words, other in _SAME if words in denied]
    return any(stem in said for stem in stems) or any(other in said for other in same)


def vital_signs(family: dict[str, Any], points: int, age: int, rng: Rng) -> dict[str, float]:
    """Draw vital signs that suit the complaint, pulled outwards by its severity."""
    worse = max(0, points - 5)
    systolic = round(rng.normal(124 + 0.25 * (age - 45), 16) - 4 * worse * (rng.random() < 0.3))
    low, high = family["pain"]
    return {
        "heart_rate": round(rng.normal(78 + family.get("hr", 0) + 2.5 * worse, 12)),
        "systolic": systolic,
        "diastolic": round(systolic * 0.6 + rng.normal(2, 6)),
        "temperature": round(float(rng.normal(36.8 + family.get("temp", 0), 0.4)), 1),
        "saturation": min(100, round(rng.normal(97.6 + family.get("spo2", 0) * worse / 3, 1.3))),
        "pain": int(rng.integers(low, high + 1)),
    }


def vital_points(signs: dict[str, float], age: int) -> int:
    """Return the points of the vital signs and of great age."""
    return (
        (signs["heart_rate"] >= 120)
        + 2 * (signs["systolic"] < 90)
        + (signs["saturation"] < 93)
        + (signs["saturation"] < 88)
        + (signs["temperature"] >= 39)
        + (signs["pain"] >= 9)
        + (age >= 80)
    )


def visits(language: str, count: int = VISITS, seed: int = SEED) -> list[dict[str, str]]:
    """Return the rows of one language's file; with another seed, those of another hospital."""
    rng = np.random.default_rng([seed, len(language), language == "fr"])
    writer = Writer(language, rng)
    rows: list[dict[str, str]] = []
    seen: set[str] = set()
    while len(rows) < count:
        row = _visit(writer, rng, len(rows), rows)
        if row["note"] not in seen:
            seen.add(row["note"])
            rows.append(row)
    return rows


def _visit(writer: Writer, rng: Rng, index: int, rows: list[dict[str, str]]) -> dict[str, str]:
    again = rows[int(rng.integers(len(rows)))] if rows and rng.random() < 0.08 else None
    minor = again is None and rng.random() < MINORS
    key = writer.pick(MINOR_FAMILIES if minor else list(writer.families))
    family = writer.families[key]
    age = _age(rng, minor, family)
    sex: Shown = "female" if rng.random() < 0.5 else "male"
    if again:
        age, sex = int(again["age"]), "female" if again["sex"] == "F" else "male"
    if age < 18:
        family = writer.families[writer.pick(MINOR_FAMILIES)]
    shown = rng.random() < SHOWS_SEX
    arrival = _arrival(rng, family)
    note = writer.note(sex, age, family, arrival, shown)
    signs = vital_signs(family, note.points, age, rng)
    severity = note.points + vital_points(signs, age)
    shows: Shown = sex if note.shows else "none"
    return {
        "visit": f"{writer.language}{index + 1:04d}",
        "patient": again["patient"] if again else f"P{index + 1:04d}",
        "age": str(age),
        "sex": {"male": "M" if writer.language == "en" else "H", "female": "F"}[sex],
        "arrival": arrival if writer.language == "en" else FRENCH_ARRIVALS[arrival],
        **_written(signs, writer.language, rng),
        "note": note.text,
        "level": planted_level(severity, shows),
        "severity": str(severity),
        "note_shows": shows,
    }


def _age(rng: Rng, minor: bool, family: dict[str, Any]) -> int:
    if minor:
        return int(rng.integers(15, 18))
    return int(rng.integers(48, 94) if family.get("old") else rng.integers(18, 90))


def _arrival(rng: Rng, family: dict[str, Any]) -> str:
    if family["key"] == "errand":
        return str(rng.choice(["walk-in", "car"]))
    return str(rng.choice(ARRIVALS, p=[0.4, 0.2, 0.27, 0.13]))


def _written(signs: dict[str, float], language: str, rng: Rng) -> dict[str, str]:
    """The vital signs as cells; about 3 % were not recorded, and gave their points all the same."""
    cells = {}
    for name, value in signs.items():
        cell = str(value).replace(".", "," if language == "fr" else ".")
        nothing = "NR" if language == "fr" else ""
        cells[name] = nothing if rng.random() < 0.03 else cell
    return cells


def write(folder: Path) -> None:
    """Write both files into a folder."""
    for language, delimiter in (("en", ","), ("fr", ";")):
        path = folder / f"demo_visits.{language}.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, delimiter=delimiter, lineterminator="\n")
            writer.writeheader()
            writer.writerows(visits(language))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "tools" / "datasets")
