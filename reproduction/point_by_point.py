"""The paper from its first equation to its last claim: what it says, what we measure, where we differ.

A row has the place, the paper's sentence or number, our number in the configuration that the paper describes, that of
our defaults, and a sentence where they differ. Every number is measured by this command, or is taken from a table of
docs/results.json, whose command is named. Means are over ten seeds, with their standard deviation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from graspel.estimators.learner import GRASPEL
from graspel.graph import Origin
from graspel.linalg import effective_resistance
from reproduction import robustness, table1, table2
from reproduction.data import MNIST_SUBSET, TITLES, center_rows, load_data
from reproduction.equations import measure_equations
from reproduction.fig_objective import PAPER_DENSITY, ROUNDS, STARTS, measure_curve
from reproduction.pages import join_page, measure_cells
from reproduction.paper import TABLE1, TABLE2, TWO_NEIGHBORS
from reproduction.request import Cell, Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table, mean_and_spread, read_tables

DATASETS = (*table1.TABLE_DATASETS, MNIST_SUBSET)
QUICK_DATASETS = ("coil20", "usps")
SEEDS, QUICK_SEEDS = 10, 2
SAMPLES = 3  # of each set that is disturbed
HEADER = ["where", "the paper", "ours, as it describes", "our default", "note"]
NEIGHBORS = (2, 5, 10, 20)  # of the graphs whose edges between classes are counted
TOLERANCES: dict[str, dict[str, Any]] = {
    "default": {},
    "tol 100": {"tol": 100.0},
    "tol 10": {"tol": 10.0},
    "refined": {"weights": "refined"},
    "optimal, tol .01": {"weights": "optimal", "tol": 1e-2},
}
LARGE = ("mnist",)
NOT_ON_LARGE = ("optimal, tol .01",)


class Row(NamedTuple):
    """A row of the page."""

    where: str
    said: str
    ours: str = ""
    default: str = ""
    note: str = ""


class Page(NamedTuple):
    """What the rows are made from: the data sets, the seeds, the cells of this page, and those of other pages."""

    datasets: tuple[str, ...]
    n_seeds: int
    n_samples: int
    quick: bool
    own: Results
    of: Callable[[str], Results]


def run(request: Request, results: Results) -> str:
    """Measure what is missing, and return the page as Markdown."""
    only = QUICK_DATASETS if request.quick and request.only is None else request.only
    datasets = tuple(choose_names("only", only, DATASETS))
    n_seeds = request.seeds or (QUICK_SEEDS if request.quick else SEEDS)
    folder = results.path.parent
    pages: dict[str, Results] = {}

    def of(name: str) -> Results:
        return pages.setdefault(name, Results(folder, name))

    page = Page(datasets, n_seeds, min(n_seeds, SAMPLES), request.quick, results, of)
    paragraphs = ["# The paper, point by point", _introduce(page)]
    for title, section in SECTIONS.items():
        rows = section(page, request)
        if rows:
            paragraphs += [f"## {title}", markdown_table(HEADER, [list(row) for row in rows])]
    return join_page(results, *paragraphs)


def _introduce(page: Page) -> str:
    return (
        f"Mean ± standard deviation over {page.n_seeds} seeds, of the compared methods on MNIST and of all on its "
        f"subset over {min(page.n_seeds, 3)}, of the disturbed sets over {page.n_samples}. *As it describes*: rows "
        "centered, sigma 1000, window .05, edge ratio .001. *Our default*: the data as they are, the default of each "
        "estimator. ACC in per cent / NMI."
    )


def _measure(page: Page, step: str, cells: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    return measure_cells(page.own, step, cells)


# Sections 2 and 3, the appendix: equations


EQUATIONS = {
    "smoothness": ("Eq. 1", "x' L x is the sum of w (x_p - x_q)^2"),
    "trace": ("Eq. 2", "smoothness of all signals is Tr(X' L X)"),
    "laplacian": ("Eq. 5", "L is the sum of w e e'"),
    "objective": ("Eq. 3, 4, 6", "F = log det(Theta) - Tr(X' Theta X) / M - beta norm(Theta, 1)"),
    "gradient": ("Eq. 7, 11", "dF / dw = z_emb - z_data - beta"),
    "theorem": ("Eq. 8, 9, Theorem 1, Appendix A", "d lambda_i / dw = (u_i' e)^2"),
    "embedding": ("Eq. 10", "U = u_i / sqrt(lambda_i + 1 / sigma^2), the first five"),
    "eta": ("Eq. 12", "eta = z_emb / z_data"),
    "leverage": ("Section 3.2", "with all eigenvectors and w = 1 / z, eta is the leverage score"),
    "eta gradient": ("Eq. 13", "dF / dw = (1 - 1 / eta) z_emb - beta"),
    "accuracy": ("Appendix, ACC", "the best assignment of clusters to classes"),
    "nmi": ("Appendix, NMI", "I(P, Q) / sqrt(H(P) H(Q))"),
}
EQUATION_NOTES = {
    "objective": "the norm of L is 4 sum w, not sum w; the constant Tr(X' X) / sigma^2 M is left out.",
    "gradient": "the norm's derivative is 4, so that we have 4 beta.",
    "eta gradient": "4 beta, as above",
}


def list_equations(page: Page, request: Request) -> list[Row]:
    """The largest relative error of every equation over the seeds."""
    cells: dict[str, Callable[[], Any]] = {
        f"equations/{seed}": partial(measure_equations, seed) for seed in range(page.n_seeds)
    }
    found = _measure(page, "equations", cells).values()
    worst = {name: max(1e-16, *(value[name] for value in found)) for name in EQUATIONS}
    rows = [
        Row(where, said, f"holds to {worst[name]:.0e}", "the same", EQUATION_NOTES.get(name, ""))
        for name, (where, said) in EQUATIONS.items()
    ]
    cell = _measure(page, "optimum", {"optimum/digits": measure_optimum})["optimum/digits"]
    said = "at the optimum, R = z on every edge"
    ours = f'digits, weights="optimal": |R / z - 1| at most {cell["optimal"]:.0e} on the edges'
    default = f"median {cell['default']:.2f}, as the rounds stop early"
    return [*rows, Row("Section 3.2, convergence", said, ours, default)]


def measure_optimum() -> dict[str, float]:
    """How far R is from z on the edges: the largest deviation at the optimum, the median of the default."""
    from sklearn.datasets import load_digits

    found = {}
    for label, parameters, summary in (("optimal", {"weights": "optimal"}, np.max), ("default", {}, np.median)):
        model = GRASPEL(random_state=0, **parameters).fit(load_digits().data)
        graph = model.graph_
        R = effective_resistance(graph, error=1e-3).values
        z = model.index_.points.squared_distances(graph.heads, graph.tails)
        found[label] = float(summary(np.abs(R / z - 1)))
    return found


# Section 4: the steps of Algorithm 1


def list_steps(page: Page, request: Request) -> list[Row]:
    """Kept edges between classes, densities of the start, and what the rounds do on each set."""
    rows = []
    for name in page.datasets:
        cell = _measure(page, "steps", {f"cuts/{name}": partial(count_cuts, name)})[f"cuts/{name}"]
        shares = ", ".join(f"{100 * share:.1f} % (k = {k})" for k, share in zip(NEIGHBORS, cell["knn"], strict=True))
        said = "kNN graphs with large k tend to a larger cut ratio"
        rows.append(Row(f"Step 1, {TITLES[name]}", said, shares, f"{100 * cell['learned']:.1f} %", CUTS))
    return rows


CUTS = "share of the edges between two classes"


def count_cuts(name: str) -> dict[str, Any]:
    """The share of edges between classes in kNN graphs, and in the default's learned graph."""
    data = load_data(name)
    index = None
    shares = []
    for k in NEIGHBORS[::-1]:
        model = GRASPEL(k, max_iter=0, random_state=0).fit(data.X if index is None else index)
        index, graph = model.index_, model.graph_
        shares.append(float(np.mean(data.y[graph.heads] != data.y[graph.tails])))
    learned = GRASPEL(random_state=0).fit(data.X).graph_
    return {"knn": shares[::-1], "learned": float(np.mean(data.y[learned.heads] != data.y[learned.tails]))}


