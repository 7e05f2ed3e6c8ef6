"""Tests of the family `scan`."""
