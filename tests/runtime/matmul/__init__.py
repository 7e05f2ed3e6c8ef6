"""Tests of the family `matmul`."""
