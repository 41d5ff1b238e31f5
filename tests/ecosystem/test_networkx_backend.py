"""The backend of networkx: its own functions give the same numbers with and without it."""

from __future__ import annotations

import numpy as np
import pytest

nx = pytest.importorskip("networkx", reason='needs networkx: pip install "graspel[networkx]"')

from graspel.integrations import networkx as networkx_backend  # noqa: E402

BACKEND = {"backend": "graspel"}
pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")


@pytest.fixture(scope="module", autouse=True)
def registered():
    if "graspel" not in nx.utils.backends.backends:
        pytest.skip("graspel is not installed with its entry points: pip install --editable .")


@pytest.fixture(params=["grid", "karate", "multigraph"])
def G(request):
    if request.param == "grid":
        graph = nx.grid_2d_graph(4, 7)
        for at, (_, _, data) in enumerate(graph.edges(data=True)):
            data["weight"] = 1 + at % 3
        return graph
    if request.param == "karate":
        return nx.karate_club_graph()
    return nx.MultiGraph([(p, q, {"weight": p + q}) for p, q in [(0, 1), (1, 2), (2, 0), (0, 1), (2, 3), (3, 4)]])


def eigenpairs(G):
    """All eigenpairs, exactly: networkx's own Lanczos method misses the smallest one in a few of a hundred runs."""
    return np.linalg.eigh(nx.laplacian_matrix(G).toarray().astype(float))


def test_algebraic_connectivity(G):
    G = nx.Graph(G)
    assert nx.algebraic_connectivity(G, **BACKEND) == pytest.approx(eigenpairs(G)[0][1], rel=1e-5)


def test_fiedler_vector(G):
    G = nx.Graph(G)
    ours, exact = nx.fiedler_vector(G, **BACKEND), eigenpairs(G)[1][:, 1]
    assert abs(ours @ exact) == pytest.approx(1, abs=1e-5)


def test_spectral_ordering_of_a_path():
    along = np.random.default_rng(0).permutation(30).tolist()
    G = nx.relabel_nodes(nx.path_graph(30), dict(enumerate(along)))
    assert nx.spectral_ordering(G, **BACKEND) in (along, along[::-1])
    two = nx.disjoint_union(nx.path_graph(5), nx.path_graph(2))
    assert sorted(nx.spectral_ordering(two, **BACKEND)) == list(range(7))


def test_the_low_end_of_the_spectrum(G):
    every = np.sort(nx.laplacian_spectrum(G))
    np.testing.assert_allclose(nx.laplacian_spectrum(G, **BACKEND), every, atol=1e-7)
    np.testing.assert_allclose(nx.laplacian_spectrum(G, k=3, **BACKEND), every[:3], atol=1e-7)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("invert", [True, False])
def test_resistance_distance(G, weight, invert):
    nodes = list(G)
    options = {"weight": weight, "invert_weight": invert}
    pair = nx.resistance_distance(G, nodes[0], nodes[-1], **options)
    assert nx.resistance_distance(G, nodes[0], nodes[-1], **options, **BACKEND) == pytest.approx(pair, rel=1e-6)
    ours, theirs = nx.resistance_distance(G, **options, **BACKEND), nx.resistance_distance(G, **options)
    for p in nodes:
        for q in nodes:
            assert ours[p][q] == pytest.approx(theirs[p][q], abs=1e-6)
    one = nx.resistance_distance(G, nodes[1], **options, **BACKEND)
    assert one[nodes[2]] == pytest.approx(theirs[nodes[1]][nodes[2]], abs=1e-6)


def test_errors_are_those_of_networkx():
    two = nx.Graph([(0, 1), (2, 3)])
    assert nx.algebraic_connectivity(two, **BACKEND) == 0
    for call in (nx.fiedler_vector, nx.resistance_distance):
        with pytest.raises(nx.NetworkXError, match="connected"):
            call(two, **BACKEND)
    with pytest.raises(nx.NetworkXError, match="not in graph"):
        nx.resistance_distance(nx.path_graph(3), 0, 9, **BACKEND)
    with pytest.raises(nx.NetworkXError, match="less than two nodes"):
        nx.algebraic_connectivity(nx.path_graph(1), **BACKEND)
    with pytest.raises(NotImplementedError):
        nx.fiedler_vector(nx.path_graph(4), normalized=True, **BACKEND)
    with pytest.raises(ValueError, match=r"1,200 nodes: .*pass k"):
        nx.laplacian_spectrum(nx.path_graph(1200), **BACKEND)


def test_a_graph_is_converted_once_and_for_all():
    own = networkx_backend.convert_from_nx(nx.cycle_graph(8))
    assert nx.algebraic_connectivity(own) == pytest.approx(2 - 2 * np.cos(np.pi / 4), rel=1e-6)
    assert set(networkx_backend.get_info()["functions"]) == set(networkx_backend.FUNCTIONS)
