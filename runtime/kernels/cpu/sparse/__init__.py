"""Products over the entries of sparse matrices."""
