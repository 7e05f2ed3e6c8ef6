"""Small uses of packages that are written for PyTorch; each is tried where it is installed."""
