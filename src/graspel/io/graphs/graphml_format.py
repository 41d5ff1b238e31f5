"""The .graphml format of graphs: XML for Gephi, Cytoscape, networkx and igraph.

Columns are attributes of the edges, and names attributes of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from graspel.io.csv_lines import parse_float
from graspel.io.graphs.edge_table import OLD_NAMES, EdgeTable

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
TYPES = {"weight": "double", "origin": "string", "round": "int", "eta": "double", "gradient": "double"}


def write_graphml(table: EdgeTable, path: Path) -> None:
    """Write an edge table as GraphML."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{NAMESPACE}">\n')
        for name, kind in TYPES.items():
            file.write(f'<key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>\n')
        if table.node_names is not None:
            file.write('<key id="name" for="node" attr.name="name" attr.type="string"/>\n')
        file.write('<graph id="G" edgedefault="undirected">\n')
        file.writelines(_node_lines(table))
        file.writelines(_edge_lines(table))
        file.write("</graph>\n</graphml>\n")


def _node_lines(table: EdgeTable) -> Iterator[str]:
    if table.node_names is None:
        yield from (f'<node id="{node}"/>\n' for node in range(table.n_nodes or 0))
        return
    for node, name in enumerate(table.node_names):
        # XML cannot hold control characters, not even escaped.
        text = escape("".join(character if character.isprintable() else " " for character in name))
        yield f'<node id="{node}"><data key="name">{text}</data></node>\n'


def _edge_lines(table: EdgeTable) -> Iterator[str]:
    columns = [table.columns[name] for name in ("head", "tail", *TYPES)]
    for head, tail, *values in zip(*columns, strict=True):
        # NaN is written as a missing value: igraph reads it as NaN, networkx as an absent attribute.
        known = ((name, value) for name, value in zip(TYPES, values, strict=True) if value == value)
        data = "".join(f'<data key="{name}">{value}</data>' for name, value in known)
        yield f'<edge source="{head}" target="{tail}">{data}</edge>\n'


def read_graphml(path: Path) -> EdgeTable:
    """Read an undirected graph; every edge needs a weight, and nodes are numbered in the order of the file."""
    from xml.etree.ElementTree import iterparse

    names: dict[str, str] = {}
    nodes: dict[str, int] = {}
    texts: list[str | None] = []
    ends: list[tuple[str, str]] = []
    rows: list[dict[str, str]] = []
    parents: list[Any] = []
    for event, element in iterparse(path, events=("start", "end")):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            if tag == "graph" and element.get("edgedefault") == "directed":
                raise ValueError("it is directed; only undirected graphs can be read")
            parents.append(element)
            continue
        parents.pop()
        if tag == "key":
            name = element.get("attr.name", "")
            names[element.attrib["id"]] = OLD_NAMES.get(name, name)
        elif tag == "node":
            nodes.setdefault(element.attrib["id"], len(nodes))
            held = {names.get(datum.attrib["key"], ""): datum.text or "" for datum in element if "key" in datum.attrib}
            texts.append(held.get("name"))
        elif tag == "edge":
            ends.append((element.attrib["source"], element.attrib["target"]))
            rows.append({names.get(datum.attrib["key"], ""): datum.text or "" for datum in element})
        if tag in ("node", "edge") and parents:
            parents[-1].remove(element)  # the tree in memory stays small, however large the file is
    if any("weight" not in row for row in rows):
        raise ValueError("it has an edge without the attribute weight")
    columns: dict[str, Any] = {"head": [nodes[p] for p, _ in ends], "tail": [nodes[q] for _, q in ends]}
    columns["weight"] = [parse_float(row["weight"]) for row in rows]
    columns["eta"] = [parse_float(row.get("eta", "nan")) for row in rows]
    columns["gradient"] = [parse_float(row.get("gradient", "nan")) for row in rows]
    columns["round"] = [parse_float(row.get("round", "0")) for row in rows]
    columns["origin"] = [row.get("origin", "given") for row in rows]
    known = [text for text in texts if text is not None]
    return EdgeTable(len(nodes), columns, known if known and len(set(known)) == len(nodes) else None)
