"""Table 1: all rows, the paper's numbers beside ours, each cell measured once."""

from __future__ import annotations

import pytest

from reproduction import REPRODUCTIONS, Request, Results, table1
from reproduction.paper import TABLE1, TWO_NEIGHBORS
from reproduction.request import Cell
from reproduction.table1 import DATASETS, METHODS, SCORES, STAGES, TABLE, TABLE_DATASETS, write_tables

VALUE = {
    "acc": 0.9,
    "nmi": 0.8,
    "ari": 0.7,
    "construction": 1.5,
    "clustering": 0.25,
    "density": 1.45,
    "components": 7,
    "warnings": [],
}


@pytest.fixture
def results(tmp_path):
    """All cells of three seeds, as if they had been measured."""
    results = Results(tmp_path, "table1")
    for dataset in DATASETS:
        for name, method in METHODS.items():
            for seed in range(3 if dataset in method.datasets else 0):
                value = {**VALUE, "acc": 0.9 + 0.01 * seed}
                results.entries[Cell(dataset, name, seed).key] = {"value": value, "seconds": 1.0, "commit": "abc"}
    return results


def text_of(results, n_seeds=3):
    return write_tables(results, list(DATASETS), list(METHODS), n_seeds)


def section(text, title):
    """The lines of one table by their labels."""
    lines = text.split(f"\n{title}\n")[1].split("\n#")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: row[1:] for row in rows[2:]}


def test_every_row_is_there(results):
    text = text_of(results)
    scores = [f"{score}, the paper's in brackets" for score in SCORES.values()]
    for title in ("COIL-20", "PenDigits", "USPS", "MNIST", *scores):
        assert list(section(text, f"## {title}")) == [method.label for method in TABLE.values()]
    for title in ("### USPS", "### MNIST subset"):
        assert list(section(text, title)) == [method.label for method in STAGES.values()]


def test_the_papers_numbers_stand_beside_ours(results):
    text = text_of(results)
    assert section(text, "## USPS")["kNN, Algorithm 2"][-1] == "68.22 / 0.77 / 2.66 / 1.02"
    assert section(text, "## USPS")["graspel, 2NN"][-1] == "92.59 / 0.87 / 5.19 / 0.21 / 1.1"
    assert section(text, "## PenDigits")["LSGL, Algorithm 2"][-1] == "75.01 / 0.72 / 1622 / 15.64"
    assert section(text, "## MNIST")["LSGL, Algorithm 2"][-1] == "-"
    assert section(text, "## MNIST")["kNN, our assignment stage"][-1] == ""
    assert section(text, "### MNIST subset")["2NN, not joined, Algorithm 2"][-1].startswith("16.10 / 0.012")
    assert section(text, "### USPS")["tol = 10, our assignment stage"][-1] == "90.60 / 0.884"


def test_every_row_of_the_paper_is_shown():
    named = {method.printed for method in TABLE.values()} - {""}
    assert all(set(columns) == named for columns in TABLE1.values())
    assert set(TABLE1) == set(TABLE_DATASETS)
    named = {method.printed for method in STAGES.values()} - {""}
    assert all(set(columns) == named for columns in TWO_NEIGHBORS.values())


def test_mean_and_standard_deviation_over_seeds(results):
    row = section(text_of(results), "## COIL-20")["kNN, Algorithm 2"]
    assert row[:8] == ["91.0 ± 1.0", "0.800 ± 0.000", "0.700 ± 0.000", "1.50", "0.25", "1.45", "7", "3"]


def test_only_the_seeds_asked_for_count(results):
    row = section(text_of(results, n_seeds=1), "## COIL-20")["kNN, Algorithm 2"]
    assert (row[0], row[7]) == ("90.0", "1")


def test_what_was_stopped_failed_or_not_run_says_so(results):
    results.entries["mnist/sklearn-spectral/0"]["value"] = {"over": 1200.0}
    results.entries["usps/sklearn-spectral/0"]["value"] = {"failed": "exit code -9: it said nothing"}
    for seed in range(3):
        del results.entries[f"mnist/umap/{seed}"]
    text = text_of(results, n_seeds=1)
    assert section(text, "## MNIST")["scikit-learn SpectralClustering"][0] == "> 1200 s"
    assert section(text, "## USPS")["scikit-learn SpectralClustering"][0] == "failed"
    assert section(text, "## MNIST")["UMAP + k-means"][0] == "not run"


def test_cells_that_share_a_graph_follow_each_other():
    cells = table1.plan_cells(Request(seeds=2), ["usps"], list(METHODS))
    graphs = [(cell.seed, METHODS[cell.method].graph) for cell in cells if METHODS[cell.method].graph]
    runs = [graph for at, graph in enumerate(graphs) if at == 0 or graphs[at - 1] != graph]
    assert len(runs) == len(set(runs))


def test_slow_peers_run_with_fewer_seeds_and_only_if_named():
    cells = table1.plan_cells(Request(), ["mnist"], list(METHODS))
    seeds = {name: sum(cell.method == name for cell in cells) for name in TABLE}
    assert seeds["graspel"] == 10
    assert seeds["knn"] == 3
    assert seeds["sklearn-spectral"] == 0
    assert table1.plan_cells(Request(methods=("sklearn-spectral",)), ["mnist"], ["sklearn-spectral"]) == [
        Cell("mnist", "sklearn-spectral", 0)
    ]


def test_each_cell_is_measured_once_and_the_last_graph_is_shared(blobs, tmp_path, monkeypatch):
    built = []
    construct = table1.construct
    monkeypatch.setattr(table1, "construct", lambda name, problem: built.append(name) or construct(name, problem))
    request = Request(only=("usps",), methods=("knn", "knn+ward", "kmeans"), seeds=2)
    first = REPRODUCTIONS["table1"](request, Results(tmp_path, "table1"))
    assert built == ["knn", "knn"]
    assert blobs == ["usps"]
    again = REPRODUCTIONS["table1"](request, Results(tmp_path, "table1"))
    assert again == first
    assert blobs == ["usps"], "what is there needs no data"


def test_a_lower_bound_is_measured_anew_under_a_larger_limit(tmp_path, monkeypatch, blobs):
    limits = []
    monkeypatch.setattr(table1, "measure_with_limit", lambda limit, *cell: limits.append(limit) or {"over": limit})
    for limit in (10.0, 10.0, 5.0, 20.0):
        request = Request(only=("mnist",), methods=("sklearn-spectral",), limit=limit)
        text = table1.run(request, Results(tmp_path, "table1"))
    assert limits == [10.0, 20.0]
    assert "> 20 s" in text


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(only=("usps", "iris")), r"only=iris: .*coil20, pendigits, usps, mnist, mnist-subset"),
        (Request(methods=("magic",)), r"methods=magic: .*knn, knn\+ward"),
        (Request(only=()), "only=: "),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(tmp_path, request_, message):
    with pytest.raises(ValueError, match=message):
        table1.run(request_, Results(tmp_path, "table1"))


@pytest.mark.parametrize(("name", "value"), [("seeds", 0), ("limit", 0), ("limit", -1.0)])
def test_numbers_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}={value}"):
        Request(**{name: value})
