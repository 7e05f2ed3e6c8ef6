"""Figures of the fixture's surface."""

__all__ = ["circle"]
