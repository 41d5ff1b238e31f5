"""The search for nearest neighbors: exact, by cells, without duplicates, and for new points."""
