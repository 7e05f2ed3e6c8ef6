"""Tests of the family `softmax`."""
