"""From YAML text to the model: `read_program` is the door."""

from .program import read_program

__all__ = ["read_program"]
