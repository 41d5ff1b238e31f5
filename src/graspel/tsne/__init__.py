"""t-SNE: affinities, start, engine and placement of new points, as functions."""
