"""Threads: fits in several Python threads at once, as web servers and joblib make them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import graspel
from fuzzing.cases import Case, require
from fuzzing.files import Draw

N_THREADS = 8
FITS: dict[str, dict[str, Any]] = {
    "GRASPEL": {},
    "optimal": {"weights": "optimal", "max_iter": 3},
    "multilevel": {"candidates": "multilevel"},
    "GraspelClustering": {},
    "GraspelEmbedding": {},
    "GraspelTSNE": {"max_iter": 10},
    "GraspelField": {},
    "GraspelRegressor": {},
    "GraspelImputer": {},
}
RESULTS = ("embedding_", "labels_", "transduction_", "deviation_", "imputed_")
COLUMNS = ("heads", "tails", "weights", "origin", "round", "eta", "gradient")


def draw_threads(rng: np.random.Generator) -> Case:
    """Eight or more fits of one or two kinds."""
    X = rng.standard_normal((int(rng.choice([60, 250, 600])), int(rng.choice([3, 8, 40]))))
    fits = tuple(str(name) for name in rng.choice(list(FITS), size=rng.integers(1, 3)))
    settings = {"fits": fits, "n_fits": int(rng.choice([8, 20]))}
    return Case("fits in threads", X, settings, run_threads, _write_code, isolated=True)


def _write_code(data: str, settings: dict[str, Any]) -> str:
    return f"fuzzing.threads.run_threads({data}, {settings!r})  # with OPENBLAS_NUM_THREADS=2"


def run_threads(X: np.ndarray, settings: dict[str, Any]) -> None:
    """Every bit is that of a fit alone, and BLAS has the threads that it had."""
    names = settings.get("fits", ("GRASPEL",))
    before = count_blas_threads()
    alone = {name: _fit(X, name) for name in names}
    calls = [names[number % len(names)] for number in range(settings.get("n_fits", N_THREADS))]
    with ThreadPoolExecutor(N_THREADS) as pool:
        found = list(pool.map(partial(_fit, X), calls))
    other = sum(bits != alone[name] for name, bits in zip(calls, found, strict=True))
    require(other == 0, f"{other} of {len(calls)} fits in threads differ from a fit alone")
    after = count_blas_threads()
    require(after == before, f"BLAS had {before} threads before, and {after} afterwards")


def _fit(X: np.ndarray, name: str) -> list[bytes]:
    """All bits of a model."""
    kind = getattr(graspel, name, graspel.GRASPEL)
    model = kind(random_state=0, **FITS[name])
    if name == "GraspelImputer":
        model.fit(np.where(np.abs(X) > 1.5, np.nan, X))
    else:
        model.fit(X, np.sin(X[:, 0]))
    graph = getattr(model, "learner_", model).graph_
    arrays = [getattr(graph, column) for column in COLUMNS]
    arrays += [getattr(model, result) for result in RESULTS if hasattr(model, result)]
    return [np.asarray(array).tobytes() for array in arrays]


def count_blas_threads() -> list[int]:
    """The threads of each BLAS that is loaded."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


THREADS: dict[str, Draw] = {"threads": draw_threads}
