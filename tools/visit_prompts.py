"""Visits as questions to a language model: one template a language, frozen with what is fitted.

Order: instruction, units, exemplars, then of the visit the note, what was recorded, and the audited
attribute last. The two prompts of a pair so share all but their tail, which is then the only part
that a prefix tree computes twice; what holds for all visits, such as units, is said once before
them. What an arm drops reads as not recorded, the same way always.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evenhand.tools.visit_mapping import VisitMapping
from evenhand.training.lent import Renderer
from evenhand.training.mimic_rows import MimicRows

Language = Literal["en", "fr"]


class VisitWording(BaseModel):
    """The words of a template; see visit_prompts.en.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instruction: str
    scale_up: str
    scale_down: str
    level: str
    units: str
    unit: str
    case: str
    note: str
    field: str
    attribute: str
    between: str
    cue: str
    absent: str
    exemplar: str
    names: dict[str, str] = Field(default_factory=dict)
    values: dict[str, str] = Field(default_factory=dict)


class VisitTemplate(BaseModel):
    """All that prompts depend on besides the rows; kept beside a model as JSON.

    Attributes:
        language: Of the words.
        wording: The words.
        levels: The lowest number first; the answers.
        level_words: What levels mean, for the instruction; a level may be left out.
        higher_is_less_urgent: Direction of the scale.
        units: Column -> its unit; said once, before the visits.
        attributes: The audited attributes, last in each prompt, in this order.
        exemplars: Visits already rendered with their answers, after the instruction.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Language
    wording: VisitWording
    levels: tuple[str, ...]
    level_words: dict[str, str] = Field(default_factory=dict)
    higher_is_less_urgent: bool
    units: dict[str, str] = Field(default_factory=dict)
    attributes: tuple[str, ...]
    exemplars: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the template as JSON, the same for the same content."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)

    def name(self) -> str:
        """Return language and the start of the content's SHA-256: "visit.en-3fa2c1d0"."""
        digest = hashlib.sha256(self.text().encode("utf-8", "surrogatepass")).hexdigest()
        return f"visit.{self.language}-{digest[:8]}"


def visit_template(
    mapping: VisitMapping,
    attributes: Sequence[str],
    *,
    level_words: Mapping[str, str] | None = None,
) -> VisitTemplate:
    """Return the template for visits of a mapping, in the mapping's language.

    Args:
        mapping: What the columns mean.
        attributes: The audited attributes.
        level_words: What levels mean.
    """
    return VisitTemplate(
        language=mapping.language,
        wording=read_wording(mapping.language),
        levels=mapping.levels,
        level_words=dict(level_words or {}),
        higher_is_less_urgent=mapping.direction == "higher_is_less_urgent",
        units={name: column.unit for name, column in mapping.tabular.items() if column.unit},
        attributes=tuple(attributes),
    )


def read_wording(language: Language) -> VisitWording:
    """Return the shipped words of a language."""
    source = files("evenhand.tools") / f"visit_prompts.{language}.toml"
    return VisitWording.model_validate(tomllib.loads(source.read_text("utf-8")))


def visit_renderer(template: VisitTemplate) -> Renderer:
    """Return what turns rows into prompts by a template."""
    prompts = _VisitPrompts(template)
    return Renderer(
        name=template.name(),
        template=template.text(),
        labels=template.levels,
        render=prompts.render,
        cue=template.wording.cue,
    )


def bare(template: VisitTemplate) -> VisitTemplate:
    """Return the template without instruction, units, exemplars and cue: the visit alone."""
    wording = template.wording.model_copy(update={"instruction": "", "cue": ""})
    return template.model_copy(update={"wording": wording, "units": {}, "exemplars": ()})


def frozen_renderer(text: str) -> Renderer:
    """Return the renderer of a template that was kept beside a model.

    Raises:
        pydantic.ValidationError: The text is no template.
    """
    return visit_renderer(VisitTemplate.model_validate_json(text))


def with_exemplars(
    template: VisitTemplate, rows: MimicRows, levels: Sequence[str]
) -> VisitTemplate:
    """Return the template with visits and their answers, in this order, after the instruction."""
    cases, cue = _VisitPrompts(template).cases(rows), template.wording.cue
    shown = [f"{case}\n{cue} {level}" for case, level in zip(cases, levels, strict=True)]
    return template.model_copy(update={"exemplars": tuple(shown)})


@dataclass(frozen=True)
class _VisitPrompts:
    template: VisitTemplate
    _cache: dict[str, str] = field(default_factory=dict)

    def render(self, rows: MimicRows) -> list[str]:
        """Return the prompt of each row, without the answer cue."""
        head = self.head()
        return [f"{head}\n\n{case}" if head else case for case in self.cases(rows)]

    def head(self) -> str:
        """Return what all prompts begin with: instruction, units and exemplars."""
        template, words = self.template, self.template.wording
        levels = words.between.join(
            words.level.format(level=level, words=template.level_words[level])
            if level in template.level_words
            else level
            for level in template.levels
        )
        scale = words.scale_up if template.higher_is_less_urgent else words.scale_down
        said = scale.format(first=template.levels[0], last=template.levels[-1], levels=levels)
        instruction = words.instruction.strip().replace("{scale}", said)
        start = "\n".join(filter(None, (instruction, self._units())))
        return "\n\n".join([start, *(f"{words.exemplar}\n{shown}" for shown in template.exemplars)])

    def _units(self) -> str:
        """Return the units of all columns in a line, each with its columns."""
        words = self.template.wording
        columns: dict[str, list[str]] = {}
        # In an order that a template keeps when it is written and read.
        for column, unit in sorted(self.template.units.items()):
            columns.setdefault(words.values.get(unit, unit), []).append(self._name(column))
        units = [
            words.unit.replace("{unit}", unit).replace("{columns}", words.between.join(names))
            for unit, names in columns.items()
        ]
        return words.units.replace("{units}", words.between.join(units)) if units else ""

    def cases(self, rows: MimicRows) -> list[str]:
        """Return each row alone: note, columns, attributes."""
        words = self.template.wording
        # Categories first: visits without a note then share more of their beginning.
        last = [name for name in self.template.attributes if name in rows.categories]
        columns = [
            self._column(name, values)
            for name, values in rows.categories.items()
            if name not in last
        ]
        columns += [self._numbers(name, values.tolist()) for name, values in rows.numbers.items()]
        tails = [self._column(name, rows.categories[name], words.attribute) for name in last]
        notes = [
            words.note.replace("{text}", " ".join(text.split()) or words.absent)
            for text in rows.texts
        ]
        return [
            "\n".join(
                (
                    note,
                    words.between.join(column[row] for column in columns),
                    words.between.join(tail[row] for tail in tails),
                )
            ).rstrip("\n")
            for row, note in enumerate(notes)
        ]

    def _column(
        self, name: str, values: Sequence[str | None], form: str | None = None
    ) -> list[str]:
        words = self.template.wording
        shown: dict[str | None, str] = {None: self._field(name, words.absent, form)}
        for value in values:
            if value not in shown:
                said = words.values.get(value or "", value or "")
                shown[value] = self._field(name, said, form)
        return [shown[value] for value in values]

    def _numbers(self, name: str, values: Sequence[float]) -> list[str]:
        absent = self.template.wording.absent
        return [self._field(name, absent if math.isnan(v) else f"{v:g}") for v in values]

    def _field(self, name: str, value: str, form: str | None = None) -> str:
        form = form or self.template.wording.field
        return form.replace("{name}", self._name(name)).replace("{value}", value)

    def _name(self, column: str) -> str:
        return self.template.wording.names.get(column) or column.replace("_", " ").capitalize()
