"""The primitives of the formula language as plain scalar functions, one module per kind of type.

A kernel's text is put together from their sources (`compose`) and compiled by Numba as a whole; so
they use three globals only: T, the compute type, `np` and `math`. `numpy_reference` holds the same
primitives as NumPy functions, for reading and testing formulas without compiling anything.
"""
