"""``graspel embed``: from a file of points to a file with the coordinates of every point, and a picture."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated, Any

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_sources, print_json, print_table
from graspel.cli.progress_bar import progress_bar
from graspel.cli.run_learner import find_classes, read_points
from graspel.runtime.progress import announce

HELP = (
    "Place data points in the plane, or in few dimensions.\n\n"
    "Learns the graph of the points. tsne (the default) places all points by t-SNE, or, with --representatives, a "
    "fifth of them, one for each group of a coarsened graph, and all others between them; spectral places the points "
    "by the first eigenvectors of the graph's "
    "Laplacian. Writes the coordinates of every point, in the order of the data, and draws the points (--plot). With "
    "known classes (--labels) the picture is colored, and the summary says how many points lie among their own class; "
    "classes are not used to place the points."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel embed points.npy -o coordinates.csv",
        "graspel embed points.npy -o coordinates.csv --plot picture.png --labels classes.csv --seed 0",
        "graspel embed points.csv -o coordinates.npy --method spectral --n-components 3",
        "graspel embed points.npy -o coordinates.csv --reduction 10 --refine-iter 0",
        "",
        "Files are written completely or not at all, also on Ctrl-C.",
    )
)

TSNE = "Only for tsne"
SCORED_NEIGHBORS = 10  # nearest neighbors that vote on the class of a point in the printed accuracy

Output = Annotated[
    Path,
    options.make_file_option(
        "The coordinates of every point, in the order of the data: .csv (columns x, y) or .npy.", "--output", "-o"
    ),
]
Method = Annotated[
    str,
    options.make_option(
        None,
        "tsne",
        "How the points are placed: tsne (multilevel t-SNE) or spectral (eigenvectors of the graph).",
        metavar="tsne|spectral",
    ),
]
Plot = Annotated[Path | None, options.make_file_option("Draw the points: .png, .pdf or .svg.")]
Labels = Annotated[
    Path | None,
    options.make_file_option(
        "The known classes of the points, for colors: .csv (one column) or .npy, numbers or text."
    ),
]
Components = Annotated[
    int | None, options.make_option(None, "2", "Dimensions; tsne draws in 2 or 3.", "--n-components", "-d")
]
Reduction = Annotated[
    float | None,
    options.make_option(TSNE, "5", "Points for each representative; 1 is no coarsening. The paper uses 5."),
]
EarlyIter = Annotated[
    int | None,
    options.make_option(TSNE, "100", "Iterations with attraction exaggerated; half as many with --representatives."),
]
Iter = Annotated[
    int | None,
    options.make_option(TSNE, "150", "Iterations on the representatives after that, with --representatives."),
]
RefineIter = Annotated[
    int | None,
    options.make_option(
        TSNE, "1000", "Iterations on all points, at most; 0 places the representatives only, like --representatives."
    ),
]
Tolerance = Annotated[
    float | None,
    options.make_option(
        TSNE, "0.006", "Stop once 50 iterations on all points lower the divergence by less than this share.", "--tol"
    ),
]
Representatives = Annotated[
    bool | None,
    options.make_option(
        TSNE, "off", "Place only the representatives by t-SNE, as in the paper, and all other points between them.",
        "--representatives",
    ),
]  # fmt: skip
Neighbors = Annotated[
    int | None,
    options.make_option(
        options.START, "2", "How many nearest neighbors each point of the graph is joined to.", "--n-neighbors", "-n"
    ),
]
MaxIter = Annotated[
    int | None,
    options.make_option(
        options.START,
        "tsne: 0, spectral: 100",
        "Largest number of rounds of critical edges; 0 keeps the start graph, joined to one component.",
    ),
]
Seed = Annotated[int | None, options.make_seed_option("coordinates")]

LEARNING = ("n_neighbors", "metric", "max_iter", "center")
ONLY_TSNE = ("reduction", "early_iter", "n_iter", "refine_iter", "tol", "representatives")
COMMON = ("n_components", "random_state", "n_jobs")
METHODS = ("tsne", "spectral")
MAX_ITER = {"tsne": 0, "spectral": 100}  # rounds of critical edges, the defaults of the two estimators


def embed(
    data: options.Data,
    output: Output,
    method: Method = "tsne",
    plot: Plot = None,
    labels: Labels = None,
    n_components: Components = None,
    key: options.Key = None,
    header: options.Header = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    scale: options.Scale = None,
    impute: options.Impute = None,
    reduction: Reduction = None,
    early_iter: EarlyIter = None,
    n_iter: Iter = None,
    refine_iter: RefineIter = None,
    tol: Tolerance = None,
    representatives: Representatives = None,
    n_neighbors: Neighbors = None,
    metric: options.Metric = None,
    max_iter: MaxIter = None,
    center: options.Center = None,
    random_state: Seed = None,
    n_jobs: options.Jobs = None,
    json: options.SummaryJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Place the points of `data`, write their coordinates to `output`, and draw them; HELP is the help page."""
    given = {name: value for name, value in locals().items() if value is not None}
    began = monotonic()
    with friendly_errors(quiet=quiet) as written:
        _check_method(given)
        _check_files(given)
        with progress_bar(show=not (json or quiet)):
            from graspel.io.coordinates import write_coordinates

            points = read_points(data, key, header, given)
            classes = find_classes(labels, label_column, points, data)
            model = _make_estimator(given).fit(points.X)
            announce("writing", detail=output.name)
            write_coordinates(output, model.embedding_, points.names)
            written.append(str(output))
            if plot is not None:
                _draw(model.embedding_, classes, plot, data, method)
                written.append(str(plot))
        record = {**_summary(model, method), **_scores(model.embedding_, classes), "seconds": monotonic() - began}
        if json:
            print_json(record)
        elif not quiet:
            print_table(f"The coordinates of {data.name}, written to {' and '.join(written)}", _rows(record))


