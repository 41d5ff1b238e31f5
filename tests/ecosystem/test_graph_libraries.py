"""The doors to networkx, igraph and PyTorch Geometric."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import toy_graphs
from graspel import Graph

PYG = 'needs torch and torch-geometric: pip install "graspel[pyg]"'


def test_networkx_and_back(toy_graph):
    pytest.importorskip("networkx", reason="needs networkx: pip install graspel[networkx]")
    assert Graph.from_networkx(toy_graph.to_networkx()).adjacency.nnz == toy_graph.adjacency.nnz
    assert abs(Graph.from_networkx(toy_graph.to_networkx()).adjacency - toy_graph.adjacency).sum() == 0


def test_names_go_through_networkx_and_igraph():
    pytest.importorskip("networkx", reason="needs networkx: pip install graspel[networkx]")
    pytest.importorskip("igraph", reason="needs igraph: pip install graspel[igraph]")
    graph = Graph(3, [0, 1], [1, 2], [1.0, 2.0], node_names=["Ann", "Bob", "Cem"])
    assert graph.to_networkx().nodes[2]["name"] == "Cem"
    assert Graph.from_networkx(graph.to_networkx()) == graph
    assert graph.to_igraph().vs["name"] == ["Ann", "Bob", "Cem"]
    assert Graph.from_igraph(graph.to_igraph()) == graph


def test_networkx_graphs_of_other_people():
    nx = pytest.importorskip("networkx", reason="needs networkx: pip install graspel[networkx]")
    club = Graph.from_networkx(nx.karate_club_graph())
    assert club.node_names is None
    assert club.weights.sum() == nx.karate_club_graph().size(weight="weight")
    families = Graph.from_networkx(nx.florentine_families_graph())
    assert "Medici" in families.node_names
    assert (families.weights == 1).all()
    assert families.why("Medici", "Albizzi").startswith("Nodes ")
    with pytest.raises(ValueError, match=r"directed or has parallel edges.*networkx.Graph\(G\)"):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))
    with pytest.raises(TypeError, match=r"must be a networkx\.Graph"):
        Graph.from_networkx(np.eye(2))


def test_igraph_and_back(toy_graph):
    ig = pytest.importorskip("igraph", reason="needs igraph: pip install graspel[igraph]")
    again = Graph.from_igraph(toy_graph.to_igraph())
    np.testing.assert_array_equal(again.weights, toy_graph.weights)
    np.testing.assert_array_equal(again.tails, toy_graph.tails)
    assert again.n_nodes == toy_graph.n_nodes
    assert (Graph.from_igraph(ig.Graph.Ring(5)).weights == 1).all()
    with pytest.raises(ValueError, match="directed"):
        Graph.from_igraph(ig.Graph(edges=[(0, 1)], directed=True))
    with pytest.raises(TypeError, match=r"must be an igraph.Graph"):
        Graph.from_igraph(3)


def test_pytorch_geometric():
    torch = pytest.importorskip("torch", reason=PYG)
    pyg = pytest.importorskip("torch_geometric", reason=PYG)
    graph = toy_graphs.grid(4, 5)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    data = graph.to_pyg(X, y)
    assert data.validate()
    assert data.is_undirected()
    assert data.is_coalesced()
    assert (data.num_nodes, data.num_edges, data.num_features) == (20, 2 * graph.n_edges, 3)
    dense = pyg.utils.to_dense_adj(data.edge_index, edge_attr=data.edge_weight, max_num_nodes=20)[0]
    np.testing.assert_allclose(dense.numpy(), graph.adjacency.toarray(), rtol=1e-6)
    layer = pyg.nn.GCNConv(3, 2)
    assert layer(data.x, data.edge_index, data.edge_weight).shape == (20, 2)
    assert data.y.dtype == torch.int64
    assert graph.to_pyg().num_nodes == 20
    with pytest.raises(ValueError, match="x of shape"):
        graph.to_pyg(X[:3])


@pytest.mark.parametrize("as_tensor", [False, True], ids=["array", "tensor"])
def test_types_of_features_and_labels_for_pytorch_geometric(as_tensor):
    torch = pytest.importorskip("torch", reason=PYG)
    pyg = pytest.importorskip("torch_geometric", reason=PYG)
    graph = toy_graphs.grid(4, 5)
    given = torch.as_tensor if as_tensor else np.asarray
    for X in (np.eye(20), np.eye(20, dtype=np.float32), np.eye(20, dtype=np.int32)):
        data = graph.to_pyg(given(X))
        assert data.x.dtype == torch.float32
        assert pyg.nn.GCNConv(20, 2)(data.x, data.edge_index, data.edge_weight).shape == (20, 2)
    for y, dtype in (
        (np.arange(20), torch.int64),
        (np.arange(20, dtype=np.int32), torch.int64),
        (np.arange(20) > 3, torch.int64),
        (np.linspace(0, 1, 20), torch.float32),
    ):
        assert graph.to_pyg(y=given(y)).y.dtype == dtype


def test_what_pytorch_geometric_cannot_take():
    torch = pytest.importorskip("torch", reason=PYG)
    pytest.importorskip("torch_geometric", reason=PYG)
    graph = toy_graphs.grid(4, 5)
    with pytest.raises(TypeError, match=r"y holds <U1: must hold numbers.*LabelEncoder"):
        graph.to_pyg(y=np.array(list("ab") * 10))
    with pytest.raises(TypeError, match=r"y holds object: must hold numbers"):
        graph.to_pyg(y=np.array(["a", None] * 10))
    with pytest.raises(TypeError, match=r"x is a sparse matrix: must be dense. Pass x.toarray\(\)"):
        graph.to_pyg(sp.eye_array(20))
    with pytest.raises(TypeError, match=r"x is a sparse matrix: must be dense. Pass x.to_dense\(\)"):
        graph.to_pyg(torch.eye(20).to_sparse())
