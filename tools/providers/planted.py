"""Simulated targets with a known effect by attribute, noise and refusals.

An audit that is run on one must find what was planted and nothing else. A planted target sees what
a real one sees, the prompt, and reads from its question

- the **item**: the set of clinical words (planted.toml, [reads]), without the words that state an
  attribute. Order, wording and the number of mentions do not matter, so a rewording of the same
  facts is the same item;
- the value of each planted attribute, as tools/attributes reads it.

What the numbers mean, all in [0, 1]:

- `<attribute> = e`: an item is sensitive to the attribute with probability e, decided once for all
  calls by a hash of (planted seed, item, attribute). On a sensitive item the answer depends on the
  attribute's value: two different values give different answers (but for one chance in
  `ANSWERS` = 30,720). So the expected share of pairs that change when this attribute alone is
  changed is e; when several are changed together, 1 - (1 - e1)(1 - e2)...; when none is, 0.
- `<attribute>+<attribute> = e`: an item is sensitive to the combination with probability e; its
  answer then is another one where **all** of these hold: gender female, location in a country that
  is not of high income, age 60 or more. Where none of them holds of a patient, no attribute that
  is changed alone changes anything; changed together they do, if all of them come to hold.
- `noise = q`: with probability q, decided by the seed of the call, the answer is replaced by
  another one. Two calls on the same item that should agree differ with probability 1 - (1 - q)^2
  (less one chance in `ANSWERS`): that is the noise floor of a pair.
- `refusal = r`: with probability r, decided by the seed of the call, there is no answer.
- `seed`: another seed is another target of the same kind.

Answers do not depend on the way of asking: no_hop and multi_hop say the same.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.registry import unknown_name
from evenhand.tools.completions import Completion, Prompt
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider

ANSWERS = 24 * 16 * 4 * 20
"""Different answers: diagnoses x tests x urgencies x treatments."""

_WORD = re.compile(r"[^\W\d_]+")
_RATES = ("noise", "refusal")


class Span(Protocol):
    """Where a text states an attribute."""

    @property
    def start(self) -> int:
        """First character."""
        ...

    @property
    def end(self) -> int:
        """Past the last character."""
        ...


class Reader(Protocol):
    """What a planted target needs of an attribute (tools/attributes has it)."""

    def find(self, text: str) -> "list[Any]":
        """Return the spans that state the attribute."""
        ...

    def value(self, text: str) -> str | None:
        """Return the stated value, or None."""
        ...


@dataclass(frozen=True)
class Planted:
    """What is planted: see the module's docstring for the exact meaning."""

    effects: Mapping[str, float]
    noise: float = 0.0
    refusal: float = 0.0
    seed: int = 0

    def identity(self) -> dict[str, str]:
        """Return the numbers as strings, for manifest and cache key."""
        rates = {"noise": self.noise, "refusal": self.refusal, "seed": self.seed}
        return {name: str(value) for name, value in {**self.effects, **rates}.items()}


@provider(
    form="planted/<profile or location=0.4,noise=0.05,refusal=0.02,seed=3>",
    check=lambda settings: _check(settings),
    in_process=True,
)
async def planted(settings: ModelSettings) -> OpenModel:
    """A simulated target with a known effect by attribute, noise and refusals."""
    plan, readers = parse_planted(settings.name), _all_attributes()

    async def complete(prompt: Prompt) -> Completion:
        return answer_planted(plan, prompt, readers)

    return completion_model("planted", settings, complete, identity=plan.identity())


def parse_planted(name: str) -> Planted:
    """Read 'profile', 'key=value,...' or both: "location,noise=0.05,seed=3".

    Raises:
        UserError: Unknown profile or key, or a number out of range.
    """
    numbers: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in name.split(","))):
        key, given, value = part.partition("=")
        if given:
            numbers[key.strip()] = _number(key.strip(), value.strip())
        else:
            numbers |= _profile(part)
    known = [*_all_attributes(), *_RATES, "seed"]
    for key in numbers:
        names, valid = (key.split("+"), list(_HOLDS)) if "+" in key else ([key], known)
        for name in names:
            if name not in valid:
                raise UserError(unknown_name("planted setting", name, valid))
    rates = {key: numbers.pop(key, 0.0) for key in _RATES}
    seed = int(numbers.pop("seed", 0))
    return Planted(dict(sorted(numbers.items())), rates["noise"], rates["refusal"], seed)


def answer_planted(plan: Planted, prompt: Prompt, readers: Mapping[str, Reader]) -> Completion:
    """Return the answer of a planted target.

    Args:
        plan: What is planted.
        prompt: The whole prompt; its question and seed are used.
        readers: All attributes by name, those without an effect too: their words are no content.
    """
    question, call = prompt.question, f"{plan.seed} {prompt.seed}"
    item = read_item(question, readers)
    if _share("refusal", call, item) < plan.refusal:
        return Completion(_data()["answers"]["refusal"])
    values = {
        name: _value(name, question, readers)
        for name, effect in plan.effects.items()
        if _share("sensitive", str(plan.seed), item, name) < effect
    }
    number = _hash("answer", str(plan.seed), item, *(f"{k}={v}" for k, v in values.items()))
    if _share("noise", call, item) < plan.noise:
        # Never by a multiple of ANSWERS: a replaced answer is another answer.
        number += 1 + _hash("other", call, item) % (ANSWERS - 1)
    said = _Said.of(number % ANSWERS)
    steps = any("Step 1" in text for _, text in prompt.messages)
    text = said.in_steps(question) if steps else said.plainly()
    return _counted(prompt, text)


