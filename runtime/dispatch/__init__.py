"""Choosing code for a call: one table per operator, from the arguments' keys to a resolved call."""
