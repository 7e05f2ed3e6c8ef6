"""Tests of the family `reduction`."""
