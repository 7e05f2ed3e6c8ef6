"""Convolutions and sliding blocks."""
