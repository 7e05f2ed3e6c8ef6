"""The stand-ins of NVIDIA's libraries are what NVIDIA's bindings are: names, arguments, numbers.

Nothing here computes; the bindings are there without the libraries behind them.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from enum import IntEnum
from importlib import metadata
from typing import Any

import pytest

from tests.cuda.library_standins import STAND_INS
from tests.cuda.standin_cublas import StandInCublasLt, bytes_of
from tests.cuda.standin_memory import StandIn
from torchgen_out._runtime.backends.cuda.libraries import (
    convolution_graphs,
    convolutions,
    cublaslt,
    cudnn,
    loading,
)
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import FORWARD, INPUT, WEIGHT

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nvmath") is None,
    reason="needs the extra: pip install torchgen-out[cuda]",
)


def real(name: str) -> Any:
    """NVIDIA's bindings of a library."""
    return importlib.import_module(f"nvmath.bindings.{name}")


HELPERS = {name for name in vars(StandIn) if inspect.isfunction(vars(StandIn)[name])} - {"create"}
"""What stand-ins share, which is no function of a library."""


def functions(kind: type) -> list[str]:
    """The functions that a stand-in has of its library."""
    own = {name for name in vars(kind) if inspect.isfunction(vars(kind)[name])}
    names = own | ({"create"} if "create" not in vars(kind) else set())
    return sorted(name for name in names - HELPERS if not name.startswith("_"))


def parameters(function: Any) -> list[str]:
    """The names of the parameters that the first line of a compiled function's text shows."""
    text = function.__doc__.splitlines()[0]
    inside = text[text.index("(") + 1 : text.rindex(")")]
    return [each.split()[-1] for each in inside.split(",")] if inside else []


@pytest.mark.parametrize("library", STAND_INS)
def test_functions(library):
    kind: type[StandIn] = STAND_INS[library]
    module = real(library)
    for name in functions(kind):
        ours = list(inspect.signature(getattr(kind, name)).parameters)[1:]
        assert ours == parameters(getattr(module, name)), name


@pytest.mark.parametrize("library", STAND_INS)
def test_numbers(library):
    module = real(library)
    for name, value in vars(STAND_INS[library]).items():
        if inspect.isclass(value) and issubclass(value, IntEnum):
            theirs = getattr(module, name)
            assert {each.name: int(theirs[each.name]) for each in value} == {
                each.name: each.value for each in value
            }


def test_types_of_elements_and_of_computations():
    import nvmath

    names = {"float32": "R_32F", "float64": "R_64F", "float16": "R_16F", "bfloat16": "R_16BF",
             "complex64": "C_32F", "complex128": "C_64F"}  # fmt: skip
    assert {
        name: int(nvmath.CudaDataType[f"CUDA_{names[name]}"]) for name in loading.DATA_TYPES
    } == loading.DATA_TYPES
    compute = real("cublas").ComputeType
    for name in ("COMPUTE_32F", "COMPUTE_32F_FAST_TF32", "COMPUTE_64F"):
        assert getattr(cublaslt, name) == int(compute[name])
    assert int(real("cublas").Operation.T) == cublaslt.TRANSPOSED
    assert int(real("cublas").PointerMode.DEVICE) == 1


@pytest.mark.parametrize("library", STAND_INS)
def test_exceptions(library):
    home, name = loading.FAILURES[library]
    assert issubclass(getattr(real(home), name), Exception)


def test_what_heuristics_answer():
    kind = STAND_INS["cublasLt"]
    assert real("cublasLt").matmul_heuristic_result_dtype == kind.matmul_heuristic_result_dtype


# -- the library itself, as far as it needs no device ----------------------------------------------


def _installed(package: str, name: str) -> Any:
    """A library of a package, without its bindings, which ask for a driver."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    (path,) = [each for each in files if each.name.startswith(name)]
    return ctypes.CDLL(str(path.locate()))


ATTRIBUTES = {
    "MatmulDesc": StandInCublasLt.MatmulDescAttribute,
    "MatrixLayout": StandInCublasLt.MatrixLayoutAttribute,
    "MatmulPreference": StandInCublasLt.MatmulPreferenceAttribute,
}


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_the_library_takes_attributes_of_these_sizes_alone(kind):
    library = _installed("nvidia-cublas", "libcublasLt.so")
    handle = ctypes.c_void_p()
    arguments = {
        "MatmulDesc": (cublaslt.COMPUTE_32F, 0),
        "MatrixLayout": (0, ctypes.c_uint64(3), ctypes.c_uint64(4), ctypes.c_int64(3)),
        "MatmulPreference": (),
    }[kind]
    assert getattr(library, f"cublasLt{kind}Create")(ctypes.byref(handle), *arguments) == 0
    value = ctypes.c_uint64(1)
    for attribute in ATTRIBUTES[kind]:
        accepted = [
            size
            for size in (2, 4, 8)
            if getattr(library, f"cublasLt{kind}SetAttribute")(
                handle, attribute.value, ctypes.byref(value), ctypes.c_size_t(size)
            )
            == 0
        ]
        assert accepted == [bytes_of(attribute)], attribute


# -- cuDNN, which plans for a device that is only described ----------------------------------------


def _header() -> str:
    """The library's own list of numbers."""
    try:
        files = metadata.files("nvidia-cudnn-cu13") or []
    except metadata.PackageNotFoundError:
        pytest.skip("needs the extra: pip install torchgen[cudnn]")
    (path,) = [each for each in files if each.name == "cudnn_graph.h"]
    return path.locate().read_text()


