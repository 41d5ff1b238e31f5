"""Multilevel t-SNE against openTSNE and scikit-learn on USPS and MNIST: graspel reproduce tsne, results kept with ours.

    python benchmarks/tsne.py                                 # everything; goes on where an earlier run stopped
    python benchmarks/tsne.py --quick                         # a first look: USPS, without scikit-learn
    python benchmarks/tsne.py --only mnist --methods graspel,opentsne

Needs the data sets (GRASPEL_DATA or the cache) and openTSNE: pip install -e ".[bench]".
"""

from __future__ import annotations

import sys

from results_file import FOLDER

from graspel.cli import main

if __name__ == "__main__":
    main(["reproduce", "tsne", "--output", str(FOLDER), *sys.argv[1:]])
