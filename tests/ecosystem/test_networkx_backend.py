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
    for call in (nx.laplacian_spectrum, nx.spectral_ordering, nx.resistance_distance, nx.fiedler_vector):
        with pytest.raises(nx.NetworkXError):
            call(nx.Graph(), **BACKEND)
    for call in (nx.algebraic_connectivity, nx.fiedler_vector, nx.spectral_ordering):
        with pytest.raises(nx.NetworkXError, match="unknown method 'nonsense'"):
            call(nx.path_graph(4), method="nonsense", **BACKEND)


def weighted_path(*weights):
    G = nx.path_graph(len(weights) + 1)
    for (_, _, data), weight in zip(G.edges(data=True), weights, strict=True):
        if weight is not None:
            data["weight"] = weight
    return G


BY_WEIGHT = {"weight": "weight"}

# Calls that are not ours: the graph, the function, its arguments.
DECLINED = {
    "normalized": (nx.path_graph(4), nx.algebraic_connectivity, {"normalized": True, "seed": 0}),
    "directed": (nx.DiGraph([(0, 1), (1, 2)]), nx.laplacian_spectrum, {}),
    "directed order": (nx.DiGraph([(0, 1), (1, 2)]), nx.spectral_ordering, {}),
    "all eigenvalues": (nx.path_graph(1200), nx.laplacian_spectrum, {}),
    "negative": (weighted_path(2, -4, 1), nx.laplacian_spectrum, {}),
    "negative resistance": (weighted_path(2, -4, 1), nx.resistance_distance, BY_WEIGHT),
    "negative conductance": (
        weighted_path(2, -4, 1),
        nx.resistance_distance,
        {"weight": "weight", "invert_weight": False},
    ),
    "resistance 0": (weighted_path(2, 0, 1), nx.resistance_distance, BY_WEIGHT),
    "conductance 0": (weighted_path(2, 0), nx.resistance_distance, {"weight": "weight", "invert_weight": False}),
    "no resistance": (weighted_path(2, None, 1), nx.resistance_distance, BY_WEIGHT),
    "text": (weighted_path("2", "3"), nx.fiedler_vector, {}),
    "not a number": (weighted_path(2, float("nan")), nx.laplacian_spectrum, {}),
}


def outcome(call, G, arguments):
    """What a call returns, or the class of its error."""
    try:
        return call(G, **arguments)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("kind", DECLINED)
def test_what_is_not_ours_is_left_to_networkx(kind):
    G, call, arguments = DECLINED[kind]
    with pytest.raises(NotImplementedError):
        call(G, **arguments, **BACKEND)
    with nx.config.backend_priority(algos=["graspel"]):
        found = outcome(call, G, arguments)
    assert str(found) == str(outcome(call, G, arguments))


def test_magnitudes_of_weights_count_only_where_networkx_takes_them():
    signed, positive = weighted_path(2, -4, 1), weighted_path(2, 4, 1)
    for call in (nx.algebraic_connectivity, nx.fiedler_vector, nx.spectral_ordering):
        assert np.array_equal(call(signed, **BACKEND), call(positive, **BACKEND))
    assert nx.algebraic_connectivity(signed, **BACKEND) == pytest.approx(nx.algebraic_connectivity(signed))


def test_two_nodes_and_edges_of_weight_zero():
    two = weighted_path(-3)
    assert nx.algebraic_connectivity(two, **BACKEND) == nx.algebraic_connectivity(two) == 6
    assert nx.fiedler_vector(two, **BACKEND).tolist() == nx.fiedler_vector(two).tolist() == [1, -1]
    assert nx.algebraic_connectivity(weighted_path(1, 0, 1), **BACKEND) == 0
    order = nx.spectral_ordering(weighted_path(1, 0, 1), **BACKEND)
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 1}), frozenset({2, 3})}


@pytest.mark.parametrize("limit", [0, 1000])
def test_one_node_and_all_others(G, limit, monkeypatch):
    """Beyond the limit by one sparse factor, below it by elimination."""
    monkeypatch.setattr(networkx_backend, "ELIMINATION_LIMIT", limit)
    node = list(G)[3]
    expected = nx.resistance_distance(G, node, weight="weight")
    for found in (
        nx.resistance_distance(G, node, weight="weight", **BACKEND),
        nx.resistance_distance(G, nodeB=node, weight="weight", **BACKEND),
        nx.resistance_distance(G, weight="weight", **BACKEND)[node],
    ):
        assert list(found) == list(expected)
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_changed_graph_is_read_anew():
    G = weighted_path(1, 2)
    own = networkx_backend.convert_from_nx(G)
    before = nx.algebraic_connectivity(own)
    G.add_edge(0, 2, weight=5)
    assert nx.algebraic_connectivity(own) == pytest.approx(nx.algebraic_connectivity(G)) != before
    assert set(networkx_backend.get_info()["functions"]) == set(networkx_backend.FUNCTIONS)
