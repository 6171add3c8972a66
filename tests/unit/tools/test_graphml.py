"""GraphML that any reader of XML can parse back, whatever stands in the texts."""

from xml.etree import ElementTree

import pytest

from evenhand.graph_store.rows import Export, ExportedNode, ExportedRelationship, Scalar
from evenhand.tools.graphml import graphml

SPACE = "{http://graphml.graphdrawing.org/xmlns}"
HARD = "a <b> & \"c\" 'd' ]]> \x00 \ud7ff 用于 🩺\n\ttab"


def export(*texts: str) -> Export:
    nodes = [
        ExportedNode(label="Answer", id=f"a{n}", run="r", properties={"text": text, "repeat": n})
        for n, text in enumerate(texts)
    ]
    nodes += [ExportedNode(label="Entity", id=text, run=None, properties={}) for text in texts]
    edges = [
        ExportedRelationship(
            type="MENTIONS",
            key=f"k{n}",
            run="r",
            start_label="Answer",
            start_id=f"a{n}",
            end_label="Entity",
            end_id=text,
            properties={"object": text, "hop": 1},
        )
        for n, text in enumerate(texts)
    ]
    return Export(schema_version=1, run="r", nodes=nodes, relationships=edges)


def parse(text: str) -> tuple[dict[str, str], list[dict[str, str]], list[dict[str, str]]]:
    """Return the declared types, the nodes and the edges of a document, by attribute names."""
    root = ElementTree.fromstring(text)  # noqa: S314
    keys = {key.attrib["id"]: key.attrib for key in root.iter(f"{SPACE}key")}

    def read(tag: str) -> list[dict[str, str]]:
        return [
            dict(element.attrib)
            | {f"@{keys[d.attrib['key']]['attr.name']}": d.text or "" for d in element}
            for element in root.iter(f"{SPACE}{tag}")
        ]

    types = {f"{key['for']}.{key['attr.name']}": key["attr.type"] for key in keys.values()}
    return types, read("node"), read("edge")


def test_nodes_and_edges_come_back() -> None:
    types, nodes, edges = parse(graphml(export("fever", HARD)))
    assert types["node.repeat"] == types["edge.hop"] == "long"
    assert types["node.text"] == "string"
    assert [node["@labels"] for node in nodes] == [":Answer"] * 2 + [":Entity"] * 2
    assert len({node["id"] for node in nodes}) == 4
    assert [(edge["source"], edge["target"]) for edge in edges] == [("n0", "n2"), ("n1", "n3")]
    assert [edge["@label"] for edge in edges] == ["MENTIONS"] * 2
    assert nodes[1]["@text"] == edges[1]["@object"] == HARD.replace("\x00", "\ufffd")
    assert "@run" not in nodes[2], "an entity belongs to no run"


@pytest.mark.parametrize(
    ("values", "type_", "texts"),
    [
        ((0.25, 1.0), "double", ["0.25", "1.0"]),
        ((0.25, "accepted"), "string", ["0.25", "accepted"]),
        ((1, 0.5), "double", ["1", "0.5"]),
        ((True, False), "boolean", ["true", "false"]),
    ],
)
def test_a_property_has_one_type(values: tuple[Scalar, ...], type_: str, texts: list[str]) -> None:
    nodes = [
        ExportedNode(label="Judgement", id=str(n), run="r", properties={"value": value})
        for n, value in enumerate(values)
    ]
    types, read, _ = parse(
        graphml(Export(schema_version=1, run="r", nodes=nodes, relationships=[]))
    )
    assert types["node.value"] == type_
    assert [node["@value"] for node in read] == texts


def test_an_empty_graph_is_a_document() -> None:
    assert parse(graphml(Export(schema_version=1, run="r", nodes=[], relationships=[]))) == (
        {},
        [],
        [],
    )
