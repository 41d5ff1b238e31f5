"""Table 1 as text: our measurements beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reproduction.data import TITLES
from reproduction.pages import join_page
from reproduction.paper import TABLE1, TWO_NEIGHBORS, Printed
from reproduction.results import Results
from reproduction.table1_rows import STAGE_DATASETS, STAGES, TABLE, TABLE_DATASETS, ClusteringMethod, count_seeds
from reproduction.table_cell import Cell
from reproduction.tables import markdown_table, mean_and_spread

TITLE = "Table 1: spectral clustering"

DETAILS = ("ACC %", "NMI", "ARI", "construct s", "cluster s", "density", "components", "seeds", "paper")

NOTES = """\
ACC, NMI, ARI: mean ± standard deviation over seeds; seconds: means. The paper's column: ACC % / NMI / seconds of
construction / of clustering / density, "-" where it says that a method cannot handle the data, empty where it has no
such row. The paper measured its seconds on another machine.

- The data are not scaled. We ask for as many clusters as there are classes; the classes are used for scoring only. No
  setting depends on the data set.
- "Algorithm 2" is the paper's: k-means, 10 random starts, on the first K nontrivial eigenvectors. "Our assignment
  stage" is the default of graspel (Ward's clustering along the graph). The paper's GRASPEL starts from uNN graphs; its
  numbers are shown beside all four rows of ours.
- kNN, cons-kNN and LSGL with k = 10. "components" is their number as constructed. Where there are several, they are
  joined by their closest pairs (those of GRASPEL with max_iter=0), at the median of the graph's weights; the seconds do
  not include this. "density" is |E| / |V| after joining.
- Methods that share a graph share its seconds. For scikit-learn's spectral clustering and k-means, all seconds are
  listed as clustering.
- Slow methods have fewer seeds (column "seeds"): on MNIST 3 for kNN, cons-kNN, k-means and UMAP, 1 for LSGL and
  scikit-learn; on the MNIST subset 3.
- "> s": stopped after that many seconds, a lower bound. On MNIST scikit-learn runs only if named by --methods.\
"""

STAGE_NOTES = """\
The paragraph "SC with 2NN graphs": from the 2NN graph, whose components are not joined, to the graph that GRASPEL ends
with (rows centered, as in the paper's runs). Before joining, the first K eigenvectors are those of scipy's eigsh: K
arbitrary vectors of the null space, which has one dimension for each component. Our assignment stage refuses that
graph, because it does not say which components belong together. The paper gives one result for the learned graph and
does not say for which tolerance.\
"""


def write_tables(results: Results, datasets: Sequence[str], methods: Sequence[str], n_seeds: int) -> str:
    """All tables as Markdown."""
    table = {name: TABLE[name] for name in methods if name in TABLE}
    stages = {name: STAGES[name] for name in methods if name in STAGES}
    of_table = [name for name in datasets if name in TABLE_DATASETS and table]
    of_stages = [name for name in datasets if name in STAGE_DATASETS and stages]
    paragraphs = [f"# {TITLE}"]
    if of_table:
        paragraphs += ["## ACC % / NMI, with the paper's in brackets", _summarize(results, of_table, table, n_seeds)]
    for name in of_table:
        paragraphs += [f"## {TITLES[name]}", _list_details(results, name, table, n_seeds, TABLE1[name])]
    if of_table:
        paragraphs.append(NOTES)
    if of_stages:
        paragraphs += ["## From the 2NN graph to the learned one", STAGE_NOTES]
    for name in of_stages:
        paragraphs += [f"### {TITLES[name]}", _list_details(results, name, stages, n_seeds, TWO_NEIGHBORS[name])]
    return join_page(results, *paragraphs)


def _get_values(
    results: Results, dataset: str, name: str, method: ClusteringMethod, n_seeds: int
) -> list[dict[str, Any]]:
    """The measurements, one for each seed."""
    cells = (Cell(dataset, name, seed) for seed in range(count_seeds(method, dataset, n_seeds)))
    return [results[cell.key] for cell in cells if cell.key in results]


def _summarize(results: Results, datasets: Sequence[str], methods: Mapping[str, ClusteringMethod], n_seeds: int) -> str:
    rows = []
    for name, method in methods.items():
        cells = []
        for dataset in datasets:
            values = _get_values(results, dataset, name, method, n_seeds)
            printed = _format_short(TABLE1[dataset][method.printed]) if method.printed else ""
            cells.append(f"{_format_scores(values)} {f'({printed})' if printed else ''}".strip())
        rows.append([method.label, *cells])
    return markdown_table(["", *(TITLES[name] for name in datasets)], rows)


def _format_scores(values: Sequence[Mapping[str, Any]]) -> str:
    """ACC and NMI in one cell."""
    known = [value for value in values if "acc" in value]
    if known:
        return f"{mean_and_spread([100 * value['acc'] for value in known], 1)} / {_format_mean(known, 'nmi', 3)}"
    return _explain_missing(values)


def _explain_missing(values: Sequence[Mapping[str, Any]]) -> str:
    """Why there is no result."""
    if not values:
        return "not run"
    return f"> {values[0]['over']:.0f} s" if "over" in values[0] else "failed"


def _list_details(
    results: Results,
    dataset: str,
    methods: Mapping[str, ClusteringMethod],
    n_seeds: int,
    printed: Mapping[str, Printed | None],
) -> str:
    rows = []
    for name, method in methods.items():
        values = _get_values(results, dataset, name, method, n_seeds)
        known = [value for value in values if "acc" in value]
        paper = _format_long(printed[method.printed]) if method.printed else ""
        if not known:
            rows.append([method.label, _explain_missing(values), *[""] * (len(DETAILS) - 2), paper])
            continue
        rows.append(
            [
                method.label,
                mean_and_spread([100 * value["acc"] for value in known], 1),
                mean_and_spread([value["nmi"] for value in known], 3),
                mean_and_spread([value["ari"] for value in known], 3),
                _format_mean(known, "construction", 2),
                _format_mean(known, "clustering", 2),
                _format_mean(known, "density", 2),
                _format_mean(known, "components", 0),
                str(len(known)),
                paper,
            ]
        )
    return markdown_table(["", *DETAILS], rows)


def _format_mean(values: Sequence[Mapping[str, Any]], name: str, digits: int) -> str:
    numbers = [value[name] for value in values if value[name] is not None]
    return f"{sum(numbers) / len(numbers):.{digits}f}" if numbers else ""


def _format_short(printed: Printed | None) -> str:
    return "-" if printed is None else f"{printed.accuracy:.2f} / {printed.nmi:g}"


def _format_long(printed: Printed | None) -> str:
    """All numbers that the paper prints for a cell."""
    if printed is None:
        return "-"
    more = (printed.construction, printed.clustering, printed.density)
    return " / ".join([_format_short(printed), *(f"{number:g}" for number in more if number is not None)])
