"""Algorithm 1 of the paper: the loop in `algorithm`, and one file for each of its steps."""
