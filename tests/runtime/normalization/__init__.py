"""Tests of the family `normalization`."""
