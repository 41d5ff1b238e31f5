"""The data points: validation, and distances between rows without a copy of the matrix."""
