"""How a DDP step scales over nodes: a model of rings and overlap, with measured and stated numbers.

    python -m benchmarks.scaling

Gradients of B bytes go in buckets; a bucket's sum over n nodes takes, on a ring,
2 (n - 1) (latency + bucket / (n bandwidth)). Buckets follow each other while the backward runs;
what is left when it ends is the step's wait. Weak scaling: each node has a batch of its own.
It writes the table and the plot of docs/distributed.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent.parent / "docs"
NODES = (1, 2, 8, 64, 512)
BUCKET = 25e6


class Network(NamedTuple):
    """What carries messages between nodes."""

    name: str
    latency: float
    """Seconds of one message, with what our call costs (measured: 12 us in Python)."""
    bandwidth: float
    """Bytes per second of one node."""


class Model(NamedTuple):
    """A training step."""

    name: str
    gradients: float
    """Bytes."""
    forward: float
    """Seconds."""
    backward: float


NETWORKS = (
    Network("gloo, 25 Gb/s Ethernet", 40e-6, 2.5e9),
    Network("MPI, 200 Gb/s InfiniBand", 14e-6, 22e9),
    Network("NCCL, 400 Gb/s a node", 17e-6, 45e9),
)
MODELS = (
    Model("ResNet-50 on a GPU, batch 64", 102e6, 0.025, 0.050),
    Model("GPT, 350 M parameters in bfloat16", 700e6, 0.100, 0.200),
    Model("MLP of 270 k parameters on a CPU", 1.1e6, 0.0006, 0.0012),
)


def ring(nodes: int, size: float, network: Network) -> float:
    """Seconds of the sum of `size` bytes over a ring of nodes."""
    return 2 * (nodes - 1) * (network.latency + size / (nodes * network.bandwidth))


def step(nodes: int, model: Model, network: Network) -> float:
    """Seconds of a step: bucket k is full after its share of the backward, and waits for k - 1."""
    count = max(1, round(model.gradients / BUCKET))
    size, ended = model.gradients / count, 0.0
    for number in range(1, count + 1):
        full = model.forward + model.backward * number / count
        ended = max(full, ended) + (ring(nodes, size, network) if nodes > 1 else 0.0)
    return ended


def efficiency(nodes: int, model: Model, network: Network) -> float:
    """The speed of one of n nodes by that of one alone."""
    return step(1, model, network) / step(nodes, model, network)


def lines() -> list[str]:
    """The table."""
    made = ["| step | network | 2 | 8 | 64 | 512 nodes |", "|---|---|--:|--:|--:|--:|"]
    for model in MODELS:
        for network in NETWORKS:
            cells = [f"{efficiency(n, model, network):.0%}" for n in NODES[1:]]
            made.append(f"| {model.name} | {network.name} | {' | '.join(cells)} |")
    return made


def plot(path: Path) -> None:
    """Efficiency by nodes, a panel for each step."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "scaling"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(MODELS), figsize=(11, 3.2), sharey=True)
    for panel, model in zip(panels, MODELS, strict=True):
        for network in NETWORKS:
            values = [100 * efficiency(n, model, network) for n in NODES]
            panel.plot(NODES, values, marker="o", label=network.name)
        panel.set(xscale="log", title=model.name, xlabel="nodes", ylim=(0, 105))
        panel.title.set_fontsize(9)
    panels[0].set_ylabel("speed of a node, %")
    panels[0].legend(fontsize=7, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    print("\n".join(lines()))
    plot(DOCS / "distributed_scaling.svg")
