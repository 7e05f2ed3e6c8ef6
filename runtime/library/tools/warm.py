"""Compile kernels ahead, in parallel processes.

Operators that are formulas, and their gradients, are called on small tensors in the ways that take
different kernels: dense, strided, broadcast, with numbers in the place of tensors, with optional
operands absent. All others are called as their samples show, and differentiated, and in-place
variants of both: `--samples` reads samples, as records in JSON, from standard input. What a call
compiles is found again by content, by every process of this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import torchgen_out
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch.operator import Operator, Pointwise, Reduction, operators
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.library.tools import recorded
from torchgen_out._runtime.library.tools.calling import call_in_place
from torchgen_out._runtime.library.tools.derivatives import call_samples
from torchgen_out._runtime.library.tools.records import Record, record_of

Task = tuple[str, str, str]
"""Package, operator, dtype."""
Sampled = tuple[Record, str]
"""An operator and a dtype."""
Work = tuple[Callable[[Any], str | None], Any]
"""What does a task and tells what went wrong, and the task."""


def main(arguments: list[str] | None = None) -> int:
    """Compile what is asked for; the exit status is 1 if something does not compile."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("--package", default="torchgen_out")
    parser.add_argument("--dtypes", default="float32,float64")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--script", metavar="COMMAND")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("operators", nargs="*")
    options = parser.parse_args(arguments)
    if options.script:
        return recorded.warm(options.script, options.jobs)
    names = options.dtypes.replace(" ", "").split(",")
    records = json.load(sys.stdin) if options.samples else []
    tasks = tasks_of(options.package, names, options.operators)
    work: list[Work] = [(compile_calls, task) for task in tasks]
    known = [*map(record_of, records)]
    work += [(compile_samples, task) for task in sampled(known, names)]
    work += [(compile_in_place, task) for task in written(known, names)]
    start = time.perf_counter()
    failures = run(work, min(options.jobs, os.cpu_count() or 1))
    print(f"{len(work)} operators and dtypes, {time.perf_counter() - start:.0f} s")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def tasks_of(package: str, names: list[str], wanted: list[str]) -> Iterator[Task]:
    """Every operator of the package that has formulas, in every dtype that it accepts."""
    importlib.import_module(package)
    prefixes = tuple(f"{name.replace('.', '_')}_backward_" for name in wanted)
    for name, operator in operators.items():
        if not isinstance(operator, (Pointwise, Reduction)):
            continue
        is_wanted = not wanted or name in wanted or name.startswith(prefixes)
        if not is_wanted or not _is_made_of_formulas(operator, package):
            continue
        for dtype in names:
            if dtypes.by_name(dtype).name in operator.dtypes:
                yield package, name, dtype


def _is_made_of_formulas(operator: Operator, package: str) -> bool:
    if isinstance(operator, Pointwise):
        function = next(iter(operator.formulas.values()))
    elif isinstance(operator, Reduction):
        function = operator.parts[1]
    else:
        return False
    return str(function.__module__).startswith(f"{package}.")


def sampled(records: Iterable[Record], names: list[str]) -> Iterator[Sampled]:
    """Every operator of some that is no formula, in every dtype that it accepts."""
    for record in records:
        if record.kind not in ("pointwise", "reduction", "view"):
            for dtype in names:
                if dtypes.by_name(dtype).name in record.dtypes:
                    yield record, dtype


def written(records: Iterable[Record], names: list[str]) -> Iterator[Sampled]:
    """Every operator of some that has an in-place variant with a kernel, in every dtype."""
    for record in records:
        if "inplace" in record.variants and record.kind != "view":
            for dtype in names:
                if dtypes.by_name(dtype).name in record.dtypes:
                    yield record, dtype


def run(work: list[Work], jobs: int) -> list[str]:
    """Do all work in `jobs` processes, telling how far it is; return what failed."""
    failures = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context) as pool:
        futures = [pool.submit(function, task) for function, task in work]
        for count, future in enumerate(as_completed(futures), 1):
            failure = future.result()
            if failure:
                failures.append(failure)
            _tell_progress(count, len(work))
    return failures


def _tell_progress(count: int, total: int) -> None:
    """One line that counts up on a terminal; a line for every tenth part elsewhere."""
    if sys.stdout.isatty():
        print(f"\r{count}/{total}", end="\n" if count == total else "", flush=True)
    elif count * 10 // total != (count - 1) * 10 // total:
        print(f"{count}/{total}", flush=True)


def compile_calls(task: Task) -> str | None:
    """Call one operator in one dtype in every way, on one thread and on several.

    Returns what went wrong.
    """
    package, name, dtype = task
    importlib.import_module(package)
    operator = operators[name]
    return _on_one_thread_and_on_two(f"{name} {dtype}", lambda: _call(operator, dtype))


def compile_samples(task: Sampled) -> str | None:
    """Call one operator in one dtype as its samples show, on one thread and on several.

    Returns what went wrong.
    """
    record, dtype = task
    importlib.import_module(record.package)
    return _on_one_thread_and_on_two(f"{record.name} {dtype}", lambda: call_samples(record, dtype))


