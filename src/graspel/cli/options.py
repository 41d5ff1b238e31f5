"""The options that several commands share, and those that stand for the parameters of the learner.

An option that the user does not give is left to the estimator; the default that its help names is that of the
estimator (a test compares them).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

TABLE = "Columns of the table"
START = "Start graph (Step 1)"
GROWTH = "Critical edges (Steps 2 and 3)"
STOP = "When to stop (Step 4)"
MODEL = "Objective and data"
RUN = "The run"

AUTO = "auto"
FORMATS = (
    ".npy (memory-mapped), .npz, .csv, .csv.gz, .tsv, .xlsx, .parquet, .feather, .mtx, .h5ad, .zarr or a folder of "
    ".parquet files (the last two are read in blocks)"
)


def describe_default(value: str) -> str:
    r"""Return the end of an option's help that names its default.

    Examples
    --------
    >>> describe_default("2")
    ' [dim]\\[default: 2][/dim]'
    """
    return rf" [dim]\[default: {value}][/dim]"


def make_option(panel: str | None, value: str, help: str, *names: str, metavar: str | None = None, **more: Any) -> Any:
    """Return an option whose help ends with its default, in a panel of the help page."""
    help += describe_default(value)
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=panel, metavar=metavar, **more)


def make_file_option(help: str, *names: str) -> Any:
    """Return an option that takes the path of a file."""
    return typer.Option(*names, help=help, show_default=False, metavar="FILE")


def make_seed_option(result: str) -> Any:
    """Return the option for the seed; `result` is what the same seed gives again."""
    help = f"Seed; the same seed gives the same {result}."
    return make_option(RUN, "a new one in each run", help, "--random-state", "--seed")


def parse_n_clusters(text: str) -> int | str:
    """Return the number of clusters, or "auto"."""
    if text == AUTO:
        return text
    try:
        number = int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor auto") from None
    if number < 1:
        raise typer.BadParameter(f"{number} clusters cannot be made; ask for at least 1, or for auto")
    return number


def _parse_tolerance(text: str) -> float | None:
    """Return the number; "auto" gives None, which leaves the choice to the estimator."""
    if text == AUTO:
        return None
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor auto") from None


# --- what every command reads and prints

Data = Annotated[
    Path,
    typer.Argument(
        help=f"The points, one per row: {FORMATS}.",
        show_default=False,
        metavar="DATA",
    ),
]
GraphArgument = Annotated[Path, typer.Argument(help="The graph to read.", show_default=False, metavar="GRAPH")]
Key = Annotated[
    str | None,
    make_option(None, "X, or the only array", "Which array of an .npz, .h5ad or .zarr file to read", metavar="NAME"),
]
Header = Annotated[
    bool | None,
    make_option(
        None,
        "yes if none of its cells is a number",
        "Whether the first line of a .csv file holds names",
        "--header/--no-header",
    ),
]
IdColumn = Annotated[
    str | None,
    make_option(
        TABLE,
        "none, or one that can only be an id",
        "The column that names the points: its name, or its number from 1. The names are kept in graph files.",
        metavar="COLUMN",
    ),
]
LabelColumn = Annotated[
    str | None,
    make_option(
        TABLE,
        "none",
        "The column of known classes; it is no feature, and results are compared with it.",
        metavar="COLUMN",
    ),
]
Columns = Annotated[
    str | None,
    make_option(TABLE, "all", "The columns that are features, separated by commas.", metavar="COLUMN,..."),
]
Drop = Annotated[
    str | None, make_option(TABLE, "none", "Columns to leave out, separated by commas.", metavar="COLUMN,...")
]
Scale = Annotated[
    str | None,
    make_option(
        TABLE,
        "as they are",
        "Bring all columns to one scale: standard (mean 0, standard deviation 1) or robust (median and quartiles).",
        metavar="standard|robust",
    ),
]
Impute = Annotated[
    str | None,
    make_option(
        TABLE, "missing values are refused", "Replace missing values by the median of the column.", metavar="median"
    ),
]
CertificateJson = Annotated[
    bool, typer.Option("--json", help="Print the certificate as one JSON object; no progress bar.")
]
SummaryJson = Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object; no progress bar.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

# --- parameters of the learner

Neighbors = Annotated[
    int | None,
    make_option(START, "2", "How many nearest neighbors each point is joined to at the start.", "--n-neighbors", "-n"),
]
Metric = Annotated[
    str | None, make_option(START, "euclidean", "How distance is measured: euclidean or cosine.", metavar="METRIC")
]
NeighborRule = Annotated[
    str | None,
    make_option(
        START,
        "nearest",
        "Which of its 16 nearest points a point is joined to: nearest, mutual (smallest mutual rank) or local-scale "
        "(nearest in units of the local distances).",
        metavar="nearest|mutual|local-scale",
    ),
]
Initial = Annotated[
    str | None,
    make_option(
        START,
        "knn",
        "The start graph: knn (nearest neighbors), unn (a larger kNN graph, spectrally sparsified; 5 neighbors are "
        "usual), mst (minimum spanning tree), or the path of a graph file on the same points.",
        metavar="knn|unn|mst|FILE",
    ),
]
Candidates = Annotated[
    str | None,
    make_option(
        GROWTH,
        "fiedler",
        "Where new edges are looked for: fiedler (between the two ends of the Fiedler order), clusters (between "
        "distant clusters of the spectral embedding) or multilevel (below the worst pairs of a "
        "coarsened graph).",
        metavar="fiedler|clusters|multilevel",
    ),
]
Window = Annotated[
    float | None,
    make_option(GROWTH, "0.05", "Share of the points taken from each end of the Fiedler order (the paper's epsilon)."),
]
EdgeRatio = Annotated[
    float | None, make_option(GROWTH, "0.001", "Edges added per round, as a share of the points (the paper's zeta).")
]
Components = Annotated[
    int | None,
    make_option(
        GROWTH,
        "1 for fiedler, 20 for clusters, 5 for multilevel",
        "Eigenvectors in the spectral embedding (the paper's r - 1).",
    ),
]
Tol = Annotated[
    float | None,
    make_option(
        STOP,
        AUTO,
        "Stop when no candidate edge has a distortion (eta) above this; auto: when no candidate raises the objective "
        "any more. The paper uses 10 and 100. With --stability eigenvalues: the largest relative change; auto: 0.01.",
        metavar="FLOAT|auto",
        parser=_parse_tolerance,
    ),
]
Stability = Annotated[
    str | None,
    make_option(
        STOP,
        "distortion",
        "When the graph is stable: distortion (the largest eta is below --tol) or eigenvalues (the first eigenvalues "
        "change by less than --tol).",
        metavar="distortion|eigenvalues",
    ),
]
MaxIter = Annotated[
    int | None, make_option(STOP, "100", "Largest number of rounds; 0 keeps the start graph, joined to one component.")
]
Sigma = Annotated[
    float | None,
    make_option(MODEL, "1000.0", "Prior scale: the objective adds 1/sigma^2 to every eigenvalue."),
]
Beta = Annotated[float | None, make_option(MODEL, "0.0", "Weight of the sparsity penalty.")]
Refine = Annotated[
    bool | None,
    make_option(
        MODEL,
        "no-refine",
        "Optimize the weights for the objective: on every edge the effective resistance then equals the distance in "
        "the data.",
        "--refine/--no-refine",
    ),
]
Optimal = Annotated[
    bool | None,
    make_option(
        MODEL,
        "no-optimal",
        "Find the edges and weights that maximize the objective over all graphs, with a bound of the distance to the "
        "optimum; the graph has 2.5 to 5 edges per point. --tol is then the largest R/z - 1 allowed; auto: 0.001.",
        "--optimal/--no-optimal",
    ),
]
Center = Annotated[
    bool | None,
    make_option(
        MODEL,
        "no-center",
        "Subtract each row's mean first: for rows that are variables observed in many samples (the paper's setting), "
        "not for feature vectors.",
        "--center/--no-center",
    ),
]
RandomState = Annotated[int | None, make_seed_option("graph to the bit")]
Jobs = Annotated[
    int | None,
    make_option(RUN, "all cores", "Threads; -1 for all cores. The result does not depend on it.", "--n-jobs", "-j"),
]

# The options that say what the columns of a table are, by the names of `graspel.io.table_roles.Roles`.
ROLES = ("id_column", "label_column", "columns", "drop", "scale", "impute")

Checkpoint = Annotated[
    str | None,
    make_option(
        RUN,
        "none",
        "Folder that keeps neighbor lists and rounds: after a crash the same command goes on from there.",
        metavar="FOLDER",
    ),
]

# The names of all parameters of the learner that have an option.
PARAMETERS = (
    "n_neighbors",
    "metric",
    "neighbor_rule",
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
    "optimal",
    "center",
    "random_state",
    "n_jobs",
    "checkpoint",
)
