"""Table 1 of the paper, spectral clustering, ours beside the paper's: graspel reproduce table1, results kept with ours.

    python benchmarks/table1.py                               # everything; goes on where an earlier run stopped
    python benchmarks/table1.py --quick                       # a first look
    python benchmarks/table1.py --only usps --methods graspel,knn

Needs the data sets (GRASPEL_DATA or the cache); UMAP runs where it is installed: pip install -e ".[bench]".
"""

from __future__ import annotations

import sys

from results_file import FOLDER

from graspel.cli import main

if __name__ == "__main__":
    main(["reproduce", "table1", "--output", str(FOLDER), *sys.argv[1:]])
