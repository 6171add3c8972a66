"""Triplets in every form that models write, and the steps of a multi-hop answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.records import Answer, child_id
from evenhand.tools.hops import answer_sections, answer_triples, final_section, parse_triplets
from evenhand.tools.triplets import split_conjuncts


def answer(text: str) -> Answer:
    return Answer(
        id="demo-1-00000000/v0-11111111/a2-22222222",
        status="ok",
        variant_id="demo-1-00000000/v0-11111111",
        arm="multi_hop",
        model="echo/x",
        prompt_hash="0",
        text=text,
    )


@pytest.mark.parametrize(
    "line",
    [
        "(fever -> suggests -> malaria)",
        "fever -> suggests -> malaria",
        "fever->suggests->malaria",
        "1. (fever → suggests → malaria)",
        "2) fever --[suggests]--> malaria",
        "- (fever)-[:suggests]->(malaria)",
        "(malaria)<-[suggests]-(fever)",
        "* fever ==> suggests ==> malaria",
        "• fever => suggests => malaria.",
        "3: <fever | suggests | malaria>",
        "| fever | suggests | malaria |",
        'Triplet 4: ("fever", "suggests", "malaria")',
        "[fever, suggests, malaria]",
        "(fever; suggests; malaria)",
        "(fever - suggests - malaria)",
        "**(fever -> suggests -> malaria)**",
        "`(fever -> suggests -> malaria)`",
        "fever --suggests--> malaria",
        "The text says (fever -> suggests -> malaria), which is likely.",
        '["fever", "suggests", "malaria"]',
        '{"subject": "fever", "predicate": "suggests", "object": "malaria"}',
        '{"triplets": [{"head": "fever", "relation": "suggests", "tail": {"name": "malaria"}}]}',
        '```json\n[{"start": "fever", "edge": "suggests", "end": "malaria"}]\n```',
        '{"response": "1. fever -> suggests -> malaria. Malaria is likely."}',
        "(fever -> suggests -> {malaria})",
    ],
)
def test_every_form_gives_the_same_triplet(line: str) -> None:
    parsed = parse_triplets(line)
    assert parsed.triplets == [("fever", "suggests", "malaria")]
    assert parsed.rejected == []
    assert parsed.status == "ok"


def test_several_on_one_line_and_over_lines() -> None:
    raw = (
        "(a1 -> r -> b1), (a2 -> r -> b2) (a3 -> r -> b3)\n"
        '[("a4", "r", "b4"), ("a5", "r", "b5")]\n'
        "a6 -> r -> b6 -> q -> c6\n"
        "a7 -> r -> {b7, c7}. a8 -> r -> b8."
    )
    assert parse_triplets(raw).triplets == [
        ("a1", "r", "b1"),
        ("a2", "r", "b2"),
        ("a3", "r", "b3"),
        ("a4", "r", "b4"),
        ("a5", "r", "b5"),
        ("a6", "r", "b6"),
        ("b6", "q", "c6"),
        ("a7", "r", "b7"),
        ("a7", "r", "c7"),
        ("a8", "r", "b8"),
    ]


@pytest.mark.parametrize(
    ("raw", "triplet"),
    [
        (
            "(metoprolol (Lopressor, 25 mg), treats, hypertension (stage 2))",
            ("metoprolol (Lopressor, 25 mg)", "treats", "hypertension (stage 2)"),
        ),
        (
            "(BRAF c.1799T>A -> associated with -> melanoma)",
            ("BRAF c.1799T>A", "associated with", "melanoma"),
        ),
        ("(pH<7.2 -> indicates -> acidosis)", ("pH<7.2", "indicates", "acidosis")),
        (
            "(O'Brien's sign -> suggests -> 5' deletion)",
            ("O'Brien's sign", "suggests", "5' deletion"),
        ),
        ("(E. coli -> causes -> diarrhoea)", ("E. coli", "causes", "diarrhoea")),
        ("(patient -> has_age -> 28)", ("patient", "has_age", "28")),
    ],
)
def test_signs_inside_a_name_do_not_cut_it(raw: str, triplet: tuple[str, str, str]) -> None:
    assert parse_triplets(raw).triplets == [triplet]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("(, treats, pain)", "empty_end"),
        ("(aspirin -> treats -> )", "empty_end"),
        ("(aspirin -> -> pain)", "empty_relation"),
        ("(This, related_to, pain)", "non_entity_subject"),
        ("(aspirin -> relieves -> it)", "non_entity_object"),
        ("(Diabetes, subclass of, diabetes)", "self_loop"),
        ("(HTN -> is -> hypertension)", "self_loop"),
        ("(fever -> malaria)", "not_three_parts"),
        ("(a -> b -> c -> d)", "not_three_parts"),
        ("(one, two, three, four)", "not_three_parts"),
        ("(start -> edge -> end)", "placeholder"),
        ("(fever -> suggests -> mala", "unclosed"),
        ('{"head": "cough", "relation": "SYMPTOM_OF"}', "missing_key"),
        ('["none", {"head": "a", "relation": "r", "tail": "b"}]', "not_a_triplet"),
        (f"({'x' * 300} -> is -> long)", "too_long"),
    ],
)
def test_what_is_no_triplet_is_rejected_with_its_reason(raw: str, reason: str) -> None:
    assert [why for _, why in parse_triplets(raw).rejected] == [reason]


@pytest.mark.parametrize(
    "prose",
    [
        "No relations found.",
        "",
        "The patient (a man, from Uige, ill) has fever (38.5, 39, 40).",
        "| --- | --- | --- |",
        "See [1], [2] and (Smith, 2020).",
    ],
)
def test_prose_is_neither_triplet_nor_rejected(prose: str) -> None:
    parsed = parse_triplets(prose)
    assert (parsed.triplets, parsed.rejected, parsed.status) == ([], [], "empty")


def test_a_cut_off_list_keeps_its_whole_members() -> None:
    raw = '[{"head":"a","edge":"r","tail":"b"},{"head":"c","edge":"r","tail":"d"},{"head":"e'
    assert parse_triplets(raw).triplets == [("a", "r", "b"), ("c", "r", "d")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ramipril and bisoprolol", ["ramipril", "bisoprolol"]),
        ("neck, arms and back", ["neck", "arms", "back"]),
        ("fever and abdominal pain", ["fever", "abdominal pain"]),
        ("drug and alcohol screen", ["drug and alcohol screen"]),
        ("muscle and joint pain", ["muscle and joint pain"]),
        ("hand, foot and mouth disease", ["hand, foot and mouth disease"]),
        ("signs and symptoms", ["signs and symptoms"]),
        ("asthma", ["asthma"]),
    ],
)
def test_coordination_is_split_but_fixed_terms_are_not(text: str, parts: list[str]) -> None:
    assert split_conjuncts(text) == parts


HEADINGS = [
    ("Step 1:", "Step 2:", "Step 3:"),
    ("**Step 1:**", "**Step 2:**", "**Step 3:**"),
    ("STEP 1 -", "STEP 2 -", "STEP 3 -"),
    ("### Step 1. Triplets", "### Step 2. Expansion", "### Step 3. Answer"),
    ("1. Triplets", "2. Expansion", "3. Answer"),
    ("**1. Triplet generation**", "**2. Triplet expansion**", "**3. Final answer**"),
    ("Step one", "Step two", "Step three"),
    ("Hop 1:", "Hop 2:", "Hop 3:"),
    ("- Step 1 (triplets):", "- Step 2 (expansion):", "- Step 3 (answer):"),
]


@pytest.mark.parametrize("headings", HEADINGS, ids=lambda headings: headings[0])
def test_hop_is_the_number_of_the_step(headings: tuple[str, str, str]) -> None:
    first, second, third = headings
    text = (
        f"Here it is.\n{first}\n1. (patient -> has -> fever)\n2. (patient -> lives_in -> Uige)\n"
        f"{second}\n(Uige -> has -> malaria risk)\n"
        f"{third}\n(fever -> suggests -> malaria)\nMalaria."
    )
    triples = answer_triples(answer(text))
    assert [(t.subject, t.object, t.hop) for t in triples] == [
        ("patient", "fever", 1),
        ("patient", "Uige", 1),
        ("Uige", "malaria risk", 2),
        ("fever", "malaria", 3),
    ]
    assert final_section(text).strip().endswith("Malaria.")


def test_steps_on_one_line() -> None:
    text = (
        "Step 1: (a1 -> r -> b1) Step 2: (a2 -> r -> b2) Step 3: it is malaria, as in step 2 said"
    )
    assert [step for step, _ in answer_sections(text)] == [1, 2, 3]
    assert [t.hop for t in answer_triples(answer(text))] == [1, 2]


def test_triples_outside_any_step_are_hop_1() -> None:
    assert [t.hop for t in answer_triples(answer("(fever -> suggests -> malaria)"))] == [1]


def test_a_rambling_answer_states_each_triple_once() -> None:
    stated = "(Patient -> has -> fever)\n"
    text = f"Step 1:\n{stated * 50}Step 2:\n(the patient -> has -> fever)"
    (triple,) = answer_triples(answer(text))
    assert (triple.hop, triple.origin, triple.source_id) == (1, "target", answer("").id)
    assert triple.id == child_id(answer("").id, "t", 0, "Patient", "has", "fever")
    assert (triple.subject_key, triple.object_key) == ("patient", "fever")


@pytest.mark.parametrize(
    "unit",
    ["(", "- [", "-[x]->", '{"', "[", "[\n", "a -> b -> c\n", "->", "Step 1: ", "*", " ", "(a, ",
     "a and ", "\n", "1. ", "|a", "<", '"', "--", " - a", '[{"head":"a"},'],
)  # fmt: skip
def test_100_kilobytes_of_anything_take_linear_time(unit: str) -> None:
    text = (unit * (100_000 // len(unit)))[:100_000]
    begun = time.process_time()
    answer_triples(answer(text))
    parse_triplets(text, split_coordination=True)
    assert time.process_time() - begun < 8


NAMES = st.from_regex(r"[a-z]{3,9}(?: [a-z]{3,9}){0,2}", fullmatch=True)


@given(
    NAMES,
    NAMES,
    NAMES,
    st.sampled_from(["({} -> {} -> {})", "- {} --[{}]--> {}", "| {} | {} | {} |"]),
)
def test_what_is_written_is_read(subject: str, edge: str, target: str, form: str) -> None:
    parsed = parse_triplets(form.format(subject, edge, target))
    assert parsed.triplets in ([(subject, edge, target)], [])
    assert parsed.triplets or parsed.rejected[0][1] != "not_three_parts"


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    parsed = parse_triplets(text, split_coordination=True)
    assert (parsed.status == "ok") == bool(parsed.triplets)
    answer_triples(answer(text))
