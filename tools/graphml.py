"""A run's graph as GraphML, for Gephi, yEd, networkx and whoever reads that format.

Written with the standard library: it is one page of XML, and networkx would be a dependency for
that page alone.
"""

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evenhand.graph_store.rows import Export, Scalar
from evenhand.tools.plots.svg import clean

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_Data = Mapping[str, Scalar]


def graphml(export: Export) -> str:
    """Return a run's nodes and relationships as a GraphML document.

    Nodes are n0, n1 ... with the label as `labels` (":Entity"), relationships e0, e1 ... with the
    type as `label`; every property is a typed attribute. A property that is a number here and a
    word there is text. The few signs that XML cannot hold become a replacement sign.
    """
    node_data: list[_Data] = [
        {"labels": f":{node['label']}", "id": node["id"]} | _owner(node["run"]) | node["properties"]
        for node in export["nodes"]
    ]
    edge_data: list[_Data] = [
        {"label": edge["type"], "key": edge["key"], "run": edge["run"]} | edge["properties"]
        for edge in export["relationships"]
    ]
    root = Element("graphml", {"xmlns": _NAMESPACE})
    node_types = _declare(root, "node", node_data)
    edge_types = _declare(root, "edge", edge_data)
    graph = SubElement(root, "graph", {"id": clean(export["run"]), "edgedefault": "directed"})
    numbers: dict[tuple[str, str], str] = {}
    for node, data in zip(export["nodes"], node_data, strict=True):
        number = numbers[node["label"], node["id"]] = f"n{len(numbers)}"
        _fill(SubElement(graph, "node", {"id": number}), "node", data, node_types)
    for position, (edge, data) in enumerate(zip(export["relationships"], edge_data, strict=True)):
        ends = {
            "source": numbers[edge["start_label"], edge["start_id"]],
            "target": numbers[edge["end_label"], edge["end_id"]],
        }
        element = SubElement(graph, "edge", {"id": f"e{position}", **ends})
        _fill(element, "edge", data, edge_types)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _owner(run: str | None) -> dict[str, Scalar]:
    return {} if run is None else {"run": run}


def _declare(root: Element, domain: str, rows: Iterable[_Data]) -> dict[str, str]:
    """Append a <key> for every property, and return their types."""
    kinds: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            kinds.setdefault(name, set()).add(type(value))
    types = {name: _type_of(found) for name, found in kinds.items()}
    for name, type_ in types.items():
        named = {"id": f"{domain}.{name}", "for": domain, "attr.name": name, "attr.type": type_}
        SubElement(root, "key", named)
    return types


def _type_of(kinds: set[type]) -> str:
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "long"
    return "double" if kinds <= {int, float} else "string"


def _fill(element: Element, domain: str, data: _Data, types: Mapping[str, str]) -> None:
    for name, value in data.items():
        text = str(value).lower() if types[name] == "boolean" else str(value)
        SubElement(element, "data", {"key": f"{domain}.{name}"}).text = clean(text)
