"""What is raised for files that cannot be loaded, and the words that more than one place needs."""

from __future__ import annotations

import pickle
from typing import Any

from torchgen_out._runtime.core import public

_SHOWN = 80  # characters of a name from a file that a message repeats


class LoadError(RuntimeError, pickle.UnpicklingError):
    """A file is damaged, is of another kind, or holds what may not be loaded.

    PyTorch raises RuntimeError for the file and UnpicklingError for the pickle inside; whoever
    handles either handles this.
    """


class TruncatedFileError(LoadError, EOFError):
    """A file ends before what it describes does."""


public.place("serialization", LoadError, TruncatedFileError)


def damaged(problem: str) -> LoadError:
    """A file contradicts itself or its format."""
    return LoadError(f"load: the file is damaged: {problem}")


def truncated(what: str, wanted: int, found: int) -> TruncatedFileError:
    """Some bytes of a file are missing."""
    return TruncatedFileError(
        f"load: the file is truncated: {what} takes {wanted} bytes, {found} are left"
    )


def weights_only(problem: str) -> LoadError:
    """The pickle asks for more than data."""
    return LoadError(
        f"Weights only load failed. {problem}. Loading with weights_only=False accepts it, but "
        "runs code from the file: do that only if you trust who made it"
    )


def wrong_argument(function: str, expected: str, got: Any) -> LoadError:
    """A function that files may call got another kind of argument.

    Only the type is named: the representation of what a file built can be of any size.
    """
    return damaged(f"{function} expects {expected}, got {type(got).__name__}")


def shown(text: str) -> str:
    """A name from a file, short and printable."""
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return cut.encode("ascii", "backslashreplace").decode("ascii")
