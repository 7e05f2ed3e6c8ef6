"""Tests of the family `scatter`."""
