"""From a program to files: one module per artifact, each with one function `emit`."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.emit import (
    functions,
    kernels,
    methods,
    namespaces,
    nodes,
    operators,
    overloads,
    package,
    reference,
    stubs,
    vocabulary_files,
)
from codegen.model.program import Program
from codegen.write import File

ARTIFACTS = (
    stubs,
    vocabulary_files,
    kernels,
    operators,
    nodes,
    functions,
    overloads,
    methods,
    namespaces,
    package,
    reference,
)


def emit(program: Program) -> Iterable[File]:
    """Emit every file of the generated package."""
    for artifact in ARTIFACTS:
        yield from artifact.emit(program)
