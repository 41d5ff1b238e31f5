"""Algorithm 1 of the paper: the loop in `run`, and one file for each of its steps."""
