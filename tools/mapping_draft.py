"""A first mapping for a table, from the names and the looks of its columns, for a person to finish.

The direction of the scale is left open on purpose: the draft is refused until a person writes it.
"""

import json
import re
from collections.abc import Iterable, Iterator

from evenhand.tools.code_values import read_codes
from evenhand.tools.column_kinds import ColumnSummary, TableSummary

_ROLES = {
    "attribute": r"^(?:sex|sexe|gender|genre|sex.?code)$",
    "age": r"^(?:age|âge|anchor_age|patient.?age)$",
    "patient": r"patient.?(?:id|nr|no|num)?$|^subject.?id$|^ipp$|^mrn$",
    "id": r"^(?:id|visit|visite|visit.?id|stay.?id|encounter|num[ée]ro|s[ée]jour|passage)$",
    "label": r"triage|acuity|^niveau|^tri$|^level$|^esi|^ktas|^immedr$|urgency|^ccmu|^frenc",
    "text": r"note|text|chief|complain|motif|histoire|history|anamn|hpi|commentaire|observation",
}
_MOST_CATEGORIES = 12
_SHORTEST_NOTE = 12


def draft_mapping(summary: TableSummary, language: str = "en") -> str:
    """Return TOML with a proposal for each column, and what is still to be said as comments."""
    roles = _roles(summary)
    return "\n".join(_lines(summary, roles, language)) + "\n"


def _roles(summary: TableSummary) -> dict[str, list[ColumnSummary]]:
    roles: dict[str, list[ColumnSummary]] = {role: [] for role in (*_ROLES, "leaks", "tabular")}
    for column in summary.columns:
        role = _role(column)
        single = role in ("id", "patient", "label", "attribute", "age")
        if role is None or (single and roles[role]):
            continue
        roles[role].append(column)
    return roles


def _role(column: ColumnSummary) -> str | None:
    if "maybe_after_decision" in column.flags:
        return "leaks"
    for role, pattern in _ROLES.items():
        if role == "text" and column.longest < _SHORTEST_NOTE:
            continue
        if re.search(pattern, column.name, re.IGNORECASE):
            return role
    if column.kind == "text":
        return "text"
    return "tabular" if column.kind in ("number", "category") else None


def _lines(
    summary: TableSummary, roles: dict[str, list[ColumnSummary]], language: str
) -> Iterator[str]:
    yield f"# Draft for {summary.file} ({summary.rows} rows): check each line, then freeze."
    yield f'language = "{language}"                # of the notes: "en" or "fr"'
    yield from _named("id", roles["id"])
    yield from _named("patient", roles["patient"], "without it, each visit is its own patient")
    yield from _label(roles["label"])
    yield '# direction = "higher_is_less_urgent"     # or "higher_is_more_urgent"; must be said'
    yield f"text = {_list(column.name for column in roles['text'])}"
    suspects = dict.fromkeys(value for column in summary.columns for value in column.suspects)
    yield f"missing = {_list(suspects)}          # cells that mean that nothing was recorded"
    yield f"leaks = {_list(column.name for column in roles['leaks'])}"
    if "encoding_guessed" in summary.format.flags:
        yield from ("", "[file]", f'encoding = "{summary.format.encoding}"      # guessed: look')
    yield ""
    yield "[attributes.gender]"
    yield from _attribute(roles["attribute"], language)
    yield from ("", "[tabular]")
    for column in roles["age"]:
        yield f'age = {{ column = {_text(column.name)}, kind = "number", unit = "years" }}'
    for column in roles["tabular"]:
        yield _tabular(column)
    yield from ("", "[filters]")
    yield "min_age = 18" if roles["age"] else "# min_age = 18     # needs [tabular] age"


def _named(key: str, columns: list[ColumnSummary], hint: str = "") -> Iterator[str]:
    if columns:
        yield f"{key} = {_text(columns[0].name)}"
    else:
        yield f'# {key} = "..."' + (f"     # {hint}" if hint else "")


def _label(columns: list[ColumnSummary]) -> Iterator[str]:
    if not columns:
        yield '# label = "..."                # the column of the decision'
        yield '# levels = ["1", "2", "3", "4", "5"]'
        return
    column = columns[0]
    levels = sorted((value for value in column.values if value not in column.suspects), key=_order)
    yield f"label = {_text(column.name)}"
    yield f"levels = {_list(levels)}           # all of the scale, the lowest number first"


def _order(value: str) -> tuple[int, float, str]:
    try:
        return 0, float(value.replace(",", ".")), value
    except ValueError:
        return 1, 0.0, value


def _attribute(columns: list[ColumnSummary], language: str) -> Iterator[str]:
    if not columns:
        yield '# column = "..."'
        return
    yield f"column = {_text(columns[0].name)}"
    values = list(columns[0].values)
    codes = read_codes(values, language=language)
    known = {code: word for code, word in zip(values, codes.mapped, strict=True) if word}
    entries = ", ".join(f"{_text(code)} = {_text(word)}" for code, word in known.items())
    if codes.unclear:
        open_ = ", ".join(f"{_text(code)} = ..." for code in codes.unclear)
        yield f"# codes = {{ {open_} }}     # what do they mean?"
    if known:
        yield f"codes = {{ {entries} }}"


def _tabular(column: ColumnSummary) -> str:
    name = re.sub(r"\W+", "_", column.name.lower()).strip("_") or "column"
    few = column.distinct <= _MOST_CATEGORIES
    kind = (
        "category" if column.kind == "category" or (column.kind == "number" and few) else "number"
    )
    return f'{_text(name)} = {{ column = {_text(column.name)}, kind = "{kind}" }}'


def _text(value: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's."""
    return json.dumps(value, ensure_ascii=False)


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
