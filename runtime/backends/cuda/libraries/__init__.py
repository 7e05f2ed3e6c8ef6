"""NVIDIA's libraries of mathematics, called through NVIDIA's bindings (`nvmath.bindings`)."""
