"""Tests of the family `special`."""
