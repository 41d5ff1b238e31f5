"""The options of ``graspel learn``: one for each parameter of the estimator.

An option that is not given is left to the estimator; the default named in its help is the estimator's (a test
compares them).
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graspel.cli.help_text import default

START = "Start graph (Origin 1)"
GROWTH = "Critical edges (Steps 2 and 3)"
STOP = "When to stop (Origin 4)"
MODEL = "Objective and data"
RUN = "The run"


def _option(panel: str, value: str, help: str, *names: str, metavar: str | None = None, **more: Any) -> Any:
    help += default(value)
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=panel, metavar=metavar, **more)


def _tolerance(text: str) -> float | None:
    """Return the number, or None, the estimator's own choice, for "auto"."""
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor auto") from None


Neighbors = Annotated[
    int | None,
    _option(START, "2", "How many nearest neighbors each point is joined to at the start.", "--n-neighbors", "-k"),
]
Metric = Annotated[
    str | None, _option(START, "euclidean", "How distance is measured: euclidean or cosine.", metavar="METRIC")
]
Initial = Annotated[
    str | None,
    _option(
        START,
        "knn",
        "The start graph: knn (nearest neighbors), unn (a larger kNN graph, spectrally sparsified; -k 5 is usual), "
        "mst (minimum spanning tree), or the path of a graph file on the same points.",
        metavar="knn|unn|mst|FILE",
    ),
]
Candidates = Annotated[
    str | None,
    _option(
        GROWTH,
        "fiedler",
        "Where new edges are looked for: fiedler (between the two ends of the Fiedler order), clusters (between "
        "distant clusters of the spectral embedding) or multilevel (behind the worst pairs of a coarsened graph).",
        metavar="fiedler|clusters|multilevel",
    ),
]
Window = Annotated[
    float | None,
    _option(GROWTH, "0.05", "Share of the points taken from each end of the Fiedler order (the paper's epsilon)."),
]
EdgeRatio = Annotated[
    float | None, _option(GROWTH, "0.001", "Edges added per round, as a share of the points (the paper's zeta).")
]
Components = Annotated[
    int | None,
    _option(
        GROWTH,
        "1 for fiedler, 20 for clusters, 5 for multilevel",
        "Eigenvectors in the spectral embedding (the paper's r - 1).",
    ),
]
Tol = Annotated[
    float | None,
    _option(
        STOP,
        "auto",
        "Stop when no candidate edge has a distortion (eta) above this; auto: where no candidate raises the objective "
        "any more. The paper uses 10 and 100. With --stability eigenvalues: the largest relative change; auto: 0.01.",
        metavar="FLOAT|auto",
        parser=_tolerance,
    ),
]
Stability = Annotated[
    str | None,
    _option(
        STOP,
        "distortion",
        "What must settle: distortion (the largest eta falls under --tol) or eigenvalues (the first eigenvalues "
        "move by less than --tol).",
        metavar="distortion|eigenvalues",
    ),
]
MaxIter = Annotated[int | None, _option(STOP, "100", "Rounds at most; 0 keeps the start graph, joined to one piece.")]
Sigma = Annotated[
    float | None,
    _option(MODEL, "1000.0", "Prior scale: the objective adds 1/sigma^2 to every eigenvalue."),
]
Beta = Annotated[float | None, _option(MODEL, "0.0", "Weight of the sparsity penalty.")]
Refine = Annotated[
    bool | None,
    _option(
        MODEL,
        "no-refine",
        "Bring the weights to the optimum of the objective: effective resistance equals the distance in the data on "
        "every edge.",
        "--refine/--no-refine",
    ),
]
Center = Annotated[
    bool | None,
    _option(
        MODEL,
        "no-center",
        "Subtract each row's mean first: for rows that are variables observed in many samples (the paper's setting), "
        "not for feature vectors.",
        "--center/--no-center",
    ),
]
RandomState = Annotated[
    int | None,
    _option(
        RUN, "a new one in each run", "Seed; the same seed gives the same graph to the bit.", "--random-state", "--seed"
    ),
]
Jobs = Annotated[
    int | None,
    _option(RUN, "all cores", "Threads; -1 for all cores. The result does not depend on it.", "--n-jobs", "-j"),
]

PARAMETERS = (
    "n_neighbors",
    "metric",
    "initial",
    "candidates",
    "window",
    "edge_ratio",
    "n_components",
    "tol",
    "stability",
    "max_iter",
    "sigma",
    "beta",
    "refine",
    "center",
    "random_state",
    "n_jobs",
)
