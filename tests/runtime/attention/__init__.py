"""Tests of the family `attention`."""
