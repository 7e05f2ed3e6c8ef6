"""From YAML text to the model: `parse` is the door."""

from .program import Inputs, Parsed, parse

__all__ = ["Inputs", "Parsed", "parse"]
