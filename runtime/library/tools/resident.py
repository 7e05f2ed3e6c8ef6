"""Compiles operators as requests come, for `codegen watch`: what takes time is done before.

The library is imported, and a compiler's process waits. Each request is met by a fork, which
imports the package as it is now: one JSON object on a line of standard input, with the package, its
`operators` by name, `dtypes` by commas, and `records` of all of them.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from types import FunctionType
from typing import Any, cast

from torchgen_out._runtime.kernels.machine import compiling
from torchgen_out._runtime.kernels.typed import typed_text
from torchgen_out._runtime.library.tools import warm
from torchgen_out._runtime.library.tools.records import record_of


def main() -> int:
    """Serve until there are no more requests."""
    compiler = compiling.Spare(_small_request())
    try:
        for line in sys.stdin:
            compiler.keep_ready()
            process = os.fork()
            if process:
                os.waitpid(process, 0)
            else:
                _serve(compiler, json.loads(line))
    finally:
        compiler.end()
    return 0


def _ones(out: Any) -> None:
    for i in range(out.size):
        out[i] = 1


def _small_request() -> compiling.Request:
    """A kernel of three lines: whoever compiles it has all that compiling needs."""
    text = typed_text(cast(FunctionType, _ones), "float32", reassociate=False)
    return compiling.request_of("ones", text, "kernel", ["float32[1C]"])


def _serve(compiler: compiling.Spare, request: dict[str, Any]) -> None:
    """Meet one request, and end this process."""
    try:
        with compiler.in_use():
            _compile(request)
    except BaseException:  # it ends here, and must not return into the parent's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)


def _compile(request: dict[str, Any]) -> None:
    start = time.perf_counter()
    package, names = request["package"], request["dtypes"].replace(" ", "").split(",")
    importlib.import_module(package)
    records = [*map(record_of, request["records"])]
    failures = [
        warm.compile_calls(task) for task in warm.tasks_of(package, names, request["operators"])
    ]
    failures += [warm.compile_samples(task) for task in warm.sampled(records, names)]
    failures += [warm.compile_in_place(task) for task in warm.written(records, names)]
    for failure in filter(None, failures):
        print(failure, file=sys.stderr)
    if not any(failures):
        seconds = time.perf_counter() - start
        print(f"{', '.join(request['operators'])}: compiled, {seconds:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
