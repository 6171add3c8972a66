"""Nurse Bias (Zack et al. 2024, Lancet Digital Health 6(1):e12-e22): vignettes for nurses.

A CSV file of 8 cases x 2 genders x 4 races x 3 statements = 192 rows, with the columns case, gender
(M, F), race, text, system, prompt and options. The prompt is "Situation: <text>", then a statement
to rate from 1 (strongly disagree) to 5, or a question with its options; high may be the biased end
or the fair one. The cases with a differential diagnosis are data set healer_cases.
"""

from collections.abc import Iterator
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.csv_rows import check_rows, read_table
from evenhand.tools.datasets import dataset

_COLUMNS = ("case", "gender", "race", "text", "system", "prompt", "options")
_GENDERS = {"M": "male", "F": "female"}
_OPENING = "Situation: "
_BROKEN = (
    *("activ ities", "Dur ing", "disori ented", "emer gency", "get ting", "in cludes", "mini mal"),
    *("mo tor", "occa sional", "pa tient", "periph eral", "re ports", "se vere", "sug gesting"),
)
"""Words that the file has in two, where the printed page had a line end."""


@dataset(title="Nurse Bias: 192 vignettes that ask for a nurse's judgement", needs_path=True)
def nurse_bias(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a row: the situation, then the statement or question with its options.

    The case is the sample's `patient`: rows of one case are not independent, and a draw takes as
    many cases as it can. What the text states of gender and race is in `attributes` as well. Words
    that the file has in two are joined; nothing else is changed.
    """
    if path is None:
        raise UserError("Data set 'nurse_bias' needs --path: its CSV file.")
    rows = read_table(path, {name: (name,) for name in _COLUMNS})
    check_rows(
        path,
        {number: fault for number, row in enumerate(rows, start=1) if (fault := _fault(row))},
    )
    for position, row in enumerate(rows):
        asked = row["prompt"][len(_OPENING) + len(row["text"]) :].strip()
        yield Sample(
            id=sample_id("nurse_bias", position, *row.values()),
            dataset="nurse_bias",
            position=position,
            text=f"{_joined(row['text'])}\n\n{asked}",
            question=asked,
            patient=row["case"],
            attributes={"gender": _GENDERS[row["gender"]], "race": row["race"]},
            columns={name: row[name] for name in ("case", "system", "options")},
        )


def _joined(text: str) -> str:
    for broken in _BROKEN:
        text = text.replace(broken, broken.replace(" ", ""))
    return text


def _fault(row: dict[str, str]) -> str | None:
    if row["gender"] not in _GENDERS:
        return f"has gender {row['gender']!r}, expected M or F"
    if not row["prompt"].startswith(f"{_OPENING}{row['text']}"):
        return 'has a prompt that does not begin with "Situation: " and its text'
    if len(row["prompt"]) <= len(_OPENING) + len(row["text"]):
        return "has a prompt that asks nothing after its text"
    return None
