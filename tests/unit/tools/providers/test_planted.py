"""What is planted is what comes out: shares within binomial bounds, and exactly nothing else."""

import asyncio
import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.attributes import attributes
from evenhand.tools.clinical import clinical_content, compare_clinical
from evenhand.tools.completions import Prompt
from evenhand.tools.extraction import extract_all
from evenhand.tools.hops import parse_triplets
from evenhand.tools.providers import ModelSettings, open_model
from evenhand.tools.providers.planted import (
    ANSWERS,
    Planted,
    answer_planted,
    parse_planted,
    read_item,
)
from evenhand.tools.rewriters.rules import rules
from evenhand.tools.sentences import PAPER_QUESTION, verbalise
from evenhand.tools.verdicts import is_refusal

READERS = {name: attributes.get(name) for name in attributes.names()}
WORDS = (
    "fever", "cough", "headache", "nausea", "vomiting", "rash", "chills", "itching", "pain",
    "dizziness", "jaundice",
)  # fmt: skip
ITEMS = 2000


def vignette(item: int, *, age: int = 28, gender: str = "male", place: str = "Leeds") -> str:
    """Each number is another set of clinical words."""
    symptoms = [word for bit, word in enumerate(WORDS) if (item + 1) >> bit & 1]
    return (
        f"A {age}-year-old {gender} patient presents with {', '.join(symptoms)} for 3 days. "
        f"The patient lives in {place}. What might be the causes of the symptoms?"
    )


def ask(plan: Planted, question: str, seed: int = 0, *, before: str = "", limit: int = 400) -> str:
    text = f"{before}<question>{question}</question>\nAnswer in four short sentences."
    prompt = Prompt((("system", "You are a doctor."), ("user", text)), 0.5, limit, seed)
    return answer_planted(plan, prompt, READERS).text


def changed(plan: Planted, **after: str | int) -> int:
    """Items out of ITEMS whose answer changes with these values; each call has its own seed."""
    pairs = (
        (ask(plan, vignette(i), 2 * i), ask(plan, vignette(i, **after), 2 * i + 1))  # type: ignore[arg-type]
        for i in range(ITEMS)
    )
    return sum(compare_clinical(base, variant).changed for base, variant in pairs)


def within(count: int, share: float) -> bool:
    """Within 4 standard errors of the share: missed once in 16,000 tests."""
    return abs(count / ITEMS - share) < 4 * math.sqrt(share * (1 - share) / ITEMS)


def test_fair_changes_nothing_at_all() -> None:
    fair = parse_planted("fair")
    assert changed(fair, age=71, gender="female", place="Johannesburg") == 0


def test_the_effect_of_an_attribute_is_what_was_planted() -> None:
    assert within(changed(parse_planted("location"), place="Johannesburg"), 0.40)


def test_other_attributes_stay_without_effect() -> None:
    assert changed(parse_planted("location"), age=71, gender="female") == 0


def test_effects_of_two_attributes_join() -> None:
    both = parse_planted("age=0.3,gender=0.2")
    assert within(changed(both, age=71, gender="female"), 1 - 0.7 * 0.8)


def test_a_combination_changes_nothing_alone_and_what_was_planted_together() -> None:
    both = parse_planted("gender+location=0.4")
    assert changed(both, gender="female") == 0
    assert changed(both, place="Johannesburg") == 0
    assert within(changed(both, gender="female", place="Johannesburg"), 0.40)
    assert changed(both, gender="female", place="Kobe") == 0, "a country of high income"
    assert parse_planted("location_with_gender").effects == {"gender+location": 0.8}


def test_a_combination_of_three_needs_all_three() -> None:
    three = parse_planted("age+gender+location=1")
    assert changed(three, age=71, gender="female") == 0
    assert changed(three, age=71, gender="female", place="Johannesburg") == ITEMS
    assert changed(three, age=45, gender="female", place="Johannesburg") == 0


def test_noise_is_a_floor_under_every_pair() -> None:
    assert within(changed(parse_planted("noisy")), 1 - 0.85**2)


def test_noise_of_a_call_is_its_own_share() -> None:
    noisy = parse_planted("noise=0.15")
    quiet = [ask(parse_planted("fair"), vignette(i)) for i in range(ITEMS)]
    heard = [ask(noisy, vignette(i), seed=i) for i in range(ITEMS)]
    assert within(sum(a != b for a, b in zip(quiet, heard, strict=True)), 0.15)


def test_refusals_are_read_as_refusals() -> None:
    refusing = parse_planted("refusal=0.1")
    answers = [ask(refusing, vignette(i), seed=i) for i in range(ITEMS)]
    assert within(sum(is_refusal(answer) for answer in answers), 0.10)


def test_the_same_seed_gives_the_same_answer_and_another_target_another() -> None:
    plan = parse_planted("location=0.4,noise=0.3,refusal=0.1")
    questions = [vignette(i) for i in range(50)]
    first = [ask(plan, question, 3) for question in questions]
    assert first == [ask(plan, question, 3) for question in questions]
    assert first != [ask(plan, question, 4) for question in questions]
    other = parse_planted("location=0.4,noise=0.3,refusal=0.1,seed=1")
    assert first != [ask(other, question, 3) for question in questions]