def _numbered(header: str, prefix: str) -> dict[str, int]:
    pattern = rf"^\s+{prefix}(\w+)(?: CUDNN_DEPRECATED_ENUM)?\s*= (\d+)"
    return {name: int(n) for name, n in re.findall(pattern, header, re.MULTILINE)}


def test_numbers_of_cudnn():
    header = _header()
    named = _numbered(header, "CUDNN_ATTR_")
    assert {each.name: each.value[0] for each in cudnn.Attribute}.items() <= named.items()
    kinds = {f"{each.name}_DESCRIPTOR": each.value for each in cudnn.Kind}
    assert kinds.items() <= _numbered(header, "CUDNN_BACKEND_").items()
    types = {each.name: each.value[0] for each in cudnn.Type}
    assert types.items() <= _numbered(header, "CUDNN_TYPE_").items()
    data = _numbered(header, "CUDNN_DATA_")
    words = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF", "bfloat16": "BFLOAT16"}
    assert {name: data[word] for name, word in words.items()} == cudnn.DATA_TYPES
    notes = _numbered(header, "CUDNN_NUMERICAL_NOTE_")
    for name in ("TENSOR_CORE", "DOWN_CONVERT_INPUTS", "REDUCED_PRECISION_REDUCTION",
                 "NONDETERMINISTIC"):  # fmt: skip
        assert getattr(convolutions, name) == notes[name]
    modes = _numbered(header, "CUDNN_HEUR_MODE_")
    assert (modes["A"], modes["FALLBACK"]) == convolutions.HEURISTICS


IMAGE = ((8, 64, 28, 28), (128, 64, 3, 3), (8, 128, 14, 14), (2, 2), (1, 1), (1, 1), (16, 16, 16))
GROUPS = ((2, 32, 9, 9), (32, 1, 3, 3), (2, 32, 7, 7), (1, 1), (0, 0), (1, 1), (16, 16, 8))
VOLUME = ((2, 4, 6, 7, 8), (8, 4, 3, 3, 3), (2, 8, 6, 5, 6), (1, 1, 1), (1, 0, 0), (1, 1, 1),
          (16, 16, 16))  # fmt: skip


PLAIN = (False, False, False)
LAYOUTS = {
    FORWARD: ((True, False, False), (True, True, False)),
    INPUT: ((False, False, True),),
    WEIGHT: ((True, False, False), (True, False, True)),
}
"""In which operands channels come last: never in the result, which is ours."""


def test_cudnn_plans_our_convolutions_for_a_device_that_is_not_there():
    _header()
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler, for a driver's name")
    exact = [convolutions.DOWN_CONVERT_INPUTS, convolutions.TENSOR_CORE,
             convolutions.NONDETERMINISTIC]  # fmt: skip
    questions = [
        {"direction": direction, "dtype": dtype, "geometry": geometry, "forbidden": forbidden,
         "layouts": layouts, "bias": bias}
        for direction in convolution_graphs.OPERATIONS
        for dtype in cudnn.DATA_TYPES
        for geometry in (IMAGE, GROUPS, VOLUME)
        for forbidden in ([], exact)
        for layouts in (PLAIN, *LAYOUTS[direction])
        for bias in ([False, True] if direction == FORWARD else [False])
    ]  # fmt: skip
    program = subprocess.run(
        [sys.executable, "-m", "tests.cuda.cudnn_plans"],
        input=json.dumps(questions), capture_output=True, text=True,
    )  # fmt: skip
    assert program.returncode == 0, program.stderr
    answers = json.loads(program.stdout)
    assert answers["version"] >= cudnn.OLDEST
    for question, plans in zip(questions, answers["workspaces"], strict=True):
        assert plans, question
