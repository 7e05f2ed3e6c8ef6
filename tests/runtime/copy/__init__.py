"""Tests of the family `copy`."""