def compile_in_place(task: Sampled) -> str | None:
    """Call the in-place variant of one operator in one dtype, on one thread and on several.

    Its kernels are others where a result may lie in the memory of an argument. Returns what went
    wrong.
    """
    record, dtype = task
    importlib.import_module(record.package)
    name = f"{record.name}, in place, {dtype}"
    return _on_one_thread_and_on_two(name, lambda: call_in_place(record, dtype))


def _on_one_thread_and_on_two(name: str, call: Callable[[], None]) -> str | None:
    try:
        call()
        with _everything_split():
            call()
    except Exception as error:  # one operator that fails must not keep the others cold
        return f"{name}: {type(error).__name__}: {error}"
    return None


@contextlib.contextmanager
def _everything_split() -> Iterator[None]:
    """Have two threads take parts of the smallest tensors."""
    grain, count = threads.GRAIN, threads.get_num_threads()
    threads.GRAIN = 1
    threads.set_num_threads(2)
    forget_calls()  # they know from which size on they are split
    try:
        yield
    finally:
        threads.GRAIN = grain
        threads.set_num_threads(count)
        forget_calls()


def _call(operator: Operator, dtype: str) -> None:
    if isinstance(operator, Reduction):
        _call_reduction(operator, dtype)
    else:
        assert isinstance(operator, Pointwise)
        _call_pointwise(operator, dtype)


# -- calls --------------------------------------------------------------------------------------


def _tensor(dtype: str, *sizes: int) -> Any:
    return torchgen_out.ones(sizes, dtype=dtypes.by_name(dtype))


def _layouts(dtype: str, count: int) -> Iterator[list[Any]]:
    """Operands dense, strided, and broadcast one by one."""
    yield [_tensor(dtype, 2, 3) for _ in range(count)]
    if count:
        gapped = _tensor(dtype, 2, 6)[:, ::2]
        yield [gapped, *(_tensor(dtype, 2, 3) for _ in range(count - 1))]
    for place in range(count if count > 1 else 0):
        yield [_tensor(dtype, 3) if i == place else _tensor(dtype, 2, 3) for i in range(count)]


def _gradient_layouts(dtype: str, count: int) -> Iterator[list[Any]]:
    """Operands dense, and the first the gradient of a sum: one number, expanded."""
    yield [_tensor(dtype, 2, 3) for _ in range(count)]
    yield [_tensor(dtype).expand(2, 3), *(_tensor(dtype, 2, 3) for _ in range(count - 1))]


def _call_pointwise(operator: Pointwise, dtype: str) -> None:
    """Gradients, and calls with numbers, are met dense; others also strided and broadcast.

    What is loaded as it is, outside the promotion of dtypes, are masks; what may be a number there
    is one.
    """
    is_gradient = next(iter(operator.operands), "") == "grad"
    for absent in operator.formulas:
        present = [name for name in operator.operands if name not in absent]
        numbers = [name for name in present if operator.operands[name].startswith("number")]
        scalars = tuple(name for name in present if operator.operands[name] == "scalar")
        beside = [name for name in numbers if name not in operator.promoted]
        for chosen in (scalars, *((name,) for name in numbers if name not in beside)):
            tensors = [name for name in present if name not in (*chosen, *beside)]
            layouts = (_gradient_layouts if is_gradient else _layouts)(dtype, len(tensors))
            for operands in itertools.islice(layouts, 1 if chosen else None):
                given = {
                    name: operand if name in operator.promoted else operand.bool()
                    for name, operand in zip(tensors, operands, strict=True)
                }
                _call_with_scalars(operator, given | dict.fromkeys((*chosen, *beside), 2.0))


def _call_with_scalars(operator: Pointwise, given: dict[str, Any]) -> None:
    """Once with the default scalars, which may have a simpler formula, once with others."""
    scalars = [name for name, kind in operator.arguments.items() if kind != "operand"]
    usual = {name: operator.defaults.get(name, 1) for name in scalars}
    for values in (usual, dict.fromkeys(scalars, 2)) if scalars else ({},):
        arguments = {**values, **given}
        operands = tuple(given.get(name) for name in operator.operands)
        call = operator.calls[operator.signature(operands)]
        call(*[arguments.get(name) for name in operator.arguments])


def _call_reduction(operator: Reduction, dtype: str) -> None:
    dims = (None, 0, 1) if "dim" in operator.arguments else (None,)
    for dim, strided in itertools.product(dims, (False, True)):
        tensor = _tensor(dtype, 2, 6)[:, ::2] if strided else _tensor(dtype, 2, 3)
        values = {"dim": dim, "keepdim": False, "dtype": None}
        arguments = [
            tensor if kind == "operand" else values.get(name, 1)
            for name, kind in operator.arguments.items()
        ]
        operator.calls[operator.signature((tensor,))](*arguments)


if __name__ == "__main__":
    sys.exit(main())
