"""Composites of convolutions."""
