"""The certificate: properties of a fit graph, measured on the graph itself.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3.2: effective resistances on the
fit graph approximate the distances between the data points.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.learning.fit import Fit
from graspel.learning.objective import objective
from graspel.linalg import resistance_between, smallest_eigenpairs
from graspel.optimum.problem import Optimality
from graspel.runtime.memory import return_free_memory
from graspel.runtime.optional import html_view
from graspel.runtime.parameters import restore_generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats

SAMPLED_NODES = 32  # random nodes; resistance and distance are compared on all their 496 pairs
SAMPLED_OF_MANY = 16  # the same where there are more than MANY nodes, and each solve takes a second: 120 pairs
MANY = 200_000
SOLVE_TOL = 1e-2  # relative residual of the solves; the error of a resistance, in the energy norm, is a tenth of it
EIGEN_TOL = 1e-3  # residual of lambda_2 in the energy norm, as in the embedding


@dataclass(frozen=True)
class Certificate:
    """Measured properties of a fit graph.

    Attributes
    ----------
    n_nodes, n_edges : int
    connected : bool
    density : float
        Edges per node.
    eta_max : float
        Largest distortion of any candidate in the last round, before that round added its edges (NaN if there was
        none).
    settled : bool
        Whether the stability rule was met.
    n_rounds : int
    lambda_2 : float
        Smallest nonzero eigenvalue of the calibrated graph.
    objective, objective_error : float
        F of the calibrated graph, and its standard error (0: exact).
    resistance_correlation : float
        Correlation of effective resistance and z_data over sampled pairs (NaN if either is constant).
    resistance_ratio : float
        Median of effective resistance / z_data over the same pairs (NaN if all of them are copies of one point).
    n_sampled_pairs : int
    support_gap : float or None
        Largest |R / (z_data + 4 beta) - 1| over the edges after refinement (None if weights were not refined); 0 at the
        optimum. Where exact resistances take too long, it is the root mean square over estimates of R, whose
        standard error is 0.15.
    outside_gap : float
        Largest R / (z_data + 4 beta) - 1 over the sampled pairs; not above 0 at the optimum over all graphs.
    neighbor_recall : float
        Share of true nearest neighbors in the initial lists (NaN if none were searched).
    optimality_gap : float or None
        Upper bound of F* - F in units of N - 1, where F* is the maximum over all graphs whose edges are among the pairs
        that were searched (None unless ``weights="optimal"``).
    optimality_pairs : str or None
        Which pairs these are: "all pairs"; "all pairs, estimated from those of 1,024 random nodes" if the bound is an
        estimate, to which two standard errors were added; or the number of those that were searched, and the relative
        standard error of R, which was estimated. The bound then holds on average.
    largest_excess : float or None
        Largest R / (z_data + 4 beta) - 1 over these pairs.
    """

    n_nodes: int
    n_edges: int
    connected: bool
    density: float
    eta_max: float
    settled: bool
    n_rounds: int
    lambda_2: float
    objective: float
    objective_error: float
    resistance_correlation: float
    resistance_ratio: float
    n_sampled_pairs: int
    support_gap: float | None
    outside_gap: float
    neighbor_recall: float
    optimality_gap: float | None = None
    optimality_pairs: str | None = None
    largest_excess: float | None = None

    def as_dict(self) -> dict[str, float | int | bool | str | None]:
        """All entries by name."""
        return asdict(self)

    def sentences(self) -> list[tuple[str, str, str]]:
        """Label, value and meaning of every entry, for people."""
        rounds = "round" if self.n_rounds == 1 else "rounds"
        error = f" +- {self.objective_error:.3g}" if self.objective_error else ""
        return [
            ("nodes", f"{self.n_nodes:,}", "points of the data"),
            ("edges", f"{self.n_edges:,}", f"{self.density:.3f} per node (density)"),
            ("connected", "yes" if self.connected else "no", "every point can be reached from every other"),
            (
                "settled",
                f"{'yes' if self.settled else 'no'}, {self.n_rounds} {rounds}",
                "whether the stability rule was met before the limit of rounds",
            ),
            ("eta max", _format(self.eta_max, ".4g"), "largest distortion of any candidate edge in the last round"),
            ("lambda 2", f"{self.lambda_2:.4g}", "smallest nonzero eigenvalue: how well the graph hangs together"),
            ("objective F", f"{self.objective:.6g}{error}", "penalized log-likelihood of the data; larger is better"),
            (
                "R against z",
                f"r = {_format(self.resistance_correlation, '.3f')}, ratio {_format(self.resistance_ratio, '.3f')}",
                f"effective resistance against data distance, {self.n_sampled_pairs:,} sampled pairs: "
                "correlation and median ratio",
            ),
            (
                "gap",
                f"edges {'unknown' if self.support_gap is None else f'{self.support_gap:.1e}'}, "
                f"others {_format(self.outside_gap, '.2g')}",
                "largest |R/z - 1| on the edges, where weights were refined; largest R/z - 1 of the sampled pairs",
            ),
            *self._describe_optimality(),
            ("kNN recall", _format(self.neighbor_recall, ".4f"), "share of true nearest neighbors found at the start"),
        ]

    def _repr_html_(self) -> str:
        """A table with verdicts in words, for notebooks."""
        return html_view(self)

    def _describe_optimality(self) -> list[tuple[str, str, str]]:
        if self.optimality_gap is None or self.largest_excess is None:
            return []
        return [
            (
                "optimality",
                f"within {self.optimality_gap:.1e}, R/z up to {1 + self.largest_excess:.4f}",
                f"what any other graph could add to F, per node, at most; largest R/z ({self.optimality_pairs})",
            )
        ]

    def __repr__(self) -> str:
        """One entry per line."""
        return "Certificate(\n" + "".join(f"  {f.name}={getattr(self, f.name)!r},\n" for f in fields(self)) + ")"


def _format(value: float, form: str) -> str:
    return "unknown" if np.isnan(value) else format(value, form)


def certify(fit: Fit) -> Certificate:
    """Measure a fit graph; random numbers go on where the run left them, so that every call measures the same."""
    graph, points, history, rng = fit.graph, fit.points, fit.history, restore_generator(fit.random_state)
    sigma, beta = fit.settings.sigma, fit.settings.beta
    neighbors = fit.index.neighbors
    _begin(0.0, "objective")
    if fit.exact is not None:
        F, error = fit.exact.objective, 0.0
    else:
        F, error = objective(graph, fit.z, sigma=sigma, beta=beta, rng=rng, n_jobs=points.n_threads)
    _begin(0.3, "first eigenvalue")
    lambda_2 = _smallest_eigenvalue(fit, rng)
    _begin(0.5, "effective resistance")
    p, q, resistance = _sample_resistance(fit, rng)
    distance = points.squared_distances(p, q)
    distance = np.where(distance > 0, fit.weigh.raise_to_floor(distance), 0.0)  # as weights see it
    correlation, ratio = resistance_against_distance(resistance, distance)
    return Certificate(
        n_nodes=graph.n_nodes,
        n_edges=graph.n_edges,
        connected=graph.is_connected,
        density=graph.density,
        eta_max=history[-1].max_eta if history else float("nan"),
        settled=fit.settled,
        n_rounds=len(history),
        lambda_2=lambda_2,
        objective=F,
        objective_error=error,
        resistance_correlation=correlation,
        resistance_ratio=ratio,
        n_sampled_pairs=len(p),
        support_gap=fit.support_gap,
        outside_gap=_largest_excess(resistance, distance + 4 * beta),
        neighbor_recall=neighbors.measured_recall(fit.settings.n_neighbors) if neighbors else float("nan"),
        **_optimality(fit.optimality),
    )


def _begin(share: float, detail: str) -> None:
    """Announce a part of the certificate, and give back what the last one no longer needs."""
    return_free_memory()
    announce("certificate", share, detail)


def _optimality(found: Optimality | None) -> dict[str, Any]:
    """What is known about the distance to the optimum."""
    if found is None:
        return {}
    pairs = "all pairs" if found.all_pairs else f"{found.n_pairs:,} pairs searched"
    if found.n_sampled:
        pairs = f"all pairs, estimated from those of {found.n_sampled:,} random nodes"
    if found.error:
        pairs += f", R estimated to {found.error:.1%}"
    return {"optimality_gap": found.gap, "optimality_pairs": pairs, "largest_excess": found.excess}


def _smallest_eigenvalue(fit: Fit, rng: np.random.Generator) -> float:
    """The smallest nonzero eigenvalue of the graph: the Rayleigh quotient of its eigenvector, if that is known."""
    graph, embedding = fit.graph, fit.embedding
    if fit.exact is not None:
        return fit.exact.smallest_eigenvalue(rng)
    if embedding is not None and fit.settled and fit.support_gap is None:  # all weights are scaled alike
        u = embedding.vectors[:, 0]
        return float(u @ (graph.laplacian @ u))
    pairs = smallest_eigenpairs(
        graph.laplacian,
        2,
        tol=EIGEN_TOL,
        norm="energy",
        guess=None if embedding is None else embedding.vectors,
        random_state=rng,
        n_jobs=fit.points.n_threads,
    )
    return float(pairs.values[1])


def resistance_against_distance(resistance: Floats, z: Floats) -> tuple[float, float]:
    """Pearson correlation of resistance and z_data over pairs, and the median of their ratio (NaN where undefined)."""
    positive = z > 0
    ratio = float(np.median(resistance[positive] / z[positive])) if positive.any() else float("nan")
    if len(z) < 2 or np.ptp(z) == 0 or np.ptp(resistance) == 0:
        return float("nan"), ratio
    return float(np.corrcoef(resistance, z)[0, 1]), ratio


def _largest_excess(resistance: Floats, k: Floats) -> float:
    """The largest R / k - 1 (NaN if no k is positive)."""
    positive = k > 0
    return float((resistance[positive] / k[positive] - 1).max()) if positive.any() else float("nan")


def _sample_resistance(fit: Fit, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """All pairs between a few random nodes, and their effective resistance."""
    graph = fit.graph
    n_sampled = SAMPLED_NODES if graph.n_nodes <= MANY else SAMPLED_OF_MANY
    nodes = np.sort(rng.choice(graph.n_nodes, min(n_sampled, graph.n_nodes), replace=False))
    i, j = np.triu_indices(len(nodes), 1)
    if fit.exact is not None:
        R = fit.exact.resistance_between(nodes)
    else:
        n_threads = fit.points.n_threads
        R = resistance_between(graph.adjacency, nodes, tol=SOLVE_TOL, random_state=rng, n_jobs=n_threads)
    return nodes[i], nodes[j], R[i, j]
