"""Table 1 of the paper, spectral clustering, and its paragraph "SC with 2NN graphs": measured again, with peers.

`run` measures the cells that are missing and returns the tables, our numbers beside the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from graspel.runtime.progress import announce
from reproduction.clusterings import (
    PEERS,
    BuiltGraph,
    Problem,
    cluster_built,
    construct,
    measure_clusters,
    measure_with_limit,
)
from reproduction.data import MNIST_SUBSET, TITLES, load_data
from reproduction.datasets import Dataset
from reproduction.pages import join_page
from reproduction.paper import TABLE1, TWO_NEIGHBORS, Printed
from reproduction.request import Cell, Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table, mean_and_spread

TABLE_DATASETS = ("coil20", "pendigits", "usps", "mnist")
STAGE_DATASETS = ("usps", MNIST_SUBSET)
QUICK_DATASETS = ("coil20", "usps")
DATASETS = (*TABLE_DATASETS, MNIST_SUBSET)


@dataclass(frozen=True)
class ClusteringMethod:
    """One row: a graph and an assignment stage, or a peer.

    Attributes
    ----------
    label : str
        Name in the table.
    graph, assignment : str
        Keys of GRAPHS and ASSIGNMENTS; empty for a peer, which stands in PEERS under the name of the row.
    printed : str
        The paper's name of the row; empty where the paper has no such row.
    datasets : tuple of str
        Data sets it runs on.
    most_seeds : mapping
        Data set -> upper limit of the seeds, where ten would take too long.
    limited_on : tuple of str
        Data sets on which it runs only if named, with a time limit.
    is_slow : bool
        Whether a quick run leaves it out.
    """

    label: str
    graph: str = ""
    assignment: str = ""
    printed: str = ""
    datasets: tuple[str, ...] = TABLE_DATASETS
    most_seeds: Mapping[str, int] = field(default_factory=dict)
    limited_on: tuple[str, ...] = ()
    is_slow: bool = False


THREE, ONE = {"mnist": 3}, {"mnist": 1}

TABLE: dict[str, ClusteringMethod] = {
    "knn": ClusteringMethod("kNN, Algorithm 2", "knn", "paper", "kNN", most_seeds=THREE),
    "knn+ward": ClusteringMethod("kNN, our assignment stage", "knn", "ward", most_seeds=THREE),
    "cons-knn": ClusteringMethod("cons-kNN, Algorithm 2", "cons-knn", "paper", "cons-kNN", most_seeds=THREE),
    "cons-knn+ward": ClusteringMethod("cons-kNN, our assignment stage", "cons-knn", "ward", most_seeds=THREE),
    "lsgl": ClusteringMethod("LSGL, Algorithm 2", "lsgl", "paper", "LSGL", most_seeds=ONE, is_slow=True),
    "lsgl+ward": ClusteringMethod("LSGL, our assignment stage", "lsgl", "ward", most_seeds=ONE, is_slow=True),
    "graspel-consensus": ClusteringMethod("graspel, consensus (default)", printed="GRASPEL"),
    "graspel": ClusteringMethod("graspel, 2NN", "2nn", "ward", "GRASPEL"),
    "graspel+paper": ClusteringMethod("graspel, 2NN, Algorithm 2", "2nn", "paper", "GRASPEL"),
    "paper": ClusteringMethod("graspel as in the paper: uNN, tol 10, Algorithm 2", "unn-tol10", "paper", "GRASPEL"),
    "paper-sparse": ClusteringMethod(
        "the same, uNN sparsified to density 1.10", "unn-sparse-tol10", "paper", "GRASPEL"
    ),
    "graspel-unn": ClusteringMethod("graspel, uNN", "unn", "ward", "GRASPEL"),
    "graspel-unn3": ClusteringMethod("graspel, uNN of 3 neighbors", "unn3", "ward"),
    "graspel-critical": ClusteringMethod("graspel, 2NN + critical edges", "critical", "ward", "GRASPEL"),
    "sklearn-spectral": ClusteringMethod(
        "scikit-learn SpectralClustering", most_seeds=ONE, limited_on=("mnist",), is_slow=True
    ),
    "kmeans": ClusteringMethod("k-means", most_seeds=THREE, is_slow=True),
    "umap": ClusteringMethod("UMAP + k-means", most_seeds=THREE, is_slow=True),
}

_STAGE: dict[str, Any] = {"datasets": STAGE_DATASETS, "most_seeds": {MNIST_SUBSET: 3}}
STAGES: dict[str, ClusteringMethod] = {
    "2nn-bare": ClusteringMethod("2NN, not joined, Algorithm 2", "2nn-bare", "naive", "2NN", **_STAGE),
    "2nn-joined": ClusteringMethod("2NN, joined, Algorithm 2", "2nn-joined", "paper", **_STAGE),
    "2nn-joined+ward": ClusteringMethod("2NN, joined, our assignment stage", "2nn-joined", "ward", **_STAGE),
    "2nn-tol100": ClusteringMethod("tol = 100, Algorithm 2", "2nn-tol100", "paper", **_STAGE),
    "2nn-tol100+ward": ClusteringMethod("tol = 100, our assignment stage", "2nn-tol100", "ward", **_STAGE),
    "2nn-tol10": ClusteringMethod("tol = 10, Algorithm 2", "2nn-tol10", "paper", "GRASPEL, 2NN", **_STAGE),
    "2nn-tol10+ward": ClusteringMethod("tol = 10, our assignment stage", "2nn-tol10", "ward", "GRASPEL, 2NN", **_STAGE),
}
METHODS = TABLE | STAGES


def count_seeds(method: ClusteringMethod, dataset: str, n_seeds: int) -> int:
    """Number of seeds of a method on a data set; 0 where it does not run on it."""
    return min(n_seeds, method.most_seeds.get(dataset, n_seeds)) if dataset in method.datasets else 0


TITLE = "Table 1: spectral clustering"

SCORES = {"acc": "ACC %", "nmi": "NMI"}
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


def run(request: Request, results: Results) -> str:
    """Measure the cells that are missing; return the tables as Markdown."""
    datasets = choose_names("only", request.only, DATASETS)
    methods = choose_names("methods", request.methods, METHODS)
    if request.quick and request.only is None:
        datasets = list(QUICK_DATASETS)
    measure_missing(plan_cells(request, datasets, methods), request, results)
    return write_tables(results, datasets, methods, request.n_seeds)


def plan_cells(request: Request, datasets: list[str], methods: list[str]) -> list[Cell]:
    """The cells to measure; those that share a graph follow each other."""
    return [
        Cell(dataset, name, seed)
        for dataset in datasets
        for seed in range(request.n_seeds)
        for name in methods
        if seed < count_seeds(METHODS[name], dataset, request.n_seeds)
        and (request.methods is not None or _runs_by_default(name, dataset, request.quick))
    ]


def _runs_by_default(name: str, dataset: str, quick: bool) -> bool:
    """Whether a method runs on a data set without being named."""
    method = METHODS[name]
    if name == "umap" and find_spec("umap") is None:
        return False
    return not (quick and method.is_slow) and dataset not in method.limited_on


def measure_missing(cells: list[Cell], request: Request, results: Results) -> None:
    """Measure the cells that are not among the results, and announce the progress."""
    for cell in cells:
        if cell.key in results and _must_be_repeated(results[cell.key], request.limit):
            results.forget(cell.key)
    todo = [cell for cell in cells if cell.key not in results]
    if any(cell.method == "umap" for cell in todo) and find_spec("umap") is None:
        raise ImportError('the method umap needs umap-learn: install it by pip install "graspel[bench]".')
    # All data sets are loaded before the first cell, so that a missing file shows now and not after an hour.
    loaded = {name: load_data(name) for name in dict.fromkeys(cell.dataset for cell in todo)}
    runner = _CellRunner(loaded, request.limit)
    for at, cell in enumerate(todo):
        label = METHODS[cell.method].label
        detail = f"cell {len(cells) - len(todo) + at + 1} of {len(cells)}: {label}, seed {cell.seed}"
        announce(f"measuring {TITLES[cell.dataset]}", _share_of_dataset(cells, cell), detail)
        results.get(cell.key, lambda cell=cell: runner.measure(cell))  # type: ignore[misc]


def _must_be_repeated(value: Mapping[str, Any], limit: float) -> bool:
    """Whether the cell failed, or was stopped at a lower limit than the present one."""
    return "failed" in value or value.get("over", limit) < limit


def _share_of_dataset(cells: list[Cell], cell: Cell) -> float:
    same = [other for other in cells if other.dataset == cell.dataset]
    return same.index(cell) / len(same)


class _CellRunner:
    """Measures cells. It keeps the last graph: methods that differ only in their assignment stage share it."""

    def __init__(self, loaded: Mapping[str, Dataset], limit: float) -> None:
        self._loaded, self._limit = loaded, limit
        self._last: tuple[tuple[str, str, int], BuiltGraph] | None = None

    def measure(self, cell: Cell) -> dict[str, Any]:
        """Measure one cell."""
        method = METHODS[cell.method]
        if cell.dataset in method.limited_on:
            return measure_with_limit(self._limit, cell.method, cell.dataset, cell.seed)
        data = self._loaded[cell.dataset]
        problem = Problem(cell.dataset, data.X, data.y, cell.seed)
        if method.graph:
            return measure_clusters(
                lambda: cluster_built(self._build(method.graph, problem), method.assignment, problem), problem.y
            )
        return measure_clusters(lambda: PEERS[cell.method](problem), problem.y)

    def _build(self, name: str, problem: Problem) -> BuiltGraph:
        key = (name, problem.dataset, problem.seed)
        if self._last is None or self._last[0] != key:
            self._last = (key, construct(name, problem))
        return self._last[1]


def write_tables(results: Results, datasets: Sequence[str], methods: Sequence[str], n_seeds: int) -> str:
    """All tables as Markdown."""
    table = {name: TABLE[name] for name in methods if name in TABLE}
    stages = {name: STAGES[name] for name in methods if name in STAGES}
    of_table = [name for name in datasets if name in TABLE_DATASETS and table]
    of_stages = [name for name in datasets if name in STAGE_DATASETS and stages]
    paragraphs = [f"# {TITLE}"]
    if of_table:
        for score, title in SCORES.items():
            heading = f"## {title}, the paper's in brackets"
            paragraphs += [heading, _summarize(results, of_table, table, n_seeds, score)]
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


def _summarize(
    results: Results, datasets: Sequence[str], methods: Mapping[str, ClusteringMethod], n_seeds: int, score: str
) -> str:
    rows = []
    for name, method in methods.items():
        cells = []
        for dataset in datasets:
            values = _get_values(results, dataset, name, method, n_seeds)
            printed = _format_short(TABLE1[dataset][method.printed], score) if method.printed else ""
            cells.append(f"{_format_score(values, score)} {f'({printed})' if printed else ''}".strip())
        rows.append([method.label, *cells])
    return markdown_table([SCORES[score], *(TITLES[name] for name in datasets)], rows)


def _format_score(values: Sequence[Mapping[str, Any]], score: str) -> str:
    known = [value for value in values if score in value]
    if not known:
        return _explain_missing(values)
    return (
        mean_and_spread([100 * value["acc"] for value in known], 1) if score == "acc" else _format_mean(known, score, 3)
    )


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


def _format_short(printed: Printed | None, score: str) -> str:
    if printed is None:
        return "-"
    return f"{printed.accuracy:.2f}" if score == "acc" else f"{printed.nmi:g}"


def _format_long(printed: Printed | None) -> str:
    """All numbers that the paper prints for a cell."""
    if printed is None:
        return "-"
    more = (printed.construction, printed.clustering, printed.density)
    scores = [_format_short(printed, score) for score in ("acc", "nmi")]
    return " / ".join([*scores, *(f"{number:g}" for number in more if number is not None)])
