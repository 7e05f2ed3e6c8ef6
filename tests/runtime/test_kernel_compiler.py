"""The compiler of kernels' texts: they mean what Python and Numba mean by them."""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.compiler import functions, kinds, library, numba_rules, scalars
from torchgen_out._runtime.kernels.machine import compiler

TEXT = (
    build.HEADER.format(title="What kernels may hold.")
    + '''
T = np.float32
SIGN = 63
TABLE = (3, 1, 2)
in_turn = few = range


@inner
def sign_of(value, zero=0):
    """A part with several ends."""
    if value > 0:
        return 1
    if value < 0:
        return -1
    return zero


@inner
def room_for(x):
    return np.empty(x.size, x.dtype)


@inner
def sum_of_copy(x):
    copy = room_for(x)
    for i in range(x.size):
        copy[i] = x[i]
    total = 0
    for i in range(copy.size):
        total += copy[i]
    return total


@entry
def types_that_change(out, x):
    total, last = 0, 0
    for i in range(x.size):
        if i == 2:
            seen = x[i]
        if i > 2:
            total = total + seen
        last = i
    while True:
        found = total
        if last > 2:
            break
    out[0], out[1], out[2] = total, last, found


@entry
def ways_out_of_loops(out, x):
    count = 0
    for i in range(x.size - 1, -1, -1):
        if x[i] < 0:
            continue
        if x[i] > 6 or i == 0:
            break
        count += 1
    j = 0
    while j < x.size and x[j] < 3:
        j += 1
    out[0], out[1] = count, j
    out[2] = sign_of(x[0]) + 10 * sign_of(x[-1]) + 100 * sign_of(0.0, zero=5)


@entry
def indices_and_ranges(out, x):
    rows = x[:8].reshape((2, 4))
    out[0] = rows[-1, -2] + rows[1][1]
    out[1] = x[-3:].size + 10 * x[5:2].size + 100 * x[2:99].size + 1000 * x[1:8:3].size
    column = rows[:, 1:3]
    for i in range(column.shape[0]):
        for j in range(column.shape[1]):
            out[2 + i * 2 + j] = column[i, j]
    for k in range(np.uint64(3)):
        out[5] += x[np.uint64(1) + k]
    column[:] = 7
    rows[0, :2] = x[6:8]
    out[6], out[7] = x[1], rows[1, 2] * TABLE[int(x[2]) % 3]


@entry
def whole_numbers(out, x):
    for i in range(x.size):
        n = int(x[i])
        out[i] = n // 3 + 10 * (n % 3) + 100 * (-n // 2) + 1000 * (n * n) + ((1 << SIGN) - 1) % 7
    out[0] = min(int(x[0]), 2, 4) + max(1, int(x[1]))
    a, b = divmod(int(x[2]) - 9, 4)
    out[1] = a * 10 + b + (1 if 0 <= a < 2 else 5) + (not a) + (a in (1, -2))


@entry
def numbers_as_bits(out, x):
    for i in range(x.size):
        value = T(x[i])
        bits = value.view(np.int32) ^ np.int32(1 << 22)
        big = np.float64(x[i]).view(np.uint64) >> np.uint64(52)
        out[i] = np.int32(bits).view(np.float32) + T(0.1) / value + (T(1) if value > 3 else value)
        out[i] += np.sqrt(abs(value)) + np.rint(value / T(3)) + big
    words = x.view(np.int64)
    out[0] = words[1] & 255


@entry
def memory_of_its_own(out, x):
    for i in range(4):
        out[i] = sum_of_copy(x[i:])
    kept = np.zeros((2, 3))
    kept[:] = np.full((2, 3), x[0])
    kept[0] = np.ones(3)
    if out[0] > 0:
        kept[1, 2] = 5.0
        out[4] = kept[1, 2] + kept[0, 1]
        return
    out[4] = 1


@entry
def choices(out, x):
    best, place = x[0], 0
    for i in range(1, x.size):
        best, place = (x[i], i) if x[i] > best else (best, place)
    near = x[1] > 0 and x[2] > 0 or x[3] > 100
    out[0], out[1], out[2] = best, place, (x[4] if near else x[place] / x[1])


@entry
def loops_with_hints(out, x):
    for i in in_turn(x.size):
        for j in few(1, 3):
            out[i] += x[i] * j


@entry
def answer(out, x):
    if x[0] > 100:
        raise ValueError("too large")
    return x[0] > 0 and x.size > 1
'''
)
NAMES = [
    *("types_that_change", "ways_out_of_loops", "indices_and_ranges", "whole_numbers"),
    *("numbers_as_bits", "memory_of_its_own", "choices", "answer"),
    "loops_with_hints",
]


