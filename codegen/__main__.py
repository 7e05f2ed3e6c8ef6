"""Turn native_functions.yaml and derivatives.yaml into the package torchgen_out.

Without a command: parse, check, lower, emit, write. The commands help with single operators.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import time

from . import freshness, library, manifest, project
from .project import Project

COMMANDS = {
    "explain": "print all that is known of an operator, and where its code is",
    "new": "add the skeleton of an operator to both YAML files",
    "verify": "hold an operator's values and gradients to independent ones",
    "watch": "generate at every save, and compile ahead what changed",
    "warm": "compile kernels ahead, in parallel",
    "pack": "write compiled kernels into files that others need not compile",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the generator or a command.

    The exit status is 1 for mistakes in the YAML, a stale tree or a failed check.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in COMMANDS:
        command = importlib.import_module(f"{__package__}.commands.{arguments[0]}")
        return int(command.main(arguments[1:]))
    parser = _parser()
    if arguments and not arguments[0].startswith("-"):
        parser.error(_no_command(arguments[0]))
    options = parser.parse_args(arguments)
    return generate(project.chosen(options, parser), options.check, options.force)


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:9} {purpose}" for name, purpose in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=library.COMMAND,
        description=__doc__,
        epilog=f"commands:\n{listed}\n\n{library.COMMAND} COMMAND --help says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="fail with a diff if anything differs")
    parser.add_argument("--force", action="store_true", help="overwrite files edited by hand")
    project.add_arguments(parser)
    return parser


def _no_command(word: str) -> str:
    from .errors import did_you_mean

    if word.endswith((".yaml", ".yml")):
        return f"a file needs an option: --functions {word} --out FOLDER"
    hint = did_you_mean(word, COMMANDS)
    return f"there is no command '{word}': {hint or 'they are ' + ', '.join(COMMANDS)}"


def generate(chosen: Project, check: bool = False, force: bool = False) -> int:
    """Bring the package to the state that the YAML describes, or tell how it differs."""
    start = time.perf_counter()
    if chosen.is_installed and not check:
        print(project.INSTALLED, file=sys.stderr)
        return 1
    operators = freshness.unchanged_operators(chosen)
    if operators is not None:
        _summary(operators, 0, len(manifest.read(chosen.out)), 0, start)
        return 0
    return _generate(chosen, check, force, start)


def _generate(chosen: Project, compare: bool, force: bool, start: float) -> int:
    # late: a run without changes needs none of these
    from . import last_run, making, write
    from .errors import CodegenError

    try:
        made = making.make(chosen) if compare or force else making.make_again(chosen)
        if compare:
            difference = write.diff(chosen.out, made.files, chosen.apart)
            sys.stdout.write(difference)
            return 1 if difference else 0
        changes = write.write(chosen.out, made.files, force)
    except (CodegenError, write.Refused) as error:
        print(error, file=sys.stderr)
        return 1
    except write.Unwritable as error:
        print(f"cannot write {chosen.out}: {error}", file=sys.stderr)
        return 1
    operators = len(made.program.operators)
    last_run.keep(chosen, made.reading, made.texts)
    freshness.remember(chosen, made.program)
    counts = len(changes.written), len(changes.unchanged), len(changes.deleted)
    _summary(operators, *counts, start)
    return 0


def _summary(operators: int, written: int, unchanged: int, deleted: int, start: float) -> None:
    seconds = time.perf_counter() - start
    print(
        f"{operators} operators, {written} files written, {unchanged} unchanged, "
        f"{deleted} deleted, {seconds:.2f} s"
    )


def run() -> int:
    """Run as a program: the console script, or `python -m`."""
    gc.disable()  # nothing that a run makes is garbage before it ends
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os._exit(0)
    return status


if __name__ == "__main__":
    sys.exit(run())
