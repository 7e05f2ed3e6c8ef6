"""Tests of the family `indexing`."""
