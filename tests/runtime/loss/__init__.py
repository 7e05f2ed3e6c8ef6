"""Tests of the family `loss`."""
