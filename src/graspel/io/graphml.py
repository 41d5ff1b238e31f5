"""The .graphml format of graphs: XML for Gephi, Cytoscape, networkx and igraph.

Columns are attributes of the edges, and names attributes of the nodes. No library for it is in our dependencies: the
reader of networkx keeps the whole tree of the file and a dictionary for each edge in memory, and igraph's does not say
where a file is wrong.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from graspel.io.csv_files import parse_float
from graspel.runtime.shown import quote

if TYPE_CHECKING:
    from graspel.io.graph_files import EdgeTable

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
TYPES = {"weight": "double", "origin": "string", "round": "int", "eta": "double", "gradient": "double"}
ABSENT = {"origin": "given", "round": "0", "eta": "nan", "gradient": "nan"}  # for an edge without this attribute
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not even escaped (XML 1.0, 2.2)
REFERENCES = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}  # a parser reads a bare carriage return as a line feed


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
        if FORBIDDEN.search(name):
            raise ValueError(
                f"the name of node {node}, {quote(name)}, holds a control character, which no .graphml file can hold. "
                "Write .npz, .csv or .parquet, or give the nodes other names by Graph.with_names."
            )
        yield f'<node id="{node}"><data key="name">{escape(name, REFERENCES)}</data></node>\n'


def _edge_lines(table: EdgeTable) -> Iterator[str]:
    columns = [table.columns[name] for name in ("head", "tail", *TYPES)]
    for head, tail, *values in zip(*columns, strict=True):
        # NaN is written as a missing value: igraph reads it as NaN, networkx as an absent attribute.
        known = ((name, value) for name, value in zip(TYPES, values, strict=True) if value == value)
        data = "".join(f'<data key="{name}">{value}</data>' for name, value in known)
        yield f'<edge source="{head}" target="{tail}">{data}</edge>\n'


def read_graphml(path: Path) -> tuple[int, dict[str, Any], list[str] | None]:
    """Read an undirected graph: the fields of an `EdgeTable`.

    Every edge needs a weight, and nodes are numbered in the order of the file.
    """
    nodes: dict[str, int] = {}
    names: list[str | None] = []
    ends: list[tuple[str, str]] = []
    rows: list[dict[str, str]] = []
    for tag, element, held in _elements(path):
        if tag == "node":
            if element.attrib["id"] in nodes:
                raise ValueError(f"it has two nodes with the id {quote(element.attrib['id'])}")
            nodes[element.attrib["id"]] = len(nodes)
            names.append(held.get("name"))
        else:
            ends.append((element.attrib["source"], element.attrib["target"]))
            rows.append(held)
    unknown = next((end for pair in ends for end in pair if end not in nodes), None)
    if unknown is not None:
        raise ValueError(f"an edge ends at the node {quote(unknown)}, which the file does not have")
    if any("weight" not in row for row in rows):
        raise ValueError("it has an edge without the attribute weight")
    columns: dict[str, Any] = {"head": [nodes[p] for p, _ in ends], "tail": [nodes[q] for _, q in ends]}
    for name, kind in TYPES.items():
        cells = [row.get(name, ABSENT.get(name, "")) for row in rows]
        columns[name] = cells if kind == "string" else [parse_float(cell) for cell in cells]
    return len(nodes), columns, _all_different(names, path)


def _elements(path: Path) -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Each node and edge of the file, with its attributes by their names."""
    from xml.etree.ElementTree import iterparse

    keys: dict[str, str] = {}
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
            keys[element.attrib["id"]] = element.get("attr.name", "")
        elif tag in ("node", "edge"):
            yield tag, element, {keys.get(datum.get("key", ""), ""): datum.text or "" for datum in element}
            if parents:
                parents[-1].remove(element)  # the tree in memory stays small, however large the file is


def _all_different(names: list[str | None], path: Path) -> list[str] | None:
    known = [name for name in names if name is not None]
    if not known:
        return None
    if len(set(known)) < len(names):
        warnings.warn(
            f"{path}: the names of its nodes are not all there or not all different, so nodes are numbered instead.",
            stacklevel=2,
        )
        return None
    return known