def _check_method(given: dict[str, Any]) -> None:
    """Raise if the method is unknown or cannot be run, or an option is not for this method."""
    from graspel.runtime.parameters import check_choice

    check_choice("method", given["method"], METHODS)
    if given["method"] == "tsne":
        return
    extra = next((name for name in ONLY_TSNE if name in given), None)
    if extra is not None:
        raise ValueError(f"--{extra.replace('_', '-')} is for --method tsne; leave it out, or choose that method.")


def _check_files(given: dict[str, Any]) -> None:
    """Raise if a file cannot be written, or would replace a file that is read."""
    from graspel.io.coordinates import check_coordinate_file, check_picture_file

    check_coordinate_file(given["output"])
    if "plot" in given:
        check_picture_file(given["plot"])
    targets = [given[name] for name in ("output", "plot") if name in given]
    check_sources([given["data"], given.get("labels")], targets)


def _make_estimator(given: dict[str, Any]) -> Any:
    """Return the estimator with the options that are given."""
    from graspel.estimators.embedding import GraspelEmbedding
    from graspel.estimators.learner import GRASPEL
    from graspel.estimators.tsne import GraspelTSNE

    method = given["method"]
    wanted = {name: given[name] for name in (*COMMON, *ONLY_TSNE) if name in given}
    learning = {name: given[name] for name in LEARNING if name in given}
    if learning:
        wanted["learner"] = GRASPEL(**{"max_iter": MAX_ITER[method], **learning})
    return GraspelTSNE(**wanted) if method == "tsne" else GraspelEmbedding(**wanted)


def _draw(coordinates: Any, classes: list[Any] | None, path: Path, data: Path, method: str) -> None:
    from graspel.plot import embedding, save

    announce("drawing", detail=path.name)
    name = {"tsne": "multilevel t-SNE", "spectral": "spectral embedding"}[method]
    save(embedding(coordinates, classes, title=data.name, subtitle=f"{len(coordinates):,} points, {name}"), path)


# --- the summary -----------------------------------------------------------------------------------------------------


def _summary(model: Any, method: str) -> dict[str, Any]:
    graph = model.graph_
    record = {
        "method": method,
        "points": graph.n_nodes,
        "components": model.embedding_.shape[1],
        "edges": graph.n_edges,
        "density": graph.density,
    }
    if method == "tsne":
        return record | {"representatives": len(model.representatives_), "kl_divergence": model.kl_divergence_}
    return record | {"eigenvalues": model.eigenvalues_}


def _scores(coordinates: Any, classes: list[Any] | None) -> dict[str, Any]:
    """How many points lie among their own class; empty if the classes are not known."""
    if classes is None:
        return {}
    from graspel.metrics import label_accuracy

    n_neighbors = min(SCORED_NEIGHBORS, len(classes) - 1)
    return {"classes": len(set(classes)), "accuracy": label_accuracy(coordinates, classes, n_neighbors=n_neighbors)}


def _rows(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = [
        ("points", f"{record['points']:,}", f"in {record['components']} dimensions, by {record['method']}"),
        ("graph", f"density {record['density']:.3f}", f"{record['edges']:,} edges"),
    ]
    if "representatives" in record:
        divergence = record["kl_divergence"]
        rows += [
            ("representatives", f"{record['representatives']:,}", "one for each group of points"),
            ("divergence", f"{divergence:.3f}", "Kullback-Leibler, between the neighbors here and in the data"),
        ]
    if "accuracy" in record:
        classes = f"{record['classes']:,} {'class' if record['classes'] == 1 else 'classes'}"
        rows.append(
            ("k-NN accuracy", f"{record['accuracy']:.4f}", f"points whose 10 nearest are of their class; {classes}")
        )
    return [*rows, ("seconds", f"{record['seconds']:.1f}", "in all, loading of libraries included")]
