"""``graspel embed``: from a file of points to a file with the coordinates of every point, and a picture."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import option
from graspel.cli.output import check_files
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import TableOptions, save_with_reading
from graspel.runtime.progress import announce

SCORED_NEIGHBORS = 10  # nearest neighbors that vote on the class of a point in the printed accuracy
METHODS = {"tsne": "GraspelTSNE", "spectral": "GraspelEmbedding"}
NAMES = {"tsne": "t-SNE", "spectral": "spectral embedding"}

CoordinatesFile = Annotated[Path, option("The coordinates of every point: .csv or .npy", "FILE", "--output", "-o")]
Method = Annotated[str, option("t-SNE, or eigenvectors of the graph", "tsne|spectral", default="tsne")]
Plot = Annotated[Path | None, option("Draw the points: .png, .pdf or .svg", "FILE")]
Dimensions = Annotated[int | None, option("Dimensions; t-SNE has 2 or 3", "INT", "--dimensions", "-d", default="2")]


def embed(
    data: options.DataFile,
    output: CoordinatesFile,
    *,
    method: Method = "tsne",
    n_components: Dimensions = None,
    plot: Plot = None,
    labels: options.LabelsFile = None,
    metric: options.Metric = None,
    save_model: options.SaveModel = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
) -> None:
    """Place the points of `data`, write their coordinates to `output`, and draw them."""
    began = monotonic()
    _check_method(method, n_components)
    parameters = run.choose(METHODS[method], n_components=n_components, metric=metric)
    check_files([data, labels, find_initial_file(parameters)], coordinates=output, picture=plot, model=save_model)
    with run.progress():
        from graspel.io.point_files import write_coordinates

        points = table.read(data)
        classes = table.find_classes(labels, points, points.X.shape[0], data)
        model = build_estimator(METHODS[method], parameters).fit(points.X)
        announce("writing", detail=output.name)
        write_coordinates(output, model.embedding_, points.names, points.id_name)
        written.append(str(output))
        save_with_reading(model, points, save_model)
        written += [] if save_model is None else [str(save_model)]
        if plot is not None:
            _draw(model.embedding_, classes, plot, data, method)
            written.append(str(plot))
    record = {**_summary(model, method), **_scores(model.embedding_, classes), "seconds": monotonic() - began}
    run.show(f"The coordinates of {data.name}, written to {' and '.join(written)}", record, _rows(record))


COMMAND = Command(
    embed,
    "Place data points in the plane, or in few dimensions.\n\n"
    "By t-SNE, or by the first eigenvectors of the graph. With known classes the picture is colored.",
    (
        "graspel embed points.npy -o coordinates.csv --plot picture.png --labels classes.csv",
        "graspel embed points.csv -o coordinates.npy --method spectral -d 5",
    ),
    estimators=tuple(METHODS.values()),
)


def _check_method(method: str, n_components: int | None) -> None:
    """Raise if the method is unknown, or does not have these dimensions."""
    from graspel.runtime.parameters import check_choice

    check_choice("method", method, METHODS)
    if method == "tsne" and n_components not in (None, 2, 3):
        raise ValueError(f"-d {n_components}: t-SNE has 2 or 3 dimensions; for others pass --method spectral.")


def _draw(coordinates: Any, classes: list[Any] | None, path: Path, data: Path, method: str) -> None:
    from graspel.plot import embedding, save

    announce("drawing", detail=path.name)
    save(
        embedding(coordinates, classes, title=data.name, subtitle=f"{len(coordinates):,} points, {NAMES[method]}"), path
    )


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
        return record | {"kl_divergence": model.kl_divergence_}
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
    if "kl_divergence" in record:
        divergence = record["kl_divergence"]
        rows += [
            ("divergence", f"{divergence:.3f}", "Kullback-Leibler, between the neighbors here and in the data"),
        ]
    if "accuracy" in record:
        classes = f"{record['classes']:,} {'class' if record['classes'] == 1 else 'classes'}"
        rows.append(
            ("k-NN accuracy", f"{record['accuracy']:.4f}", f"points whose 10 nearest are of their class; {classes}")
        )
    return [*rows, ("seconds", f"{record['seconds']:.1f}", "in all, loading of libraries included")]
