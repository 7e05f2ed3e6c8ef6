"""Leaves of small graphs."""


def leaf(torch, values, dtype=None):
    """A tensor of float64, or of another dtype, that wants a gradient."""
    return torch.tensor(values, dtype=dtype or torch.float64, requires_grad=True)
