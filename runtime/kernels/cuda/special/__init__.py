"""Special functions without a formula in native_functions.yaml, and integer functions."""
