"""Tests of the family `conv`."""