def list_rounds(page: Page, request: Request) -> list[Row]:
    """Edges by origin, F and the correlation of R and z, for each tolerance and kind of weights."""
    said = "a smaller tolerance adds edges, and R on the graph then encodes z more precisely"
    rows = []
    for name in page.datasets:
        for label, parameters in TOLERANCES.items():
            if name in LARGE and label in NOT_ON_LARGE:
                note = "takes minutes: `python -m benchmarks.optimum --only scale`"
                rows.append(Row(f"Steps 2 to 4, {TITLES[name]}, {label}", said, "not run", "", note))
                continue
            key = f"rounds/{name}/{label}"
            value = _measure(page, "rounds", {key: partial(measure_rounds, name, parameters)})[key]
            edges = ", ".join(f"{number:,} {origin}" for origin, number in value["origins"].items())
            text = f"{edges}; F {value['F']:,.1f}; correlation {value['correlation']:.2f}; {value['rounds']} rounds"
            at = ("", text) if label == "default" else (text, "")
            rows.append(Row(f"Steps 2 to 4, {TITLES[name]}, {label}", said, *at))
    return rows


def measure_rounds(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """What a fit of one data set has added, and how good its graph is. Rows are not centered, as by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GRASPEL(random_state=0, **parameters).fit(load_data(name).X)
    graph, certificate = model.graph_, model.certificate_
    origins = {Origin(origin).name.lower(): int(np.sum(graph.origin == origin)) for origin in np.unique(graph.origin)}
    return {
        "origins": origins,
        "F": certificate.objective,
        "correlation": certificate.resistance_correlation,
        "rounds": model.n_iter_,
    }


def list_distortions(page: Page, request: Request) -> list[Row]:
    """The figure of decreasing distortions: rounds and factor on USPS."""
    if "usps" not in page.datasets:
        return []
    cells = {f"distortions/{seed}": partial(measure_distortions, seed) for seed in range(page.n_seeds)}
    found = list(_measure(page, "distortions", cells).values())
    rounds, factor = ([value[what] for value in found] for what in ("rounds", "factor"))
    note = "our first round joins the components, which removes at once what only sigma limits"
    said = "USPS, 2NN: 11 iterations reduce the largest distortion by over 2,600 times"
    ours = f"{mean_and_spread(rounds, 1)} rounds, by {mean_and_spread(factor, 0)} times"
    return [Row("Section 4, figure", said, ours, "", note)]


def measure_distortions(seed: int) -> dict[str, float]:
    """Rounds, and the factor between the largest distortions of the first round and the last."""
    history = GRASPEL(tol=10.0, random_state=seed).fit(center_rows(load_data("usps").X)).history_
    return {"rounds": len(history), "factor": history[0].max_eta / history[-1].max_eta}


# Section 5: experiments


STAGE_ROWS = {
    "2nn-bare": "2NN graph, not joined, Algorithm 2",
    "2nn-tol100": "tol = 100, Algorithm 2",
    "2nn-tol10": "tol = 10, Algorithm 2",
}
MEASURED = {
    "paper": "uNN start (5NN, condition 30), tol 10, Algorithm 2",
    "paper-sparse": "the same from density 1.10",
    "knn": "kNN, Algorithm 2",
    "cons-knn": "cons-kNN, Algorithm 2",
}


def list_objective(page: Page, request: Request) -> list[Row]:
    """The figure of the objective over thirty rounds."""
    if "usps" not in page.datasets or page.quick:
        return []
    cells = {f"objective/{start}": partial(measure_curve, "usps", start, ROUNDS) for start in STARTS}
    found = _measure(page, "objective", cells)
    rows = []
    for start in STARTS:
        last = found[f"objective/{start}"][-1]
        said = f"USPS from {start}: density {PAPER_DENSITY[start]} after 30 rounds"
        rows.append(Row("Section 5.2, figure", said, f"density {last['density']:.2f}, F {last['objective']:.1f}"))
    note = "its two densities are ours exchanged, and so, it seems, are (a) and (b) in its sentence"
    return [*rows[:-1], rows[-1]._replace(note=note)]


def list_clusters(page: Page, request: Request) -> list[Row]:
    """Table 1, and the paragraph "SC with 2NN graphs"."""
    names = [name for name in page.datasets if name in table1.TABLE_DATASETS]
    results = page.of("table1")
    rows = []
    for name in names:
        default = _measure_clusters(page, results, name, "graspel-consensus", request)
        for method, label in MEASURED.items():
            printed = TABLE1[name][table1.METHODS[method].printed]
            ours = _measure_clusters(page, results, name, method, request)
            said = "cannot handle it" if printed is None else f"{printed.accuracy:.2f} / {printed.nmi:g}"
            if printed is not None and printed.density:
                said += f", density {printed.density:g}"
            rows.append(Row(f"Table 1, {TITLES[name]}, {label}", said, ours, default))
    return rows


def list_stages(page: Page, request: Request) -> list[Row]:
    """The graphs of the spectra's figures, clustered."""
    results, rows = page.of("table1"), []
    for name in [name for name in page.datasets if name in table1.STAGE_DATASETS]:
        for method, label in STAGE_ROWS.items():
            printed = TWO_NEIGHBORS[name].get(table1.METHODS[method].printed)
            said = f"{printed.accuracy} / {printed.nmi}" if printed else "no number of its own"
            said += STAGE_SAYINGS.get((name, method), "")
            rows.append(
                Row(
                    f"Section 5, {TITLES[name]}, {label}", said, _measure_clusters(page, results, name, method, request)
                )
            )
    return rows


STAGE_SAYINGS = {
    (MNIST_SUBSET, "2nn-bare"): ", density 1.567, nine components",
    (MNIST_SUBSET, "2nn-tol100"): ", 8 rounds, 196 edges",
    (MNIST_SUBSET, "2nn-tol10"): ", 24 rounds, 588 edges",
}


def _measure_clusters(page: Page, results: Results, name: str, method: str, request: Request) -> str:
    """ACC and NMI of a row of Table 1, measured there where they are missing."""
    n_seeds = table1.count_seeds(table1.METHODS[method], name, page.n_seeds)
    cells = [Cell(name, method, seed) for seed in range(n_seeds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        table1.measure_missing(cells, request, results)
    values = [results[cell.key] for cell in cells]
    acc = mean_and_spread([100 * value["acc"] for value in values], 1)
    text = f"{acc} / {mean_and_spread([value['nmi'] for value in values], 3)}"
    density = [value["density"] for value in values if value["density"] is not None]
    text += f", density {np.mean(density):.2f}" if density else ""
    if any("did not settle" in warning for value in values for warning in value["warnings"]):
        text += ", not settled in 100 rounds"
    return text


def list_discussion(page: Page, request: Request) -> list[Row]:
    """The Discussion's two claims, by the experiments of `python -m reproduction robustness`."""
    results = page.of("robustness")
    names = robustness.QUICK_DATASETS if page.quick else robustness.DATASETS
    seeds = range(page.n_samples)
    ways = ("knn+paper", "knn", "2nn+paper", "2nn", "consensus")
    kinds = ("none", "noise .5", "classes 1:10")
    robustness.measure(results, names, kinds, ways, seeds)

    def mean(kind: str, way: str) -> list[float]:
        return [float(np.mean(robustness.list_values(results, name, kind, way, seeds, "nmi"))) for name in names]

    said = {
        "classes 1:10": "the learned graphs handle even unbalanced data",
        "noise .5": "the learned graph is robust to noise of the input",
    }
    rows = []
    for kind, sentence in said.items():
        for knn, ours in (("knn+paper", "2nn+paper"), ("knn", "2nn")):
            theirs, mine, default = mean(kind, knn), mean(kind, ours), mean(kind, "consensus")
            text = f"NMI {np.mean(mine):.3f}, kNN10 {np.mean(theirs):.3f}; {_count_ahead(mine, theirs)}"
            other = f"{np.mean(default):.3f}; {_count_ahead(default, theirs)}"
            label = robustness.WAYS[ours].label.partition(", ")[2]
            rows.append(Row(f"Section 5, Discussion, {kind}, {label}", sentence, text, other))
    return rows


def _count_ahead(mine: Sequence[float], theirs: Sequence[float]) -> str:
    return f"ahead on {sum(a > b for a, b in zip(mine, theirs, strict=True))} of {len(mine)} sets"


# Appendix: recovery and t-SNE


RECOVERY = {"graspel": "algorithm-1", "gl-sigrep": "gl-sigrep", "gl-logdet": "gl-logdet", "glsc": "glsc"}


def list_recovery(page: Page, request: Request) -> list[Row]:
    """Table 2, at the best threshold as in the paper."""
    results = page.of("table2")
    n_graphs = table2.QUICK_SEEDS if page.quick else table2.SEEDS
    methods = (*RECOVERY.values(), "graspel")
    cells = [(kind, name, seed) for kind in table2.PAPER_GRAPHS for name in methods for seed in range(n_graphs)]
    todo = {"/".join(map(str, cell)): partial(table2.measure_recovery, *cell) for cell in cells}
    found = measure_cells(results, "recovering graphs", todo)

    def show(kind: str, name: str) -> str:
        values = [found[f"{kind}/{name}/{seed}"]["oracle"] for seed in range(n_graphs)]
        F, nmi = ([value[what] for value in values] for what in ("f_measure", "nmi"))
        return f"F {mean_and_spread(F, 3)}, NMI {mean_and_spread(nmi, 3)}"

    rows = []
    for kind in table2.PAPER_GRAPHS:
        for printed, method in RECOVERY.items():
            paper = TABLE2[kind][printed]
            said = f"F {paper.f_measure:.3f}, NMI {paper.nmi:.3f}"
            label = table2.METHODS[method].label
            default = show(kind, "graspel") if printed == "graspel" else ""
            note = "default: GraspelRecovery" if printed == "graspel" else ""
            rows.append(Row(f"Table 2, {kind}, {label}", said, show(kind, method), default, note))
    return rows


def list_recorded(page: Page, request: Request) -> list[Row]:
    """What other commands measure, from the tables of the pages."""
    rows = []
    for (where, said), (name, row, columns, note) in RECORDED.items():
        table = read_tables().get(name)
        if table is None:
            rows.append(Row(where, said, "not reproduced, because no run is recorded", "", note))
            continue
        line = next((line for line in table["rows"] if row in line[0]), None)
        cells = [] if line is None else [f"{table['header'][at]}: {line[at]}" for at in columns if at < len(line)]
        rows.append(Row(where, said, "; ".join(cells) or "not recorded", "", f"`{table['command']}`. {note}".strip()))
    return rows


RECORDED: dict[tuple[str, str], tuple[str, str, tuple[int, ...], str]] = {
    ("Section 3.3", "the whole takes nearly linear time"): ("large/sizes", "", (0, 1, 2, 3, 4), ""),
    ("Appendix, figure of recovery times", "far better scalability than GL-SigRep, GL-LogDet and GLSC"): (
        "fig-recovery-time/seconds-of-graph-recovery", "ours", (3, 6, 7), "Seconds by the number of nodes.",
    ),
    ("Appendix, t-SNE", "5 times reduced: 12.8 (MNIST) and 7 (USPS) times faster, as good a picture"): (
        "tsne/representatives", "", (0, 1, 2, 3, 4), "",
    ),
}  # fmt: skip


NOT_REPRODUCED = [
    Row(
        "Section 5.1, 5.3, figures",
        "first 20 eigenvalues and spectral drawings",
        "`python -m reproduction fig-spectra` draws them",
    ),
    Row(
        "Section 3.3, figure",
        "overview of the framework",
        "not reproduced, because it is a drawing of the steps",
        "",
        "docs/architecture.md has ours.",
    ),
    Row(
        "Section 5.3, USPS, tol = 10",
        "90.6 / .884",
        "not reproduced, because no reading of the paper that we tried gives both numbers",
        "",
        "`python -m reproduction authors-code` has those tried.",
    ),
    Row(
        "Appendix, compared methods",
        "kNN, cons-kNN, LSGL, GL-SigRep, GL-LogDet, GLSC",
        "written again from their papers, in reproduction/baselines",
        "",
        "their optimality conditions are tests.",
    ),
    Row(
        "Conclusion, broader impact",
        "robustness to adversarial examples, other fields",
        "not reproduced, because it names no experiment",
    ),
]

SECTIONS: dict[str, Callable[[Page, Request], list[Row]]] = {
    "Equations": list_equations,
    "Step 1, the initial graph": list_steps,
    "Steps 2 to 4, the rounds": list_rounds,
    "Decreasing distortions": list_distortions,
    "The objective": list_objective,
    "Table 1": list_clusters,
    "From the 2NN graph": list_stages,
    "Discussion": list_discussion,
    "Table 2": list_recovery,
    "By other commands": list_recorded,
    "The rest": lambda page, request: NOT_REPRODUCED,
}
