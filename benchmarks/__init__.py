"""Benchmarks against other libraries and against size: ``python -m benchmarks.world``, from the repository's root.

Timing, tables and results are those of :mod:`reproduction`. Results are kept in benchmarks/results.
"""
