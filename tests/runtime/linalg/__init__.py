"""Tests of the family `linalg`."""
