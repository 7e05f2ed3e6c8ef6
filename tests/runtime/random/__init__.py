"""Tests of the family `random`."""
