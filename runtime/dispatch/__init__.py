"""Choosing code for a call: one table per operator, from the arguments' keys to a resolved call."""

from runtime.dispatch.table import ops

__all__ = ["ops"]
