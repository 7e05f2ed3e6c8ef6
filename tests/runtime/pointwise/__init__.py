"""Tests of the family `pointwise`."""
