"""A language model of words: an LSTM, tied weights, packed sentences, truncated steps."""

import torch
import torch.nn as nn
from comparing import run
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

SENTENCES = [
    "the cat sat on the mat", "a dog lay under the old tree", "birds sing", "the tree was tall",
    "the dog and the cat ran home", "a tall man saw the birds", "home is where the dog is",
    "the man sat under a tree and sang",
]  # fmt: skip
WORDS = ["<pad>", *sorted({word for sentence in SENTENCES for word in sentence.split()})]


class RNNModel(nn.Module):
    def __init__(self, size=20):
        super().__init__()
        self.encoder = nn.Embedding(len(WORDS), size, padding_idx=0)
        self.rnn = nn.LSTM(size, size, num_layers=1, bidirectional=False)
        self.decoder = nn.Linear(size, len(WORDS))
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.encoder(words), lengths, enforce_sorted=False)
        output, _ = pad_packed_sequence(self.rnn(packed)[0])
        return nn.functional.log_softmax(self.decoder(output), dim=-1)


def train(model):
    rows = [torch.tensor([WORDS.index(w) for w in s.split()]) for s in SENTENCES]
    inputs = pad_sequence([row[:-1] for row in rows])
    targets = pad_sequence([row[1:] for row in rows])
    lengths = [len(row) - 1 for row in rows]
    criterion = nn.NLLLoss(ignore_index=0)
    rate = 4.0
    for step in range(10):
        model.zero_grad()
        loss = criterion(model(inputs, lengths).view(-1, len(WORDS)), targets.view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-rate)
        rate = rate / 2 if step == 5 else rate
        yield loss.item()


run(RNNModel, train)
