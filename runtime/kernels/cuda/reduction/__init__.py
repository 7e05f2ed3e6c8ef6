"""Reductions by loops of their own; those with a formula are in `loops`."""
