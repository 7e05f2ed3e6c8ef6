"""The primitives for float32: branch-free, so that LLVM vectorises the loops they stand in.

Polynomials are minimax fits that tests/runtime/vecmath_coefficients.py computes, evaluated by
Horner's rule with fused multiply-adds where the target has them. Conditions choose between values
that are both computed. "In double" means that float64 arithmetic replaces the error compensation
that float32 would need, for half the lanes. Errors are the worst over all numbers of the ranges in
docs/vector_mathematics.md; tests/runtime/test_vecmath.py measures them.

Compile with forceinline: a function that LLVM leaves as a call stops the loop from vectorising.
"""
