"""The picture of a changed fact: every triple an edge, always the same, whatever the texts are."""

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.plots.graph import ChangedGraph, Edge, Side, changed_graph

SVG = "{http://www.w3.org/2000/svg}"


def edge(subject: str, predicate: str, object_: str, hop: int = 1) -> Edge:
    return Edge(f"{subject}/{predicate}/{object_}/{hop}", subject, predicate, object_, hop)


PICTURE = ChangedGraph(
    title="demo 18",
    facts=(edge("patient", "has_age", "31", 0), edge("patient", "travelled_to", "Namche", 0)),
    changed="lives_in",
    base=Side(
        "Pokhara",
        "as stated",
        (edge("Namche", "leads to", "hypoxia", 2), edge("patient", "has_symptom", "headache")),
    ),
    variant=Side(
        "Kinshasa",
        "changed",
        (
            edge("patient", "has_symptom", "headache"),
            edge("fever", "suggests", "malaria", 2),
            edge("malaria", "suggests", "anaemia", 3),
            edge("anaemia", "worsens", "fever", 3),
        ),
    ),
    verdict="The answer changed: first diagnosis: hypoxia -> sepsis",
    moved=True,
)


def drawn(picture: ChangedGraph) -> ElementTree.Element:
    return ElementTree.fromstring(changed_graph(picture))  # noqa: S314 - our own drawing


def marks(root: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {e.get("data-id", ""): e for e in root.iter() if e.get("class") == "mark"}


def words(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def test_every_triple_and_both_values_are_marks_with_words() -> None:
    found = marks(drawn(PICTURE))
    edges = [*PICTURE.facts, *PICTURE.base.edges, *PICTURE.variant.edges]
    assert {e.id for e in edges} | {"changed-as stated", "changed-changed"} == set(found)
    assert found["changed-changed"].get("aria-label") == "patient lives_in Kinshasa, changed"
    labels = [mark.get("aria-label") for mark in found.values()]
    assert "malaria suggests anaemia, hop 3" in labels


def test_the_changed_edge_is_the_thick_one() -> None:
    found = marks(drawn(PICTURE))
    widths = {
        key: max(float(path.get("stroke-width", 0)) for path in mark.iter(f"{SVG}path"))
        for key, mark in found.items()
        if mark.find(f"{SVG}path") is not None
    }
    assert max(widths, key=lambda key: widths[key]) == "changed-changed"
    assert sorted(widths.values())[-2] < widths["changed-changed"] / 2


def test_what_both_answers_have_is_a_ring_and_what_is_named_again_has_no_second_tree() -> None:
    root = drawn(PICTURE)
    shared = marks(root)["patient/has_symptom/headache/1"].find(f"{SVG}circle")
    alone = marks(root)["malaria/suggests/anaemia/3"].find(f"{SVG}circle")
    assert shared is not None
    assert alone is not None
    assert shared.get("class") == "fill-background stroke-control"
    assert alone.get("class") == "fill-changed-edge stroke-changed-edge"
    assert words(root).count("malaria") == 1
    assert words(root).count("fever") == 2, "where it begins, and where a triple leads back to it"
    assert words(marks(root)["Namche/leads to/hypoxia/2"]) == ["leads to", "2", "hypoxia"]


def test_an_answer_without_triples_says_so() -> None:
    empty = replace(PICTURE, base=replace(PICTURE.base, edges=()), facts=())
    assert "no triple was read from this answer" in " ".join(words(drawn(empty)))


def test_long_lists_end_in_a_count() -> None:
    many = tuple(edge("patient", "has_symptom", f"s{n}") for n in range(60))
    long = replace(PICTURE, facts=many, base=replace(PICTURE.base, edges=many))
    shown = words(drawn(long))
    assert "and 40 more" in shown
    assert "and 20 more" in shown


def test_one_long_chain_is_drawn() -> None:
    chain = tuple(edge(f"e{n}", "leads to", f"e{n + 1}", 2) for n in range(5_000))
    assert "and 4961 more" in words(drawn(replace(PICTURE, base=Side("a", "b", chain))))


edges = st.builds(
    edge,
    st.sampled_from(["patient", "a", "b", "c", "<&>\"'"]),
    st.text(max_size=40),
    st.sampled_from(["patient", "a", "b", "d", "\x00 long " * 12]),
    st.integers(1, 3),
)


@given(base=st.lists(edges, max_size=12), variant=st.lists(edges, max_size=12))
def test_any_triples_are_drawn_each_once_and_always_alike(
    base: list[Edge], variant: list[Edge]
) -> None:
    sides = [
        Side(name, name, tuple(replace(e, id=f"{name}{n}") for n, e in enumerate(found)))
        for name, found in (("base", base), ("variant", variant))
    ]
    picture = replace(PICTURE, base=sides[0], variant=sides[1])
    root = drawn(picture)
    assert {e.id for side in sides for e in side.edges} <= set(marks(root))
    assert changed_graph(picture) == changed_graph(picture)
    height = float(root.get("height", 0))
    assert all(0 < float(text.get("y", 0)) < height for text in root.iter(f"{SVG}text"))
