"""Kernels for the CPU: a package per family, and in this folder what all of them stand on."""
