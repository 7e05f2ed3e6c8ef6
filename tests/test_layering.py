"""Imports go down only: every import of every module, held to the floors of the building."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

RUNTIME = "torchgen_out._runtime"
"""The folder `runtime/`."""

FLOORS: dict[str, int] = {
    f"{RUNTIME}.library": 8,
    "torchgen_out": 7,
    f"{RUNTIME}.bindings": 6,
    f"{RUNTIME}.factories": 6,
    f"{RUNTIME}.namespaces": 6,
    f"{RUNTIME}.ops": 6,
    f"{RUNTIME}.tensor_api": 6,
    f"{RUNTIME}.autograd": 5,
    f"{RUNTIME}.backends": 4,
    f"{RUNTIME}.kernels": 3,
    f"{RUNTIME}.dispatch": 2,
    f"{RUNTIME}.core": 1,
    f"{RUNTIME}.errors": 0,
    f"{RUNTIME}.collector": 0,
    f"{RUNTIME}.config": 0,
    f"{RUNTIME}.forks": 0,
    f"{RUNTIME}.interpreters": 0,
    RUNTIME: 0,
}
"""Package -> floor. A module may import its own floor and those below."""

FACADES = (
    "_C", "__config__", "_custom_ops", "_dynamo", "_jit_internal", "_subclasses", "_tensor_str",
    "_utils", "absent_names", "accelerator", "amp", "ao", "as_torch", "autograd", "backends.cpu",
    "backends.cusparselt", "backends.kleidiai", "backends.mha", "backends.nnpack",
    "backends.openmp",
    "backends.opt_einsum", "backends.quantized", "backends.xnnpack", "compiler", "cpu.amp",
    "cuda.amp", "cuda.comm", "cuda.jiterator", "cuda.nccl", "cuda.profiler", "cuda.tunable",
    "distributed", "distributions", "export", "func", "functional", "futures", "fx",
    "hub", "jit", "monitor", "package",
    "library", "mps", "mtia", "multiprocessing", "nested", "nn", "onnx", "ops", "optim",
    "overrides", "private_names", "profiler", "quantization", "quasirandom", "raw_layers",
    "serialization",
    "sparse", "storage", "testing", "torch_names", "types", "utils", "xpu",
)  # fmt: skip
"""Parts of torchgen_out that re-export floor 8: nothing below may need them."""

HEAVY = ("llvmlite", "numba", "scipy")
"""May be imported inside a function: only who computes with them pays for their import."""

LATE = tuple(
    f"{RUNTIME}.kernels.{name}" for name in ("compiler", "machine.compiler", "machine.emission")
)
"""Stand on LLVM, and are themselves imported late: by whoever compiles a kernel."""

OPTIONAL = {
    "numba.cuda": (f"{RUNTIME}.kernels.cuda", f"{RUNTIME}.backends.cuda"),
    "cuda": (f"{RUNTIME}.kernels.cuda", f"{RUNTIME}.backends.cuda"),
    "numba_cuda_mlir": (f"{RUNTIME}.kernels.cuda.compiling.mlir_front_end",),
    "nvmath": (f"{RUNTIME}.backends.cuda.libraries",),
    "mpi4py": (f"{RUNTIME}.library.distributed.mpi",),
    "nccl": (f"{RUNTIME}.library.distributed.nccl",),
}
"""Optional packages and the only places that know them."""


class Import:
    """One name that a module imports."""

    def __init__(self, path: Path, node: ast.stmt, name: str, nested: bool) -> None:
        self.path = path
        self.line = node.lineno
        self.name = name
        self.nested = nested
        """Whether it stands inside a function."""

    @property
    def module(self) -> str:
        """The importing module's dotted name."""
        return _module_of(self.path)

    def told(self, problem: str) -> str:
        """The place and the problem."""
        return f"{self.path.relative_to(ROOT)}:{self.line}: {problem}"


def imports(*folders: str) -> list[Import]:
    """Every absolute import below some folders, but for those of type checkers alone."""
    return [each for folder in folders for each in _imports_below(folder)]


@cache
def _imports_below(folder: str) -> tuple[Import, ...]:
    return tuple(
        Import(path, node, name, nested)
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node, name, nested in _names(ast.parse(path.read_text(encoding="utf-8")), path)
    )


