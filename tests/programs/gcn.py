"""A graph convolutional network on a dense adjacency, which classifies the nodes of a graph."""

import numpy as np
import torch
import torch.nn.functional as F
from comparing import run
from torch import nn

NODES, CLASSES = 60, 3


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.kaiming_normal_(self.weight)

    def forward(self, x, adjacency):
        return torch.mm(adjacency, torch.mm(x, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphConvolution(8, 16), GraphConvolution(16, CLASSES)

    def forward(self, x, adjacency):
        hidden = F.relu(self.first(x, adjacency))
        return F.log_softmax(self.second(hidden, adjacency), dim=1)


def graph():
    random = np.random.RandomState(0)
    labels = random.randint(0, CLASSES, NODES)
    likely = np.where(labels[:, None] == labels, 0.3, 0.03)
    edges = np.triu(random.rand(NODES, NODES) < likely, 1)
    adjacency = torch.from_numpy(edges | edges.T).float() + torch.eye(NODES)
    degrees = adjacency.sum(1).pow(-0.5)
    features = np.eye(8)[labels] + random.randn(NODES, 8)
    return (
        torch.from_numpy(features).float(),
        degrees[:, None] * adjacency * degrees,
        torch.from_numpy(labels),
    )


def train(model):
    x, adjacency, labels = graph()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    chosen = torch.arange(NODES) < 40
    for _ in range(10):
        optimizer.zero_grad()
        output = model(x, adjacency)
        loss = F.nll_loss(output[chosen], labels[chosen])
        loss.backward()
        optimizer.step()
        yield loss
    right = model(x, adjacency)[~chosen].argmax(1).eq(labels[~chosen])
    yield right.float().mean() + 2


run(GCN, train)