def _as_python() -> dict[str, Any]:
    """The functions of the text, run by Python on NumPy's numbers."""
    plain = TEXT.replace("from numba import njit", "njit = lambda **_: lambda function: function")
    names: dict[str, Any] = {}
    exec(compile(plain, "<plain>", "exec"), names)
    return names


@pytest.mark.parametrize("name", NAMES)
def test_no_kernel_here_is_left_to_numba(name: str) -> None:
    library.walked("walked", TEXT, name, ["float64[1C]"] * 2)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_means_what_it_means_to_python(name: str) -> None:
    outs, answers = [], []
    x = np.array([2.0, -1.0, 5.0, 3.0, 7.0, 1.0, -4.0, 6.0, 8.0])
    for function in (_as_python()[name], getattr(build.load_text("walked", TEXT), name)):
        out, given = np.zeros(9), x.copy()
        answers.append(function(out, given))
        outs.append((out.tolist(), given.tolist()))
    assert outs[0] == outs[1]
    assert answers[0] == answers[1]


def test_loops_give_their_hints_to_llvm() -> None:
    hinted = str(library.walked("walked", TEXT, "loops_with_hints", ["float64[1C]"] * 2).module)
    assert len(set(re.findall(r"!llvm.loop (!\d+)", hinted))) == 2
    for hint in ("interleave.count", "vectorize.width", "unroll.count"):
        assert f'"llvm.loop.{hint}", i32 1' in hinted
    other = str(library.walked("walked", TEXT, "whole_numbers", ["float64[1C]"] * 2).module)
    assert "llvm.loop" not in other


