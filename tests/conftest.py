"""Fixtures that all tests share."""

from __future__ import annotations

import os
import sys

# Before numpy is loaded: two test processes with a BLAS thread for each core would only get in each other's way.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Containers often switch off the cache of compiled modules, and a hundred processes of the tests would compile each
# module again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from graspel.graph import Graph
from toy_graphs import TOY_GRAPHS

# The same examples in every run, so that a red one can be repeated; --hypothesis-profile=explore looks further.
_RELAXED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("steady", max_examples=40, deadline=None, derandomize=True, suppress_health_check=_RELAXED)
settings.register_profile("explore", max_examples=1000, deadline=None, suppress_health_check=_RELAXED)
settings.load_profile("steady")


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The mark `long_seeds`: of a test that runs for several seeds, all but the first take part in the long run."""
    for item in items:
        if item.get_closest_marker("long_seeds") and item.callspec.params["seed"] != 0:
            item.add_marker("long")


@pytest.fixture(params=[0, 1, pytest.param(2, marks=pytest.mark.long)])
def seed(request: pytest.FixtureRequest) -> int:
    """A test that asks for it runs for several seeds, the last of them in the long run."""
    return request.param


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A generator for each of the seeds."""
    return np.random.default_rng(seed)


@pytest.fixture(params=list(TOY_GRAPHS))
def toy_graph(request: pytest.FixtureRequest) -> Graph:
    """A test that asks for it runs on every toy graph."""
    return TOY_GRAPHS[request.param]()


@pytest.fixture(params=[name for name, make in TOY_GRAPHS.items() if make().is_connected and make().n_edges > 0])
def connected_graph(request: pytest.FixtureRequest) -> Graph:
    """A test that asks for it runs on every toy graph that is connected and has an edge."""
    return TOY_GRAPHS[request.param]()
