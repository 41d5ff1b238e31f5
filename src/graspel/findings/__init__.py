"""Findings: what is in the data, as tables."""
