"""Tests of the family `fft`."""
