import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.rows import (
    AnswerRow,
    ExportedNode,
    JudgementRow,
    Link,
    NodeRow,
    RunRow,
    SampleRow,
    TripleRow,
    VariantRow,
    checksum,
    from_properties,
    link_properties,
    properties,
)
from evenhand.graph_store.schema import LABELS

KINDS = (RunRow, SampleRow, VariantRow, AnswerRow, JudgementRow)


def test_each_label_but_entity_has_its_row() -> None:
    assert {kind.label for kind in KINDS} == set(LABELS) - {"Entity"}


@pytest.mark.parametrize("kind", KINDS)
def test_fields_are_scalars_that_may_be_absent(kind: type[NodeRow]) -> None:
    for field in dataclasses.fields(kind):
        assert field.name in ("run", "id") or field.default is None
    row = kind(run="r", id="i")
    assert properties(row) == {"name": "i"}


def test_properties_and_back() -> None:
    row = AnswerRow(run="r", id="i", status="ok", text="a", repeat=0, seconds=0.5)
    found = properties(row)
    assert found == {"name": "i", "status": "ok", "text": "a", "repeat": 0, "seconds": 0.5}
    assert from_properties(AnswerRow, "r", "i", found | {"of_a_newer_version": 1}) == row


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (RunRow("r", "r", recipe="kg"), "r"),
        (SampleRow("r", "i", dataset="demo", position=0), "demo 0"),
        (VariantRow("r", "i", arm="isolated", group="age+gender"), "age+gender"),
        (AnswerRow("r", "i", arm="no_hop", repeat=0), "no_hop"),
        (AnswerRow("r", "i", arm="no_hop", repeat=2), "no_hop, repeat 2"),
        (JudgementRow("r", "i", dimension="age", status="ok", value=0.25), "age 0.25"),
        (
            JudgementRow("r", "i", dimension="any", rubric="paired_change", value=1.0),
            "paired_change 1",
        ),
        (JudgementRow("r", "i", dimension="isolation", value="accepted"), "isolation accepted"),
        (JudgementRow("r", "i", dimension="age", status="unparsable"), "age unparsable"),
    ],
)
def test_the_name_that_a_person_sees_on_a_node(row: NodeRow, name: str) -> None:
    assert properties(row)["name"] == name


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**63, -(2**63) - 1])
def test_numbers_that_no_store_can_keep_are_an_error(number: float) -> None:
    with pytest.raises(ValueError, match="prompt_tokens must"):
        properties(AnswerRow(run="r", id="i", prompt_tokens=number))  # type: ignore[arg-type]


def _fact(**other: str | int) -> TripleRow:
    row = TripleRow("r", "s", "A", "treats", "B", "a", "b", 0, "rules", "s/t0-00000000")
    return dataclasses.replace(row, **other)  # type: ignore[arg-type]


def test_what_makes_two_triples_the_same_edge() -> None:
    key = _fact().key
    for same in (_fact(subject="a"), _fact(id="s/t1-0"), _fact(predicate=" Treats"), _fact()):
        assert same.key == key
    others = [
        _fact(run="r2"),
        _fact(source_id="s2"),
        _fact(hop=1),
        _fact(subject_key="a2"),
        _fact(object_key="b2"),
        _fact(predicate="treats not"),
        _fact(subject_key="b", object_key="a"),
    ]
    assert len({key, *(other.key for other in others)}) == 8
    assert _fact().type == "TREATS"


def test_what_makes_two_links_the_same() -> None:
    link = Link("PERTURBS", "r", "Variant", "v", "Sample", "s", "age", "1", "2")
    assert dataclasses.replace(link, after="3").key == link.key
    assert dataclasses.replace(link, attribute="gender").key != link.key
    assert link_properties("age", None, "2") == {"attribute": "age", "to": "2"}
    assert link_properties(None, None, None) == {}


@given(st.permutations([str(number) for number in range(6)]))
def test_a_checksum_does_not_depend_on_the_order(ids: list[str]) -> None:
    def nodes(names: list[str]) -> list[ExportedNode]:
        return [ExportedNode(label="Entity", id=id, run=None, properties={}) for id in names]

    assert checksum(nodes(ids)) == checksum(nodes(sorted(ids)))
    assert checksum(nodes(ids[:5])) != checksum(nodes(ids))
    assert checksum(nodes(["a", "a"])) != checksum(nodes([]))
