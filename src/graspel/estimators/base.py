"""The base of all estimators of a graph, and of those that learn a graph first and then use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.data.validation import as_finite_numbers, check_kind, fill_other_than_zero, find_column_names
from graspel.io.models import SavedModel
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.memory import reserve_blas_buffers
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.parameters import check_run, generator
from graspel.runtime.progress import printing_progress

# Attributes that have an entry for each point.
PER_POINT = ("labels_", "embedding_", "groups_", "transduction_", "label_distributions_", "_clusters", "_widths")


class GraphEstimator(SavedModel, BaseEstimator):
    """An estimator with the parameters `random_state`, `n_jobs` and `verbose`, fitted to rows or to their index."""

    metric: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool | int
    index_: NeighborIndex

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit the points."""
        graph = getattr(self, "graph_", None)
        if graph is not None and graph.n_nodes != self.index_.n_points:
            raise ValueError("its graph does not have as many nodes as there are points")
        for name in PER_POINT:
            array = getattr(self, name, None)
            if array is not None and len(array) != self.index_.n_points:
                raise ValueError(f"its array {name} does not have an entry for each node")

    def _make_index(self, X: Any, owner: Any, *, stays_remote: bool = False) -> NeighborIndex:
        """X as an index, which the user may have made; errors name the `owner`.

        The rows of a dask array stay on its workers if `stays_remote`, and are fetched otherwise.
        """
        if isinstance(X, NeighborIndex):
            X.check_agrees(self)
            return X
        rng, options = generator(self.random_state), {"metric": self.metric, "n_jobs": self.n_jobs}
        return NeighborIndex.of_data(X, owner, **options, rng=rng, stays_remote=stays_remote)

    def _check_run(self) -> None:
        """Check the parameters that all estimators share."""
        check_run(self.n_jobs, self.verbose)

    def _check_rows(self, X: Any) -> Any:
        """New rows, with the columns of those of the fit."""
        check_is_fitted(self, "index_")
        check_kind(X)
        table, columns = fill_other_than_zero(X), find_column_names(X)
        rows = validate_data(self, table, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, reset=False)
        return as_finite_numbers(rows, columns)

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Use threads in a way that does not change the result, and print progress if `verbose` is set."""
        with one_thread_per_call(), printing_progress(self.verbose):
            reserve_blas_buffers(count_threads(self.n_jobs))
            yield

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
