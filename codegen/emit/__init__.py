"""From a program to files: one module per artifact, each with one function `emit`."""

from __future__ import annotations

from collections.abc import Iterable

from .. import library
from ..model.plan import LoweredProgram
from ..model.program import Program
from ..write import File
from . import (
    foreach,
    functions,
    kernels,
    methods,
    namespaces,
    nodes,
    operators,
    overloads,
    package,
    reference,
    sparse_reference,
    stubs,
    vocabulary_files,
)

ARTIFACTS = (
    stubs,
    vocabulary_files,
    kernels,
    operators,
    nodes,
    functions,
    overloads,
    foreach,
    methods,
    namespaces,
    package,
    reference,
    sparse_reference,
)


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit every file of the generated package."""
    for artifact in ARTIFACTS:
        for file in artifact.emit(program):
            yield file if program.is_library else _headed(file, program)


def _headed(file: File, program: Program) -> File:
    """The file of another package: its head says what that was made from, and how."""
    made_from = " and ".join(program.sources)
    text = file.text.replace("native_functions.yaml and derivatives.yaml", made_from, 1)
    options = program.options.replace(" --", "\n#     --")
    command = f"`python -m {library.PACKAGE}.codegen {options}`"
    return File(file.path, text.replace("`python -m codegen`", command, 1))
