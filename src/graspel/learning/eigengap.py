r"""Eigengaps: where the first eigenvalues of a graph jump, which tells how many clusters it has.

A graph of k well-separated clusters has k - 1 nontrivial eigenvalues near zero, and a much larger one after them. There
are two ways to measure the jump, for two purposes:

`eigengap` is for clustering. Eigenvalues grow on any graph: on points spread evenly over a plane, lambda_k is about
proportional to k - 1, the number of nontrivial modes so far (Weyl's law). The gap after the k-th eigenvalue is
therefore measured by how far it exceeds that growth,

    gap_k = log(lambda_(k+1) / lambda_k) - log(k / (k - 1)),        k = 2, 3, ...,

and k is where it is largest. A gap near zero says that the data have no such number.

`largest_relative_gap` is for Algorithm 1, whose Steps 3 and 4 ask for "the largest gap" of the eigenvalues and nothing
more. There k only says how many eigenvalues to use, and a k that is too small costs little.

References
----------
H. Weyl. Das asymptotische Verteilungsgesetz der Eigenwerte linearer partieller Differentialgleichungen. Mathematische
Annalen 71, 1912.

U. von Luxburg. A tutorial on spectral clustering. Statistics and Computing 17, 2007. Section 8.3, the eigengap
heuristic.

Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 4, edge identification with
multiple eigenvectors, and spectral stability checking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from graspel.runtime.types import Floats

CLEAR_GAP = np.log(2.0)  # smallest clear gap, a logarithm: the next eigenvalue is twice as large as expected, or more


@dataclass(frozen=True)
class Eigengap:
    """What the first eigenvalues say about the number of clusters.

    Attributes
    ----------
    n_clusters : int, the number k of the largest gap
    values : array, the nontrivial eigenvalues lambda_2, lambda_3, ...
    gaps : array, gap_2, gap_3, ...
    """

    n_clusters: int
    values: Floats
    gaps: Floats

    @property
    def is_clear(self) -> bool:
        """Whether the largest gap stands out: the next eigenvalue is at least twice as large as expected."""
        return bool(len(self.gaps) and self.gaps.max() >= CLEAR_GAP)

    def sentence(self, n_best: int = 3) -> str:
        """The largest gaps in words.

        >>> eigengap([0.01, 0.024, 1.2, 1.68]).sentence()
        'largest gap after 3 clusters (3.51); next after 2 (0.18), 4 (0.05): clear'
        """
        best = np.argsort(-self.gaps, kind="stable")[:n_best]
        if not len(best):
            return f"too few eigenvalues to tell; {self.n_clusters} clusters taken"
        others = ", ".join(f"{k + 2} ({self.gaps[k]:.2f})" for k in sorted(best[1:].tolist()))
        following = f"; next after {others}" if others else ""
        verdict = "clear" if self.is_clear else "not clear, other numbers are as good"
        return f"largest gap after {self.n_clusters} clusters ({self.gaps[best[0]]:.2f}){following}: {verdict}"


def eigengap(values: ArrayLike) -> Eigengap:
    """The number of clusters, from the nontrivial eigenvalues of a connected graph in ascending order.

    Parameters
    ----------
    values : array-like, lambda_2, lambda_3, ..., positive; at least one more than the clusters to consider

    Examples
    --------
    >>> eigengap([0.01, 0.02, 1.0, 1.4]).n_clusters
    3
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return Eigengap(2, values, np.zeros(0))
    k = np.arange(2, len(values) + 1)
    gaps = np.diff(np.log(values)) - np.log(k / (k - 1))
    return Eigengap(int(k[np.argmax(gaps)]), values, gaps)


def largest_relative_gap(values: Floats) -> int:
    """The number k for which the gap lambda_(k+1) - lambda_k, relative to lambda_(k+1), is largest.

    Steps 3 and 4 of Algorithm 1 use this plain gap, as the paper does. Clustering uses `eigengap`, which is corrected
    for the growth of eigenvalues on any graph: there k is the answer that the user sees.

    Parameters
    ----------
    values : array, the nontrivial eigenvalues, lambda_2 first, ascending; so k is at least 2

    Examples
    --------
    >>> largest_relative_gap(np.array([0.1, 0.11, 0.9, 1.0]))
    3
    """
    if len(values) < 2:
        return 2
    return int(np.argmax(np.diff(values) / values[1:])) + 2
