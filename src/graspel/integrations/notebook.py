"""Views for notebooks: a graph as a small drawing with its figures, a certificate as a table with verdicts in words."""

from __future__ import annotations

from html import escape

import numpy as np

from graspel.findings.verdicts import judge
from graspel.graph import Graph, Origin
from graspel.learning.certificate import Certificate
from graspel.plot.drawing import spectral_layout

SIZE = 220  # width and height of the drawing, in pixels
MARGIN = 8  # of the drawing, in pixels
MAX_DRAWN_NODES = 3_000  # nodes up to which a graph is drawn: a tenth of a second, and 300 kB of the notebook
COLORS = {"good": "#2A7F3F", "doubtful": "#B26A00", "bad": "#B3261E", "": "inherit"}
CELL = "text-align:left;padding:2px 10px 2px 0"


def graph_html(graph: Graph) -> str:
    """The figures of a graph, and its drawing if it is connected and not too large.

    >>> html = graph_html(Graph(3, [0, 1], [1, 2], 1.0))
    >>> "<svg" in html, "3 nodes" in html
    (True, True)
    """
    counts = zip(*np.unique(graph.origin, return_counts=True), strict=True)
    origins = ", ".join(f"{count:,} {Origin(code).label}" for code, count in counts)
    rows = [
        ("Graph", f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges"),
        ("density", f"{graph.density:.2f} edges per node"),
        ("components", f"{graph.components[0]:,}"),
        ("edges by origin", origins or "none"),
    ]
    if graph.n_edges:
        rows.append(("weights", f"{graph.weights.min():.3g} to {graph.weights.max():.3g}"))
    if graph.node_names is not None:
        rows.append(("names", ", ".join(map(str, graph.node_names[:3])) + ", ..."))
    table = "".join(
        f'<tr><th style="{CELL}">{label}</th><td style="{CELL}">{escape(text)}</td></tr>' for label, text in rows
    )
    return f'<div style="display:flex;gap:16px;align-items:center">{_drawing(graph)}<table>{table}</table></div>'


def certificate_html(certificate: Certificate) -> str:
    """The entries of a certificate with a verdict in words, and what to do about a bad one."""
    verdicts = {row["entry"]: row for row in judge(certificate).rows()}
    rows = []
    for label, value, meaning in certificate.sentences():
        rating, advice = (verdicts[label][name] if label in verdicts else "" for name in ("rating", "advice"))
        color = COLORS[rating]
        cells = [escape(label), escape(value), f'<b style="color:{color}">{rating}</b>', escape(meaning)]
        if advice:
            cells[-1] += f'<br><span style="color:{color}">{escape(advice)}</span>'
        rows.append("<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def _drawing(graph: Graph) -> str:
    """An SVG of the first two nontrivial eigenvectors; empty where that shows little."""
    if not (3 <= graph.n_nodes <= MAX_DRAWN_NODES and graph.is_connected):
        return ""
    places = spectral_layout(graph)[:, :2]
    places -= places.min(axis=0)
    spread = np.maximum(places.max(axis=0), 1e-12)
    places = np.round(MARGIN + places / spread * (SIZE - 2 * MARGIN), 1)
    lines = "".join(
        f"M{x1:g} {y1:g}L{x2:g} {y2:g}"
        for (x1, y1), (x2, y2) in zip(places[graph.heads].tolist(), places[graph.tails].tolist(), strict=True)
    )
    dots = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="1.5"/>' for x, y in places.tolist())
    return (
        f'<svg width="{SIZE}" height="{SIZE}" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="drawing of the graph">'
        f'<path d="{lines}" stroke="#888" stroke-width="0.6" fill="none"/><g fill="#3366aa">{dots}</g></svg>'
    )
