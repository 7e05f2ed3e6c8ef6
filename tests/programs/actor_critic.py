"""An actor and a critic that learn to keep a point near the origin; its draws are NumPy's."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from comparing import run
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(2, 16)
        self.action_head = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


def episode(model, draws):
    state = np.array([1.0, 0.0])
    saved, rewards = [], []
    for _ in range(12):
        probabilities, value = model(torch.from_numpy(state).float())
        distribution = Categorical(probabilities)
        action = torch.tensor(int(draws.random_sample() > probabilities[0].item()))
        saved.append((distribution.log_prob(action), value, distribution.entropy()))
        state[1] += 0.2 if action.item() else -0.2
        state[0] += 0.2 * state[1]
        rewards.append(-abs(state[0]))
    return saved, rewards


def train(model):
    draws = np.random.RandomState(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    for _ in range(6):
        saved, rewards = episode(model, draws)
        total, returns = 0.0, []
        for reward in reversed(rewards):
            total = reward + 0.95 * total
            returns.insert(0, total)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        of_actor, of_critic = [], []
        for (log_prob, value, entropy), wanted in zip(saved, returns, strict=True):
            of_actor.append(-log_prob * (wanted - value.item()) - 0.01 * entropy)
            of_critic.append(F.smooth_l1_loss(value, wanted.view(1)))
        optimizer.zero_grad()
        loss = torch.stack(of_actor).sum() + torch.stack(of_critic).sum()
        loss.backward()
        optimizer.step()
        yield loss.item()


run(Policy, train)
