"""Where operators run: allocation, launches and the choice of kernels, one module per backend."""
