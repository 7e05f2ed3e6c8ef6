"""A language model of characters with a GRU, whose state runs on from piece to piece."""

import torch
import torch.nn as nn
from comparing import run

TEXT = "the quick brown fox jumps over the lazy dog and runs away from all the other dogs " * 8
LETTERS = sorted(set(TEXT))


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), 12)
        self.rnn = nn.GRU(12, 24, num_layers=2, batch_first=True)
        self.head = nn.Linear(24, len(LETTERS))

    def forward(self, x, state=None):
        x, state = self.rnn(self.embedding(x), state)
        return self.head(x), state


def train(model):
    data = torch.tensor([LETTERS.index(letter) for letter in TEXT]).view(4, -1)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    state = None
    for start in range(0, data.size(1) - 17, 16):
        inputs, targets = data[:, start : start + 16], data[:, start + 1 : start + 17]
        logits, state = model(inputs, None if state is None else state.detach())
        loss = criterion(logits.reshape(-1, len(LETTERS)), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


run(CharModel, train)
