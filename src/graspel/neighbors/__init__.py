"""The search for nearest neighbors: exact, by landmarks, without duplicates, and for new points."""
