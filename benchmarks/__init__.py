"""Measurements: ours and PyTorch's in turns in one process, best of many, as ratios."""
