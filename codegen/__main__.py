"""python -m codegen: read, check, emit, write."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run the generator; the exit status is 1 for mistakes in the YAML or a stale tree."""
    parser = argparse.ArgumentParser(prog="python -m codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail with a diff if anything differs")
    parser.add_argument("--force", action="store_true", help="overwrite files edited by hand")
    options = parser.parse_args(arguments)
    return generate(options.check, options.force)


def generate(check: bool, force: bool) -> int:
    """Bring torchgen_out/ to the state that the YAML describes."""
    from codegen import emit, write
    from codegen.errors import CodegenError
    from codegen.parse import read_program

    start = time.perf_counter()
    try:
        program = read_program(
            ROOT / "native_functions.yaml",
            ROOT / "derivatives.yaml",
            ROOT / "runtime/autograd/formulas.py",
        )
    except CodegenError as error:
        print(error, file=sys.stderr)
        return 1
    files = list(emit.emit(program))
    folder = ROOT / "torchgen_out"
    if check:
        difference = write.diff(folder, files)
        sys.stdout.write(difference)
        return 1 if difference else 0
    changes = write.write(folder, files, force)
    seconds = time.perf_counter() - start
    print(
        f"{len(program.operators)} operators, {len(changes.written)} files written, "
        f"{len(changes.unchanged)} unchanged, {len(changes.deleted)} deleted, {seconds:.2f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
