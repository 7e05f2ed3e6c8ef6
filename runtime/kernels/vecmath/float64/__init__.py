"""The primitives for float64: branch-free, so that LLVM vectorises the loops they stand in.

As float32, without a wider type to compute in: where an operation must not lose its rounding error,
operands are cut to 26 bits, so that products are exact with and without fused multiply-add.
Polynomials are split into even and odd parts, which halves the chain of dependent operations.
Errors are the worst at some 100,000 telling numbers (`tests/runtime/vecmath_samples.py`) against
mpmath.
"""
