"""Functions of functions: maps over samples, derivatives, and modules as functions."""
