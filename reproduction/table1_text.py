"""Table 1 as text: what was measured beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reproduction.markdown import markdown_table, mean_and_spread
from reproduction.pages import signed
from reproduction.paper import TABLE1, TWO_NEIGHBOURS, Printed
from reproduction.points import TITLES
from reproduction.results import Results
from reproduction.table1_rows import STAGE_DATASETS, STAGES, TABLE, TABLE_DATASETS, Cell, Method, n_seeds_of

TITLE = "Table 1: spectral clustering"

DETAILS = ("ACC %", "NMI", "ARI", "construct s", "cluster s", "density", "parts", "seeds", "paper")

NOTES = """\
ACC, NMI, ARI: mean ± standard deviation over seeds; seconds: means. The paper's column: ACC % / NMI / seconds of
construction / of clustering / density, "-" where it says that a method cannot handle the data, empty where it has no
such row. Its seconds are of another machine.

- Data as stored, not scaled. As many clusters as classes; the classes serve for scoring only. No setting is chosen per
  data set.
- "Algorithm 2" is the paper's: k-means, 10 random starts, on the first K nontrivial eigenvectors. "Our head" is the
  default of graspel. The paper's GRASPEL starts from uNN graphs; its numbers stand beside all four rows of ours.
- kNN, cons-kNN and LSGL with k = 10. "parts" is the number of components as constructed. Where there is more than one,
  they are joined by their closest pairs (those of GRASPEL with max_iter=0), at the median of the graph's weights; its
  seconds do not count that. "density" is |E| / |V| after joining.
- Methods that share a graph share its seconds. scikit-learn's spectral clustering and k-means show all their seconds
  as clustering.
- Fewer than the usual number of seeds (column "seeds") are run where a method takes long: on MNIST 3 for kNN,
  cons-kNN, k-means and UMAP, 1 for LSGL and scikit-learn; on the MNIST subset 3.
- "> s": stopped after that many seconds, a lower bound. On MNIST scikit-learn runs only if named by --methods.\
"""

STAGE_NOTES = """\
The paragraph "SC with 2NN graphs": from the 2NN graph as it is, in parts, to the graph that GRASPEL ends with (rows
centered, as in the paper's runs). In parts, the first K eigenvectors are those of scipy's eigsh: any K vectors of a null
space with as many dimensions as parts. Our head refuses that graph, which does not say which parts belong together. The
paper gives one result for the learned graph and does not say for which tolerance.\
"""


def tables(results: Results, datasets: Sequence[str], methods: Sequence[str], n_seeds: int) -> str:
    """All tables of what was measured, as Markdown."""
    table = {name: TABLE[name] for name in methods if name in TABLE}
    stages = {name: STAGES[name] for name in methods if name in STAGES}
    of_table = [name for name in datasets if name in TABLE_DATASETS and table]
    of_stages = [name for name in datasets if name in STAGE_DATASETS and stages]
    parts = [f"# {TITLE}"]
    if of_table:
        parts += ["## ACC % / NMI, with the paper's in brackets", _summary(results, of_table, table, n_seeds)]
    for name in of_table:
        parts += [f"## {TITLES[name]}", _details(results, name, table, n_seeds, TABLE1[name])]
    if of_table:
        parts.append(NOTES)
    if of_stages:
        parts += ["## From the 2NN graph to the learned one", STAGE_NOTES]
    for name in of_stages:
        parts += [f"### {TITLES[name]}", _details(results, name, stages, n_seeds, TWO_NEIGHBOURS[name])]
    return signed(results, *parts)


def _values(results: Results, dataset: str, name: str, method: Method, n_seeds: int) -> list[dict[str, Any]]:
    """What was measured, one entry for each seed."""
    cells = (Cell(dataset, name, seed) for seed in range(n_seeds_of(method, dataset, n_seeds)))
    return [results[cell.key] for cell in cells if cell.key in results]


def _summary(results: Results, datasets: Sequence[str], methods: Mapping[str, Method], n_seeds: int) -> str:
    rows = []
    for name, method in methods.items():
        cells = []
        for dataset in datasets:
            values = _values(results, dataset, name, method, n_seeds)
            printed = _short(TABLE1[dataset][method.printed]) if method.printed else ""
            cells.append(f"{_result(values)} {f'({printed})' if printed else ''}".strip())
        rows.append([method.label, *cells])
    return markdown_table(["", *(TITLES[name] for name in datasets)], rows)


def _result(values: Sequence[Mapping[str, Any]]) -> str:
    """ACC and NMI in one cell."""
    known = [value for value in values if "acc" in value]
    if known:
        return f"{mean_and_spread([100 * value['acc'] for value in known], 1)} / {_mean(known, 'nmi', 3)}"
    return _nothing(values)


def _nothing(values: Sequence[Mapping[str, Any]]) -> str:
    """Why there is no result."""
    if not values:
        return "not run"
    return f"> {values[0]['over']:.0f} s" if "over" in values[0] else "failed"


def _details(
    results: Results, dataset: str, methods: Mapping[str, Method], n_seeds: int, printed: Mapping[str, Printed | None]
) -> str:
    rows = []
    for name, method in methods.items():
        values = _values(results, dataset, name, method, n_seeds)
        known = [value for value in values if "acc" in value]
        paper = _long(printed[method.printed]) if method.printed else ""
        if not known:
            rows.append([method.label, _nothing(values), *[""] * (len(DETAILS) - 2), paper])
            continue
        rows.append(
            [
                method.label,
                mean_and_spread([100 * value["acc"] for value in known], 1),
                mean_and_spread([value["nmi"] for value in known], 3),
                mean_and_spread([value["ari"] for value in known], 3),
                _mean(known, "construction", 2),
                _mean(known, "clustering", 2),
                _mean(known, "density", 2),
                _mean(known, "components", 0),
                str(len(known)),
                paper,
            ]
        )
    return markdown_table(["", *DETAILS], rows)


def _mean(values: Sequence[Mapping[str, Any]], name: str, digits: int) -> str:
    numbers = [value[name] for value in values if value[name] is not None]
    return f"{sum(numbers) / len(numbers):.{digits}f}" if numbers else ""


def _short(printed: Printed | None) -> str:
    return "-" if printed is None else f"{printed.accuracy:.2f} / {printed.nmi:g}"


def _long(printed: Printed | None) -> str:
    """All that the paper prints, as it prints it."""
    if printed is None:
        return "-"
    more = (printed.construction, printed.clustering, printed.density)
    return " / ".join([_short(printed), *(f"{number:g}" for number in more if number is not None)])