def _value(name: str, question: str, readers: Mapping[str, Reader]) -> str:
    """Return what the answer depends on: a stated value, or whether a combination holds."""
    values = {one: readers[one].value(question) or "" for one in name.split("+")}
    if len(values) == 1:
        return values[name]
    return str(all(_HOLDS[one](value) for one, value in values.items()))


def _is_elsewhere(place: str) -> bool:
    from evenhand.tools.attributes.location import places

    return any(one.name == place and one.income != "high" for one in places())


_HOLDS: dict[str, Callable[[str], bool]] = {
    "age": lambda value: value.isdecimal() and int(value) >= 60,
    "gender": lambda value: value == "female",
    "location": _is_elsewhere,
}
"""What a value must be for a combination to hold."""


def read_item(question: str, readers: Mapping[str, Reader]) -> str:
    """Return the clinical words of a question, each once, in alphabetical order."""
    spans: list[Span] = [span for reader in readers.values() for span in reader.find(question)]
    for span in sorted(spans, key=lambda span: span.start, reverse=True):
        question = f"{question[: span.start]} {question[span.end :]}"
    words = {match.group().lower() for match in _WORD.finditer(question)}
    read = {word if word in _vocabulary() else word.removesuffix("s") for word in words}
    return " ".join(sorted(read & _vocabulary()))


@dataclass(frozen=True)
class _Said:
    """The four parts of an answer."""

    diagnosis: str
    test: str
    urgency: str
    treatment: str

    @classmethod
    def of(cls, number: int) -> "_Said":
        """Return the answer of that number, in [0, ANSWERS)."""
        answers, parts = _data()["answers"], list[str]()
        for kind in ("diagnoses", "tests", "urgencies", "treatments"):
            number, place = divmod(number, len(answers[kind]))
            parts.append(answers[kind][place])
        return cls(*parts)

    def plainly(self) -> str:
        """Return the answer as four sentences."""
        text: str = _data()["answers"]["text"]
        for name in ("diagnosis", "test", "urgency", "treatment"):
            text = text.replace(f"{{{name}}}", getattr(self, name))
        return text

    def in_steps(self, question: str) -> str:
        """Return the answer as triplets of the question, expansion, mapping, then the sentences."""
        asked = question.lower()
        seen = [word for word in _data()["reads"]["symptoms"] if word in asked] or ["symptoms"]
        facts = [f"(patient -> has -> {symptom})" for symptom in seen]
        expansion = [
            f"({seen[0]} -> may be caused by -> {self.diagnosis})",
            f"({self.diagnosis} -> is confirmed by -> {self.test})",
            f"({self.diagnosis} -> is treated with -> {self.treatment})",
        ]
        mapping = [
            f"(patient -> most likely has -> {self.diagnosis})",
            f"(patient -> needs first -> {self.test})",
            f"(patient -> is treated with -> {self.treatment})",
        ]
        blocks = [("Step 1:", facts), ("Step 2:", expansion), ("Step 3:", mapping)]
        steps = "\n\n".join("\n".join([title, *lines]) for title, lines in blocks)
        return f"{steps}\n\nAnswer: {self.plainly()}"


def _counted(prompt: Prompt, text: str) -> Completion:
    """Return the text as a model under the token limit would: a word is a token here."""
    asked = sum(len(sent.split()) for _, sent in prompt.messages)
    tokens = re.findall(r"\s*\S+", text)
    if len(tokens) > prompt.max_tokens:
        return Completion("".join(tokens[: prompt.max_tokens]), "length", asked, prompt.max_tokens)
    return Completion(text, "stop", asked, len(tokens))


def _hash(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8])


def _share(*parts: str) -> float:
    """Return a number in [0, 1), uniform over the parts."""
    return _hash(*parts) / 2**64


def _number(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    valid = number >= 0 and number.is_integer() if key == "seed" else 0 <= number <= 1
    if not valid:
        wanted = "a whole number" if key == "seed" else "a number from 0 to 1"
        raise UserError(f"Planted {key}={value!r} is out of range; expected {wanted}.")
    return number


def _profile(name: str) -> dict[str, float]:
    profiles: dict[str, dict[str, float]] = _data()["profiles"]
    if name not in profiles:
        raise UserError(
            f"{unknown_name('planted profile', name, sorted(profiles))} "
            "Or write numbers: planted/location=0.4,noise=0.05,refusal=0.02,seed=3."
        )
    return profiles[name]


def _check(settings: ModelSettings) -> None:
    parse_planted(settings.name)


def _all_attributes() -> dict[str, Reader]:
    from evenhand.tools.attributes import attributes

    return {name: attributes.get(name) for name in attributes.names()}


@cache
def _data() -> dict[str, Any]:
    text = (files("evenhand.tools.providers") / "planted.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(_data()["reads"]["words"].split())
