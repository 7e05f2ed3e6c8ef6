"""The CUDA backend, which is imported and opened when a CUDA device is first asked for."""
