"""The generator: reads the two YAML files, checks them and writes the package.

Imports neither `runtime` nor `torchgen_out`, and neither imports it.
"""
