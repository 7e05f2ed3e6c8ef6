"""The loops around a formula of native_functions.yaml: pointwise, and reductions."""