def _module_of(path: Path) -> str:
    """The name under which a file is imported."""
    first, *parts = path.relative_to(ROOT).with_suffix("").parts
    parts = [RUNTIME if first == "runtime" else first, *parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _source_of(node: ast.ImportFrom, path: Path) -> str:
    """The full name of the module that names are imported from."""
    if not node.level:
        return node.module or ""
    assert path.is_relative_to(ROOT / "codegen"), f"{path}:{node.lineno}: imports are absolute"
    package = ".".join(path.relative_to(ROOT).parts[: -node.level])
    return f"{package}.{node.module}" if node.module else package


def _names(tree: ast.AST, path: Path, nested: bool = False) -> Iterator[tuple[ast.stmt, str, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name, nested) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _source_of(node, path)
            yield from ((node, f"{source}.{alias.name}", nested) for alias in node.names)
        elif not (isinstance(node, ast.If) and _is_for_type_checkers(node.test)):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _names(node, path, nested or is_function)


def _is_for_type_checkers(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def floor_of(name: str) -> int | None:
    """The floor of a module or of a name in one; None outside the building."""
    package = name
    while package:
        if package in FLOORS:
            return FLOORS[package]
        package = package.rpartition(".")[0]
    return None


def is_facade(module: str) -> bool:
    """Whether a generated module only re-exports what is above it."""
    return any(module == f"torchgen_out.{n}" or module.startswith(f"torchgen_out.{n}.")
               for n in FACADES)  # fmt: skip


def test_every_package_has_a_floor() -> None:
    for path in (ROOT / "runtime").iterdir():
        if path.suffix == ".py" or (path.is_dir() and any(path.glob("*.py"))):
            name = f"{RUNTIME}.{path.stem}" if path.stem != "__init__" else RUNTIME
            assert name in FLOORS, f"{path.relative_to(ROOT)} stands on no floor"


def violations() -> list[str]:
    """Every import that goes up."""
    found = []
    for each in imports("runtime", "torchgen_out"):
        own, other = floor_of(each.module), floor_of(each.name)
        if own is None or other is None or is_facade(each.module):
            continue
        if other > own:
            found.append(each.told(f"{each.module} may not import {each.name}"))
    return found


def test_imports_go_down() -> None:
    assert "\n".join(violations()) == ""


def test_codegen_stands_beside_the_building() -> None:
    found = [
        each.told(f"{each.module} may not import {each.name}")
        for each in imports("codegen")
        if each.name.split(".")[0] in ("runtime", "torchgen_out")
    ]
    found += [
        each.told(f"{each.module} may not import {each.name}")
        for each in imports("runtime", "torchgen_out")
        if each.name.split(".")[0] in ("codegen", "tests", "jinja2", "yaml")
    ]
    assert "\n".join(found) == ""


def test_stages_of_the_generator_know_those_before_them_through_the_model_alone() -> None:
    stages = {
        "model": (),
        "formula": ("model",),
        "index": ("formula", "model"),
        "parse": ("formula", "index", "model"),
        "check": ("formula", "index", "model", "parse"),
        "lower": ("formula", "index", "model"),
        "emit": ("formula", "index", "model", "write"),
    }
    shared = ("errors", "library", "record")
    found = []
    for each in imports("codegen"):
        _, stage, *_ = *each.module.split("."), ""
        _, other, *_ = *each.name.split("."), ""
        known = (*stages.get(stage, (other,)), *shared, stage)
        if each.name.startswith("codegen.") and other not in known:
            found.append(each.told(f"{each.module} may not import {each.name}"))
    assert "\n".join(found) == ""


def test_imports_inside_functions_are_of_heavy_packages() -> None:
    """An import inside a function hides a cycle, unless it puts off a cost."""
    found = [
        each.told(f"{each.module} imports {each.name} inside a function")
        for each in imports("runtime", "torchgen_out")
        if each.nested and floor_of(each.name) is not None and not each.name.startswith(LATE)
    ]
    assert "\n".join(found) == ""


def test_heavy_packages_are_imported_late() -> None:
    """`import torchgen_out` must not wait for Numba or SciPy."""
    found = [
        each.told(f"{each.module} imports {each.name} when it is imported")
        for each in imports("runtime", "torchgen_out")
        if not each.nested
        and not each.module.startswith(LATE)
        and (each.name.split(".")[0] in HEAVY or each.name.startswith(LATE))
    ]
    assert "\n".join(found) == ""


def test_optional_packages_have_one_home() -> None:
    found = [
        each.told(f"{each.module} may not import {each.name}")
        for each in imports("runtime", "torchgen_out")
        for package, homes in OPTIONAL.items()
        if (each.name == package or each.name.startswith(f"{package}."))
        and not each.module.startswith(homes)
    ]
    assert "\n".join(found) == ""


def test_generator_tests_need_no_numpy() -> None:
    found = [
        each.told(f"{each.name} in a test of the generator")
        for each in imports("tests/codegen")
        if each.name.split(".")[0] in ("numpy", "scipy", "numba", "torch", "torchgen_out")
        and "golden" not in each.path.parts
    ]
    assert "\n".join(found) == ""


def _forbidden(package: str, other: str) -> list[str]:
    """The imports of one package by another."""
    return [
        each.told(f"{each.module} may not import {each.name}")
        for each in imports("runtime")
        if f"{each.module}.".startswith(f"{RUNTIME}.{package}.")
        and f"{each.name}.".startswith(f"{RUNTIME}.{other}.")
    ]


@pytest.mark.parametrize("floor", ["backends", "kernels"])
@pytest.mark.parametrize(
    ("package", "other"),
    [("cuda", "cpu"), ("cpu", "cuda"), ("common", "cpu"), ("common", "cuda"), ("meta", "cpu")],
)
def test_backends_do_not_know_each_other(floor: str, package: str, other: str) -> None:
    """What two of them need stands in `common`."""
    assert "\n".join(_forbidden(f"{floor}.{package}", f"{floor}.{other}")) == ""


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (f"{RUNTIME}.core.shape", f"{RUNTIME}.dispatch.ops"),
        (f"{RUNTIME}.kernels.plan", f"{RUNTIME}.autograd.graph"),
        (f"{RUNTIME}.autograd.engine", "torchgen_out"),
        ("torchgen_out.methods", f"{RUNTIME}.library.nn.module"),
    ],
)
def test_the_floors_forbid(module: str, name: str) -> None:
    own, other = floor_of(module), floor_of(name)
    assert own is not None and other is not None and other > own
