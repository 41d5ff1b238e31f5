"""The paper's numbers, as printed."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """One cell of Table 1: accuracy in per cent, NMI, seconds of construction and of clustering, density."""

    accuracy: float
    nmi: float
    construction: float | None = None
    clustering: float | None = None
    density: float | None = None


# Table 1, "Spectral Clustering Results". None: "the method is not capable for handling data sets of this scale".
TABLE1: dict[str, dict[str, Printed | None]] = {
    "coil20": {
        "kNN": Printed(78.80, 0.86, 0.36, 0.37),
        "cons-kNN": Printed(79.86, 0.86, 0.54, 0.28),
        "LSGL": Printed(65.48, 0.77, 60.22, 1.02),
        "GRASPEL": Printed(90.27, 0.96, 0.40, 0.19, 1.19),
    },
    "pendigits": {
        "kNN": Printed(81.12, 0.80, 1.25, 0.47),
        "cons-kNN": Printed(84.17, 0.81, 8.59, 46.41),
        "LSGL": Printed(75.01, 0.72, 1622, 15.64),
        "GRASPEL": Printed(85.96, 0.82, 4.51, 0.27, 1.10),
    },
    "usps": {
        "kNN": Printed(68.22, 0.77, 2.66, 1.02),
        "cons-kNN": Printed(78.94, 0.82, 19.82, 74.57),
        "LSGL": Printed(72.35, 0.71, 2598, 29.37),
        "GRASPEL": Printed(92.59, 0.87, 5.19, 0.21, 1.10),
    },
    "mnist": {
        "kNN": Printed(71.95, 0.72, 242.38, 6785),
        "cons-kNN": None,
        "LSGL": None,
        "GRASPEL": Printed(81.67, 0.75, 59.27, 2.90, 1.10),
    },
}

# The paragraph "SC with 2NN graphs". It names two tolerances and one result; we set it beside the lower tolerance.
TWO_NEIGHBORS: dict[str, dict[str, Printed | None]] = {
    "usps": {"2NN": Printed(40.4, 0.612), "GRASPEL, 2NN": Printed(90.6, 0.884)},
    "mnist-subset": {"2NN": Printed(16.1, 0.012, density=1.567), "GRASPEL, 2NN": Printed(90.0, 0.863)},
}


class PrintedRecovery(NamedTuple):
    """One row of Table 2 for one graph."""

    f_measure: float
    precision: float
    recall: float
    nmi: float


# Table 2, graph recovery: thresholds were chosen by the true graph.
TABLE2: dict[str, dict[str, PrintedRecovery]] = {
    "gaussian": {
        "gl-sigrep": PrintedRecovery(0.8310, 0.8120, 0.8826, 0.5272),
        "gl-logdet": PrintedRecovery(0.8178, 0.8193, 0.8521, 0.4701),
        "glsc": PrintedRecovery(0.7203, 0.6901, 0.9000, 0.3208),
        "graspel": PrintedRecovery(0.8499, 0.8394, 0.8812, 0.5397),
    },
    "er": {
        "gl-sigrep": PrintedRecovery(0.7243, 0.6912, 0.8389, 0.3600),
        "gl-logdet": PrintedRecovery(0.7378, 0.6983, 0.8030, 0.4012),
        "glsc": PrintedRecovery(0.6609, 0.5427, 0.8224, 0.3379),
        "graspel": PrintedRecovery(0.7256, 0.6990, 0.8132, 0.3607),
    },
}
