"""Large and long runs: their plan, checkpoints, chunks on other machines, and growth by new points."""
