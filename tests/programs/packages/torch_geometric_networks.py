"""torch_geometric: graph convolutions and attention on edges, and pooling over batches."""

import numpy as np
import torch
from comparing import run
from torch import nn
from torch.nn import functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    SAGEConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)  # fmt: skip
from torch_geometric.utils import add_self_loops, degree, softmax, to_undirected


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            [GCNConv(4, 8), GATConv(8, 4, heads=2), SAGEConv(8, 8), GINConv(nn.Linear(8, 6))]
        )
        self.head = nn.Linear(18, 2)

    def forward(self, data):
        x = data.x
        for layer in self.layers:
            x = F.elu(layer(x, data.edge_index))
        pools = (global_add_pool, global_max_pool, global_mean_pool)
        return self.head(torch.cat([pool(x, data.batch) for pool in pools], 1))


def graphs():
    random = np.random.RandomState(0)
    for label in (0, 1, 0, 1):
        edges = to_undirected(torch.from_numpy(random.randint(0, 6, (2, 9))))
        x = torch.from_numpy(random.randn(6, 4).astype(np.float32))
        yield Data(x=x, edge_index=edges, y=torch.tensor([label]))


def train(model):
    batch = Batch.from_data_list(list(graphs()))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(8):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch), batch.y)
        loss.backward()
        optimizer.step()
        yield loss
    edges, _ = add_self_loops(batch.edge_index)
    yield degree(edges[0]).std()
    yield softmax(batch.x[edges[0], 0], edges[1]).square().sum()


run(Net, train)
