"""Seconds of graph recovery as graphs grow: graspel reproduce fig-recovery-time, results kept with ours.

python benchmarks/recovery_scaling.py                         # everything; goes on where an earlier run stopped
python benchmarks/recovery_scaling.py --quick  # a first look
"""

from __future__ import annotations

import sys

from results_file import FOLDER

from graspel.cli import main

if __name__ == "__main__":
    main(["reproduce", "fig-recovery-time", "--output", str(FOLDER), *sys.argv[1:]])
