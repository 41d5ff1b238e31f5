"""Table 2 of the paper, graph recovery, ours beside the paper's: graspel reproduce table2, results kept with ours.

python benchmarks/table2.py                               # everything; goes on where an earlier run stopped
python benchmarks/table2.py --quick                       # a first look
python benchmarks/table2.py --only er,grid --methods graspel,glsc
"""

from __future__ import annotations

import sys

from results_file import FOLDER

from graspel.cli import main

if __name__ == "__main__":
    main(["reproduce", "table2", "--output", str(FOLDER), *sys.argv[1:]])
