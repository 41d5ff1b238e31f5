"""Fixtures of the tests of the linear algebra."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_blas_thread() -> Iterator[None]:
    """Tests run side by side: with as many threads each as there are cores, they would mostly wait for each other."""
    with threadpool_limits(1):
        yield
