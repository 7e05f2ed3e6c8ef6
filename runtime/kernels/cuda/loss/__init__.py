"""Losses over classes."""
