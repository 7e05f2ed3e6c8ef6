"""Operators written with other operators; their derivatives come for free."""
