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


@pytest.fixture(params=[0, 1])
def seed(request: pytest.FixtureRequest) -> int:
    """Two seeds where other tests have three: nearly all tests of this folder ask for one, on many graphs each."""
    return request.param
