"""Tests of the family `sort`."""
