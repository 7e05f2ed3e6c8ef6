"""Tests of the family `rnn`."""
