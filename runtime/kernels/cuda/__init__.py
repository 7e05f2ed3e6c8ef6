"""Kernels for CUDA: texts that take raw pointers and scalars, and the compiler behind them."""
