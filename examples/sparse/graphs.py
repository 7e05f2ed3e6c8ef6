"""Nodes of a graph classified by two layers of GCN (Kipf and Welling) or GAT (Velickovic et al.).

    python examples/sparse/graphs.py

A synthetic citation graph, and Zachary's karate club where networkx is installed.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

import torchgen_out as torch
from torchgen_out import nn
from torchgen_out.nn import functional as F


class Graph(NamedTuple):
    """edges: (2, count), both directions and loops; train: which nodes' labels are known."""

    edges: Any
    features: Any
    labels: Any
    train: Any


def graph_of(pairs: np.ndarray, features: np.ndarray, labels: np.ndarray, known: int) -> Graph:
    """A graph from its undirected edges; the first nodes of each class are known."""
    loops = np.arange(len(labels)).repeat(2).reshape(-1, 2)
    edges = np.unique(np.concatenate([pairs, pairs[:, ::-1], loops]), axis=0).T
    train = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        train[np.flatnonzero(labels == label)[:known]] = True
    arrays = edges.copy(), features.astype(np.float32), labels.astype(np.int64), train
    return Graph(*map(torch.from_numpy, arrays))


def citations(nodes: int = 1200, classes: int = 4, words: int = 100) -> Graph:
    """Papers that mostly cite their own field, and use its words."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, nodes)
    source = rng.integers(0, nodes, 5 * nodes)
    target = rng.integers(0, nodes, 5 * nodes)
    kept = (labels[source] == labels[target]) | (rng.random(5 * nodes) < 0.1)
    likely = np.where(np.arange(words) % classes == labels[:, None], 0.08, 0.03)
    return graph_of(
        np.stack([source[kept], target[kept]], 1), rng.random((nodes, words)) < likely, labels, 20
    )


def karate_club() -> Graph | None:
    """Who knew whom in a club that split in two."""
    try:
        networkx: Any = importlib.import_module("networkx")
    except ImportError:
        return None
    club = networkx.karate_club_graph()
    labels = np.array([club.nodes[node]["club"] == "Officer" for node in club], int)
    return graph_of(np.array(club.edges), np.eye(len(labels)), labels, 2)


class GCN(nn.Module):
    """relu(A x W) twice, A the adjacency divided by the roots of both nodes' degrees."""

    def __init__(self, graph: Graph, hidden: int, classes: int) -> None:
        super().__init__()
        count, inputs = graph.features.shape
        degrees = torch.bincount(graph.edges[0], minlength=count).float().rsqrt()
        weights = degrees[graph.edges[0]] * degrees[graph.edges[1]]
        self.adjacency = torch.sparse_coo_tensor(graph.edges, weights, (count, count)).coalesce()
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, classes)

    def forward(self, x: Any) -> Any:
        """Scores of classes."""
        hidden = F.relu(torch.sparse.mm(self.adjacency, self.first(x)))
        return torch.sparse.mm(self.adjacency, self.second(F.dropout(hidden, 0.5, self.training)))


class Attention(nn.Module):
    """Each node takes the mean of its neighbours, weighted by a softmax over its edges."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, outputs, bias=False)
        self.own, self.other = nn.Linear(outputs, 1), nn.Linear(outputs, 1, bias=False)

    def forward(self, x: Any, edges: Any) -> Any:
        """Shape: (nodes, inputs) -> (nodes, outputs)."""
        values = self.project(x)
        scores = self.own(values)[edges[0]] + self.other(values)[edges[1]]
        size = (len(x), len(x))
        scored = torch.sparse_coo_tensor(edges, F.leaky_relu(scores, 0.2).squeeze(1), size)
        return torch.sparse.mm(torch.sparse.softmax(scored, 1), values)


class GAT(nn.Module):
    """Two layers of attention over edges."""

    def __init__(self, graph: Graph, hidden: int, classes: int) -> None:
        super().__init__()
        self.edges = graph.edges
        self.first = Attention(graph.features.shape[1], hidden)
        self.second = Attention(hidden, classes)

    def forward(self, x: Any) -> Any:
        """Scores of classes."""
        return self.second(F.elu(self.first(x, self.edges)), self.edges)


def accuracy(make: type[nn.Module], graph: Graph, epochs: int = 60) -> float:
    """Train on the known nodes; how many of the others are right."""
    torch.manual_seed(0)
    model: Any = make(graph, 16, int(graph.labels.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(graph.features)[graph.train], graph.labels[graph.train])
        loss.backward()
        optimizer.step()
    found = model.eval()(graph.features).argmax(1)
    return float((found == graph.labels)[~graph.train].float().mean())


def main() -> None:
    """Both models on both graphs."""
    for name, graph in (("citations", citations()), ("karate club", karate_club())):
        if graph is None:
            print(f"{name}: networkx is not installed")
            continue
        for model in (GCN, GAT):
            print(f"{name}, {model.__name__}: {accuracy(model, graph):.1%}")


if __name__ == "__main__":
    main()
