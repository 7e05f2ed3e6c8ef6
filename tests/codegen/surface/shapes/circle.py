"""What is as far from a point everywhere.

The module is found by its folder.
"""

__all__ = ["area"]


def area(radius: float) -> float:
    """Return the area of a disc."""
    return 3.14159 * radius**2