def test_a_kernel_releases_what_it_allocates() -> None:
    x, out = np.ones(100_000), np.zeros(9)
    kernel = build.load_text("walked", TEXT).memory_of_its_own
    kernel(out, x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        kernel(out, x)
        kernel(out, -x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB; of 640 MB


def test_a_kernel_that_is_walked_raises_its_errors() -> None:
    x = np.array([101.0])
    with pytest.raises(ValueError, match="too large"):
        build.load_text("walked", TEXT).answer(x, x)


KINDS = [kinds.BY_NAME[name] for name in ("bool", "int32", "int64", "uint64", "float32", "float64")]
FUNCTIONS = [
    *scalars.FLOAT_FUNCTIONS,
    *scalars.INT_OPERATIONS,
    *scalars.DIVISIONS,
    *scalars.SHIFTS,
    *scalars.COMPARISONS,
    *scalars.COMPLEX_FUNCTIONS,
]


@pytest.mark.parametrize("function", sorted(set(FUNCTIONS), key=lambda each: each.__name__))
def test_the_rules_for_types_are_numbas(function: Any) -> None:
    for left, right in itertools.product(kinds.NUMBERS, repeat=2):
        own = scalars.operands_of(function, left, right)
        if own is None:
            continue
        given = tuple(map(numba_rules.to_numba, (left, right)))
        signature, _ = numba_rules.resolved(function, given)
        result = kinds.boolean if function in scalars.COMPARISONS else own
        assert numba_rules.from_numba(signature.return_type) is result, (function, left, right)


def test_variables_of_two_types_are_as_numba_has_them() -> None:
    for pair in itertools.product(KINDS, repeat=2):
        own = numba_rules.numba().typing.unify_pairs(*map(numba_rules.to_numba, pair))
        assert scalars.unified(*pair) is numba_rules.from_numba(own), pair


SIGNS = {
    "int64": "+ - * // % & | ^ << >> < <= > >= == !=",
    "uint64": "+ - * // % & | ^ << >> < <= > >= == !=",
    "float64": "+ - * / % ** < <= > >= == !=",
    "complex128": "+ - * == !=",
}
CALLS = {
    "complex128": "-x; x.real; x.imag; complex(x.real, y.imag)",
    "int64": "-x; +x; ~x; not x; abs(x); int(x); float(x); x / y; divmod(x, y)[0]; divmod(x, y)[1]",
    "uint64": "+x; ~x; not x; int(x); float(x); x / y; divmod(x, y)[1]",
    "float64": "-x; +x; not x; abs(x); int(x); float(x); math.fabs(x); math.sqrt(x); np.sqrt(x); "
    "math.copysign(x, y); math.isnan(x); np.isnan(x); math.isinf(x); np.isfinite(x); np.rint(x); "
    "np.signbit(x); np.trunc(x); np.floor(x); np.ceil(x); math.floor(y); math.ceil(y); "
    "math.trunc(y); math.pow(x, y); "
    + "; ".join(f"math.{name}(x)" for name in (*functions.OF_LLVM, *functions.OF_C)),
}
VALUES = {
    "complex64": [0, 1j, 2 - 3j, -0.5 + 7j],
    "complex128": [0, 1j, 2 - 3j, -0.5 + 7j],
    "bool": [0, 1, 1, 0, 1, 0, 1, 1],
    "int32": [0, 3, -3, 7, -8, 63, 2, -(2**31)],
    "int64": [0, 3, -3, 7, -8, 63, 2, -(2**63)],
    "uint32": [0, 3, 5, 7, 2**31, 63, 2, 2**32 - 1],
    "uint64": [0, 3, 5, 7, 2**63, 63, 2, 2**64 - 1],
    "float32": [0.0, -0.0, 2.5, -2.5, np.nan, 1e9, 0.75, -7.0],
    "float64": [0.0, -0.0, 2.5, -2.5, np.nan, 1e18, 0.75, -7.0],
}


@pytest.mark.parametrize(
    ("left", "right", "group"),
    [
        *(("int64", "int64", "int64"), ("int32", "int64", "int64"), ("bool", "int64", "int64")),
        *(("uint64", "uint64", "uint64"), ("float64", "float64", "float64")),
        *(("float32", "float32", "float64"), ("float32", "int64", "float64")),
        ("float32", "float64", "float64"),
        *(
            ("bool", "uint64", "uint64"),
            ("uint32", "int64", "int64"),
            ("bool", "float32", "float64"),
        ),
        *(("complex128", "complex128", "complex128"), ("complex64", "float32", "complex128")),
    ],
)
def test_numbers_are_numbas(left: str, right: str, group: str) -> None:
    """Each operation on all pairs of some values, compiled by the walk and by Numba."""
    expressions = [f"x {sign} y" for sign in SIGNS[group].split()]
    if left == right:
        expressions += CALLS[group].split("; ")
    else:
        expressions = [each for each in expressions if each != "x ** y"]
        expressions += ["math.copysign(x, y)"] if left == "float32" and right == "float64" else []
    if left not in ("bool", "complex64", "complex128"):
        expressions += [f"np.{name}(x)" for name in ("int32", "uint64", "float32", "float64")]
    lines = [f"            out[{at}, i, j] = {each}" for at, each in enumerate(expressions)]
    head = ["for i in range(a.size):", "    for j in range(b.size):", "        x, y = a[i], b[j]"]
    body = "\n".join(
        ["@entry", "def kernel(out, a, b):", *(f"    {each}" for each in head), *lines]
    )
    text = f"{build.HEADER.format(title='Numbers.')}\n\n{body}\n"
    a, b = (np.array(VALUES[name], name) for name in (left, right))
    outs = []
    for kernel in (
        build.compile_text("numbers", text),
        compiler.dispatcher_of("n", text, "kernel"),
    ):
        outs.append(np.zeros((len(expressions), a.size, b.size), complex))
        kernel(outs[-1], a, b)
    for expression, own, other in zip(expressions, *outs, strict=True):
        if ("<<" in expression or ">>" in expression) and group == "int64":
            own, other = own[:, b >= 0], other[:, b >= 0]
            own, other = own[:, b[b >= 0] < 64], other[:, b[b >= 0] < 64]
        np.testing.assert_array_equal(own, other, err_msg=expression)


TRAINING_STEP = """
import json, sys
import torchgen_out as torch
from torchgen_out import nn
from torchgen_out._runtime.kernels.machine import compiler
requests, answered = [], compiler.answered
compiler.answered = lambda request: requests.append(request) or answered(request)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
model.extend([nn.Flatten(), nn.Linear(36, 3)])
optimizer = torch.optim.Adam(model.parameters())
loss = nn.functional.cross_entropy(model(torch.randn(8, 1, 8, 8)), torch.tensor([0, 1, 2, 0] * 2))
loss.backward()
optimizer.step()
loaded = sorted({name.partition(".")[0] for name in sys.modules} & {"numba", "llvmlite"})
print(json.dumps([loaded, requests]))
"""

COMPILER = """
import json, sys, types
for name, path in (("torchgen_out", []), ("torchgen_out._runtime", [sys.argv[1]])):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
from torchgen_out._runtime.kernels.machine import compiler
for request in json.load(sys.stdin):
    compiler.answered(request)
    print(request["name"], "numpy" in sys.modules, "numba" in sys.modules)
"""
"""The compiler's process, with no more of the library than it has."""


def _ran(program: str, given: str = "", **environment: str) -> str:
    command = [sys.executable, "-c", program, str(Path(build.__file__).parents[1])]
    environment = {**os.environ, **environment, "TORCHGEN_COMPILER": "here"}
    pipes = {"input": given, "capture_output": True, "text": True}
    ran = subprocess.run(command, env=environment, timeout=120, **pipes)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_training_step_is_compiled_without_numba_and_numpy(tmp_path: Path) -> None:
    loaded, requests = json.loads(_ran(TRAINING_STEP, TORCHGEN_CACHE_DIR=str(tmp_path)))
    assert loaded == ["llvmlite"] and len(requests) > 10
    told = _ran(COMPILER, json.dumps(requests)).splitlines()
    assert len(told) == len(requests)
    assert not [line for line in told if not line.endswith(" False False")]


def test_texts_compute_constants_as_numpy_does() -> None:
    lines = [
        *("T = np.float32", "THIRD = T(1) / T(3)", "EPS = np.finfo(T).eps", "BITS = ~np.int32(5)"),
        *("ROOT = np.sqrt(T(2))", "SUM = 1 + THIRD", "FAR = np.inf"),
        *("@entry", "def kernel(out):"),
        *("    out[0], out[1], out[2] = THIRD, EPS, BITS", "    out[3], out[4] = ROOT, SUM"),
        *("    out[5], out[6] = FAR, T(0.1)", "    out[7] = np.float64(np.int8(-3) * THIRD)"),
    ]
    text = build.HEADER.format(title="Constants.") + "\n" + "\n".join(lines) + "\n"
    out = np.zeros(8)
    build.compile_text("constants", text)(out)
    third = np.float32(1) / np.float32(3)
    expected = [third, np.finfo(np.float32).eps, -6, np.sqrt(np.float32(2)), 1 + third, np.inf]
    expected += [np.float32(0.1), np.int8(-3) * third]
    assert out.tolist() == list(map(float, expected))