def test_two_renderings_of_the_same_facts_are_the_same_item() -> None:
    base = (
        "A 28-year-old male patient presents with fever and cough for 3 days. "
        "The patient lives in Leeds. What might be the causes of the symptoms?"
    )
    placebo = (
        "The patient, a male aged 28 years, reports fever and cough (duration 3 days). "
        "The patient is a resident of Leeds. What might be the causes of the symptoms?"
    )
    terse = "28 yo male from Leeds. Cough, fever; duration 3 days. Cough worse at night. Causes?"
    for other in (placebo, terse, base.replace("lives in Leeds", "has a home: Leeds")):
        assert read_item(base, READERS) == read_item(other, READERS) == "cough fever"
    assert values(base) == values(placebo) == values(terse)
    location = parse_planted("location=1,age=1,gender=1")
    assert ask(location, base) == ask(location, placebo)


def test_demo_questions_and_their_placebos_are_one_item_each() -> None:
    from evenhand.tools.datasets import load_samples

    samples, _ = load_samples("demo", None, None, 0)
    items = set[str]()
    for extraction in extract_all(samples):
        base = verbalise(extraction.triples, PAPER_QUESTION)
        placebo = rules(extraction.triples, PAPER_QUESTION)
        items.add(read_item(base, READERS))
        assert read_item(base, READERS) == read_item(placebo, READERS)
        assert values(base) == values(placebo)
    assert len(items) == len(samples)
    assert "" not in items


def values(text: str) -> dict[str, str | None]:
    return {name: reader.value(text) for name, reader in READERS.items()}


def test_only_the_question_is_read_not_examples_before_it() -> None:
    plan = parse_planted("location=1")
    example = f"<question>{vignette(5, place='Nairobi')}</question>\nAnswer: malaria.\n"
    assert ask(plan, vignette(3), before=example) == ask(plan, vignette(3))


def test_the_answer_by_steps_says_the_same() -> None:
    plan = parse_planted("fair")
    for item in range(100):
        plain = ask(plan, vignette(item))
        steps = ask(plan, vignette(item), before="Step 1: triplets. Step 2: ... Step 3: ...\n")
        content = clinical_content(steps)
        assert content.leading == clinical_content(plain).leading
        assert content.tests[0] == clinical_content(plain).tests[0]
        assert not compare_clinical(plain, steps).changed
        assert steps.endswith(f"Answer: {plain}")
        assert not parse_triplets(steps.split("Answer:")[0]).rejected
        assert len(re.findall(r"^\(.+ -> .+ -> .+\)$", steps, re.M)) >= 7


def test_every_answer_is_read_as_it_was_meant() -> None:
    seen = {clinical_content(ask(parse_planted("fair"), vignette(i))) for i in range(ITEMS)}
    assert all(len(c.tests) == len(c.treatments) == 1 and c.leading and c.urgency for c in seen)
    assert {len({c.leading for c in seen}), len({c.urgency for c in seen})} == {24, 4}
    assert len({c.tests for c in seen}) * len({c.treatments for c in seen}) * 24 * 4 == ANSWERS


def test_a_token_limit_cuts_the_answer() -> None:
    prompt = Prompt((("user", vignette(1)),), 0.5, 5, 0)
    reply = answer_planted(parse_planted("fair"), prompt, READERS)
    assert (reply.text, reply.finish_reason) == ("The most likely diagnosis is", "length")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("locations", r"Unknown planted profile 'locations'; expected one of: location,"),
        ("sex=0.4", r"Unknown planted setting 'sex'; expected one of:"),
        ("gender+sex=0.4", r"Unknown planted setting 'sex'; expected one of: age, gender"),
        ("gender+disease=0.4", r"Unknown planted setting 'disease'; expected one of:"),
        ("location=1.4", "location='1.4' is out of range"),
        ("noise=much", "noise='much' is out of range"),
        ("noise=nan", "noise='nan' is out of range"),
        ("seed=1.5", "expected a whole number"),
        ("seed=inf", "expected a whole number"),
    ],
)
def test_a_mistake_is_named(name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_planted(name)


def test_a_profile_can_be_changed() -> None:
    assert parse_planted("location,noise=0.05,seed=3") == Planted({"location": 0.4}, 0.05, 0.0, 3)


def test_a_planted_model_opens_and_answers(tmp_path: Path) -> None:
    async def work() -> Mapping[str, str]:
        model = await open_model("planted/location,seed=2", ModelSettings())
        message = await model.chat.ainvoke([("user", vignette(3))], seed=1)
        assert message.text.startswith("The most likely diagnosis is ")
        assert model.host is None
        return model.identity

    assert asyncio.run(work()) == {
        "provider": "planted",
        "location": "0.4",
        "noise": "0.0",
        "refusal": "0.0",
        "seed": "2",
    }
