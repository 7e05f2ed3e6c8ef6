"""Small programs as people write them for PyTorch, run by both libraries from the same weights."""
