"""Compiled kernels: the few loops that numpy cannot do fast, each with a numpy twin in the tests.

Kernels are compiled by numba on first use and cached on disk. They run on one thread and release the lock of the
interpreter, so that :func:`graspel.runtime.parallel.run_blocks` spreads them over threads in blocks of fixed size; the
result does not depend on the number of threads. A module of this folder is imported where the data are large enough to
repay loading it, never with ``import graspel``.
"""
