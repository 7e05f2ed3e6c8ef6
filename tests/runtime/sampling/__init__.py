"""Tests of the family `pooling`."""
