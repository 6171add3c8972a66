"""MIMIC-IV-ED with the notes of MIMIC-IV-Note: a folder with the files as PhysioNet gives them.

Needs a licence of one's own. The folder holds, anywhere below it, as .csv or .csv.gz: triage and
edstays (ED module), patients (hosp module) and discharge (Note module); the columns are those of
the published schema, version 2.2. A discharge letter tells what nobody knew at triage, so it is
cut to the sections on what the patient brought: see triage_part.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.tools.column_kinds import as_number
from evenhand.tools.datasets import visit_dataset
from evenhand.tools.table_files import Row, column_names, read_rows
from evenhand.tools.visit_mapping import shipped_mapping
from evenhand.tools.visit_rows import FlowStep, VisitSource

COLUMNS = {
    "triage": (
        *("subject_id", "stay_id", "temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp"),
        *("pain", "acuity", "chiefcomplaint"),
    ),
    "edstays": (
        *("subject_id", "hadm_id", "stay_id", "intime", "outtime", "gender", "race"),
        *("arrival_transport", "disposition"),
    ),
    "patients": ("subject_id", "gender", "anchor_age", "anchor_year"),
    "discharge": ("note_id", "subject_id", "hadm_id", "note_seq", "text"),
}
_MADE = ("age", "race_group", "pain_score", "triage_note")
_RACES = (("white", "WHITE"), ("Black", "BLACK"), ("Hispanic", "HISPANIC"), ("Asian", "ASIAN"))
_NO_RACE = ("", "UNKNOWN", "UNABLE TO OBTAIN", "PATIENT DECLINED TO ANSWER")
_SECTION = re.compile(r"^[ \t]*([A-Z][A-Za-z /&'-]{2,40}):[ \t]*", re.MULTILINE)
_KNOWN_AT_TRIAGE = frozenset(
    {"history of present illness", "hpi", "past medical history", "pmh", "allergies",
     "social history", "family history"}
)  # fmt: skip
_COURSE = re.compile(
    r"(?:\b(?:in|on arrival (?:to|in)|upon arrival (?:to|in)|while in) the (?:ed|er|emergency)"
    r"|\bed course\b|\binitial (?:vitals|vs)\b|\bin the ed\b|\bon (?:the floor|transfer)\b"
    r"|\bupon arrival to the\b|\bon arrival to the\b|\blabs (?:were|notable|showed|significant)\b"
    r"|\b(?:ct|cxr|ekg|ecg|mri|x-?ray|ultrasound)\b[^.]*\b(?:showed|revealed|demonstrated|with)\b"
    r"|\b(?:was|were) (?:admitted|given|started on)\b)",
    re.IGNORECASE,
)


@visit_dataset(title="MIMIC-IV-ED with notes (your own licensed copy)", takes_folder=True)
def mimic_iv_ed(path: Path | None) -> VisitSource:
    """Return the emergency stays that have a triage, a patient and a discharge letter."""
    if path is None or not path.is_dir():
        raise UserError(
            "Data set 'mimic_iv_ed' needs --path: the folder with triage, edstays, patients and "
            "discharge as .csv or .csv.gz."
        )
    files = {name: _find(path, name) for name in COLUMNS}
    joined = _Joined(files)
    columns = (*dict.fromkeys((*COLUMNS["triage"], *COLUMNS["edstays"])), *_MADE)
    return VisitSource(
        "mimic_iv_ed", joined.rows, columns, shipped_mapping("mimic_iv_ed"), joined.links()
    )


def triage_part(letter: str) -> str:
    r"""Return what a discharge letter says that the triage could know.

    The sections on present illness, past history, allergies, social and family history; of the
    present illness only up to the first sentence on what the department did (its vitals, tests,
    treatment, admission).

    Example:
        >>> triage_part("History of Present Illness:\nFell at home. In the ED, CT was clear.\n"
        ...             "Brief Hospital Course:\nOperated.")
        'Fell at home.'
    """
    marks = list(_SECTION.finditer(letter))
    ends = [mark.start() for mark in marks[1:]] + [len(letter)]
    parts = []
    for mark, end in zip(marks, ends, strict=False):
        name = mark[1].strip().lower()
        if name not in _KNOWN_AT_TRIAGE:
            continue
        body = " ".join(letter[mark.end() : end].split())
        if name in ("history of present illness", "hpi"):
            parts.append(_before_course(body))
        elif body:
            parts.append(f"{mark[1].strip()}: {body}")
    return "\n".join(part for part in parts if part)


def _before_course(text: str) -> str:
    kept = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if _COURSE.search(sentence):
            break
        kept.append(sentence)
    return " ".join(kept)


@dataclass
class _Joined:
    """The four files as one table; small ones in memory, letters cut as they are read."""

    files: dict[str, Path]

    def __post_init__(self) -> None:
        self._stays = {row["stay_id"] or "": row for row in self._read("edstays")}
        self._patients = {row["subject_id"] or "": row for row in self._read("patients")}
        self._wanted = {row["hadm_id"] for row in self._stays.values() if row["hadm_id"]}
        self._notes = self._cut_letters()
        self._linked = [row for row in self._read("triage") if self._stay(row)]
        self._rows = [row for row in self._linked if self._letter(row)]

    def _read(self, name: str) -> Iterator[Row]:
        path = self.files[name]
        found = column_names(path)
        lacking = [column for column in COLUMNS[name] if column not in found]
        if lacking:
            raise UserError(
                f"{path.name}: no column {', '.join(lacking)}; expected MIMIC-IV's own columns: "
                f"{', '.join(COLUMNS[name])}."
            )
        return read_rows(path)

    def _cut_letters(self) -> dict[str, str]:
        letters: dict[str, str] = {}
        for row in self._read("discharge"):
            stay = row["hadm_id"]
            # Of several letters of a stay the first is the one that was written then.
            if stay in self._wanted and stay and stay not in letters:
                letters[stay] = triage_part(row["text"] or "")
        return letters

    def _stay(self, triage: Row) -> Row | None:
        stay = self._stays.get(triage["stay_id"] or "")
        known = stay and (stay["subject_id"] or "") in self._patients
        return stay if known else None

    def _letter(self, triage: Row) -> bool:
        stay = self._stay(triage)
        return bool(stay and stay["hadm_id"] in self._notes)

    def links(self) -> tuple[FlowStep, ...]:
        """Return the steps of the linkage."""
        read = len(self._stays)
        return (
            FlowStep("read", "emergency stays read", 0, read),
            FlowStep(
                "no_triage",
                "no triage, or no such patient",
                read - len(self._linked),
                len(self._linked),
            ),
            FlowStep(
                "no_letter",
                "no discharge letter (not admitted)",
                len(self._linked) - len(self._rows),
                len(self._rows),
            ),
        )

    def rows(self) -> Iterator[Row]:
        """Yield the linked stays with what is made of other columns."""
        for triage in self._rows:
            stay = self._stay(triage) or {}
            yield {
                **stay,
                **triage,
                "acuity": _whole(triage["acuity"]),
                "age": self._age(stay),
                "race_group": _race(stay["race"]),
                "pain_score": _pain(triage["pain"]),
                "triage_note": self._notes[stay["hadm_id"] or ""],
            }

    def _age(self, stay: Row) -> str | None:
        """Age at the stay: the patient's age in an anchor year, both shifted alike."""
        patient = self._patients[stay["subject_id"] or ""]
        age, year = as_number(patient["anchor_age"] or ""), as_number(patient["anchor_year"] or "")
        when = as_number((stay["intime"] or "")[:4])
        if age is None or year is None or when is None:
            return None
        return str(int(age + when - year))


def _whole(level: str | None) -> str | None:
    """Return level 3 for "3.0": the file has its levels as decimal numbers."""
    number = as_number(level or "")
    return level if number is None or not number.is_integer() else str(int(number))


def _race(race: str | None) -> str | None:
    name = (race or "").strip().upper()
    if name in _NO_RACE:
        return None
    return next((group for group, start in _RACES if name.startswith(start)), "other")


def _pain(pain: str | None) -> str | None:
    """Pain is free text: a number from 0 to 10 counts, "uta", "ok" or "13" are not recorded."""
    number = as_number(pain or "")
    return pain if number is not None and 0 <= number <= 10 else None


def _find(folder: Path, name: str) -> Path:
    for ending in (".csv", ".csv.gz"):
        found = sorted(folder.rglob(f"{name}{ending}"))
        if found:
            return found[0]
    raise UserError(f"{folder.name} has no {name}.csv or {name}.csv.gz; see docs/data.md.")
