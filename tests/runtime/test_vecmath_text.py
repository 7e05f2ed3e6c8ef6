"""The texts of the vector mathematics: composition, coefficients, and code that vectorises."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.formula.primitives import FUNCTIONS, INTEGER_OPERATIONS
from tests.runtime import vecmath_coefficients, vecmath_special_fits
from tests.runtime.test_vecmath import FLOAT32, NEAR
from tests.runtime.vecmath_running import kernel_text
from torchgen_out._runtime.kernels.vecmath import (
    complex_source,
    compose,
    near,
    numpy_reference,
    stepwise,
)


def test_every_primitive_exists() -> None:
    for kind in ("real32", "real64"):
        assert set(FUNCTIONS) - INTEGER_OPERATIONS <= set(compose.definitions(kind))
    assert set(FUNCTIONS) & INTEGER_OPERATIONS <= set(compose.definitions("integer"))
    assert all(hasattr(numpy_reference, name) for name in FUNCTIONS)


def test_float32_computes_in_float64_what_it_lacks() -> None:
    text = compose.compose("k1e(x)", "float32")
    assert "def double_exp(x):" in text and "def exp(x):" not in text
    assert text.endswith("\n\ndef k1e(x):\n    return T(double_k1e(np.float64(x)))\n")


def test_composition_is_ordered_and_minimal() -> None:
    text = compose.compose("def f(x):\n    'log sin'\n    return cbrt(x) * pi  # cos", "float32")
    found = re.findall(r"^(?:def )?(\w+)", text, flags=re.MULTILINE)
    assert found == ["exp_double", "log_double", "inf", "cbrt", "pi"]
    assert compose.compose("f(x)", "int64") == ""


def test_complex_formulas_neither_raise_nor_compare_complex_numbers() -> None:
    source = "def f(x, y):\n    r = abs(y)\n    return x / T(2) if r / -r > T(0) else x / (y / r)\n"
    assert complex_source.adapt(source, "float32") == source
    assert complex_source.adapt(source, "complex64").splitlines()[-1] == (
        "    return complex_quotient(x, T(2)) if r / -r > R(0) "
        "else complex_quotient(x, complex_quotient(y, r))"
    )


def test_a_formula_is_tested_where_its_primitives_have_two_versions() -> None:
    defined = compose.definitions("real32")
    source = "def f(x, y):\n    t = x * y\n    return sin(cos(t)) + (tanh(t) if y < T(0) else y)\n"
    text = near.versions(source, defined)
    assert text.split("\n\n\n")[0].splitlines()[-1].startswith("    return sin_near(cos_near(t))")
    assert text.splitlines()[-1] == "    return cos_is_far(t) | sin_is_far(cos_near(t))"
    assert near.versions(source, compose.definitions("complex64")) == ""
    assert near.versions("def f(x):\n    return tanh(x)\n", defined) == ""
    assert near.versions(source, defined, "nearest") == ""
    source = "def f(x):\n    return bessel_j0(sin(x)) * T(2)\n"
    text = near.versions(source, defined, "nearest")
    assert (
        text.split("\n\n\n")[0]
        .splitlines()[-1]
        .startswith("    return bessel_j0_nearest(sin_near(x))")
    )
    assert text.splitlines()[-1] == "    return bessel_j0_is_beyond(sin_near(x))"
    branching = "def f(x):\n    if x < T(0):\n        return x\n    return sin(x)\n"
    assert near.versions(branching, defined) == ""


def test_a_formula_is_told_from_its_constants_where_they_decide() -> None:
    defined = compose.definitions("real64")
    source = "def f(\n    x, y,\n    z,\n):\n    return pow(x, y - T(1)) * pow(x, z) * pow(y, x)\n"
    text = near.known_version(source, defined, ["tensor", "scalar", "tensor"])
    known, test = text.strip().split("\n\n\n")
    assert known.endswith("    return pow_known(x, y - T(1)) * pow(x, z) * pow(y, x)")
    assert test == "def f_is_known(y):\n    return pow_is_known(y - T(1))"
    both = near.known_version(source, defined, ["tensor", "scalar", "scalar"])
    assert both.rstrip().endswith("return pow_is_known(y - T(1)) & pow_is_known(z)")
    assert near.known_version(source, defined, ["tensor"] * 3) == ""
    kinds = ["tensor", "scalar"]
    assert near.known_version("def f(x, y):\n    return pow(x, T(2))\n", defined, kinds) == ""
    steps = "def f(x, y):\n    z = y\n    return pow(x, y)\n"
    assert near.known_version(steps, defined, kinds) == ""
    assert near.known_version(source, compose.definitions("integer"), kinds) == ""


def test_a_formula_that_repeats_a_step_comes_in_parts() -> None:
    source = "def f(x, n):\n    t = -x\n    return three_term_recurrence(t, n, T(1))\n"
    text = stepwise.versions(source, compose.definitions("real32"))
    assert text.split("\n\n\n")[0].strip() == (
        "def f_start(x, n):\n    t = -x\n    return double_three_term_recurrence_start("
        "np.float64(t), np.float64(n), np.float64(T(1)))"
    )
    assert "def f_steps(k, below, value, x, n):" in text
    text = stepwise.versions(source, compose.definitions("real64"))
    assert "return three_term_recurrence_is_far(np.float64(t)," in text
    for other in ("return T(2) * three_term_recurrence(x, n, T(1))", "return exp(x)"):
        source = f"def f(x, n):\n    {other}\n"
        assert stepwise.versions(source, compose.definitions("real32")) == ""


@pytest.mark.parametrize("kind", ["real32", "real64"])
def test_no_module_hides_a_name_of_another(kind: str) -> None:
    found: dict[str, str] = {}
    for part in (*compose._SHARED, *compose._PARTS[kind]):
        source = Path(compose.__file__).parent.joinpath(f"{part}.py").read_text()
        for name in compose.definitions_in(source):
            assert found.setdefault(name, part) == part, name


INSTRUCTIONS = r"(?:fabs|copysign|sqrt|rint|floor|ceil|trunc|signbit|(?:u?int|float|complex)\d+)\("
"""Functions of `math` and NumPy that are a few instructions; others are calls of C's library."""


@pytest.mark.parametrize("kind", ["real32", "real64"])
def test_primitives_call_no_library(kind: str) -> None:
    """But three, since a loop that calls one stays scalar."""
    calling = {
        name
        for name, definition in compose.definitions(kind).items()
        if re.search(rf"\b(?:math|np)\.(?!{INSTRUCTIONS})\w+\(", definition.source)
    }
    own = {"lgamma", "constant_recurrence", "zeta"}
    doubled = {f"double_{name}" for name in own}
    assert calling == (own if kind == "real64" else doubled)


def test_coefficients_are_those_of_the_fits() -> None:
    """A sample: one of each kind of fit is computed again and found in the source."""
    fits = {
        "float32/exponential": next(vecmath_coefficients.float32_fits()),
        "float32/gamma": list(vecmath_coefficients.double_fits())[-1],
        "double": list(vecmath_coefficients.float64_fits())[3],
        "float64/special": list(vecmath_special_fits.special_fits())[-1],
    }
    _check_fits(fits.items())


@pytest.mark.slow
def test_all_coefficients_are_those_of_the_fits() -> None:
    everywhere32, everywhere64 = (
        " ".join(["double", *(f"{folder}/{family}" for family in families)])
        for folder, families in (
            ("float32", (*compose.FAMILIES, *compose.SHORTER)),
            ("float64", (*compose.FAMILIES, *compose.ONLY_DOUBLE)),
        )
    )
    fits = [*vecmath_coefficients.float32_fits(), *vecmath_coefficients.double_fits()]
    fits += vecmath_special_fits.short_fits()
    _check_fits([(everywhere32, fit) for fit in fits])
    fits = [*vecmath_coefficients.float64_fits(), *vecmath_special_fits.special_fits()]
    _check_fits([(everywhere64, fit) for fit in fits])


def _check_fits(fits: Any) -> None:
    folder = Path(compose.__file__).parent
    for parts, fit in fits:
        text = "".join(folder.joinpath(f"{part}.py").read_text() for part in parts.split())
        numbers = {float(match) for match in re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?", text)}
        for value in map(abs, fit.solve()[0]):
            assert value in numbers or float(np.float32(value)) in numbers, (fit.name, value)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86 assembly")
@pytest.mark.parametrize(
    ("name", "type_name"),
    [
        ("exp", "float32"),
        ("sin", "float32"),
        ("sin_near", "float32"),
        ("tan_near", "float32"),
        ("log2", "float32"),
        ("asin", "float32"),
        ("erf", "float32"),
        ("erfinv_near", "float32"),
        ("tanh", "float64"),
        ("sin_near", "float64"),
        ("tan_near", "float64"),
        ("pow", "float64"),
        ("i1", "float32"),
        ("airy_ai_near", "float64"),
    ],
)
def test_loop_vectorises(name: str, type_name: str) -> None:
    assert_vectorises(name, type_name)


def test_loops_vectorise_for_arm64_from_the_same_source() -> None:
    """In a process of its own, since Numba must not optimise."""
    names = ["exp", "sin_near", "log2"]
    command = [sys.executable, "-m", "tests.runtime.vecmath_arm", *names]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        found, count, calls = line.split()
        assert (found, calls) == (name, "False")
        assert int(count) >= 8


NEAR_DOUBLE = ("exp_near", "sin_near", "cos_near", "tan_near", "erfinv_near", "ndtri_near")
NOT_DOUBLE = {"sin", "cos", "tan", "lgamma"}
"""The sines choose for each number; lgamma is the C library's."""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86 assembly")
@pytest.mark.parametrize(
    ("name", "type_name"),
    [
        *((name, "float32") for name in (*FLOAT32, *NEAR, "pow")),
        *(
            (name, "float64")
            for name in (*sorted(FLOAT32.keys() - NOT_DOUBLE), *NEAR_DOUBLE, "pow")
        ),
    ],
)
def test_every_loop_vectorises(name: str, type_name: str) -> None:
    assert_vectorises(name, type_name)


def assert_vectorises(name: str, type_name: str) -> None:
    """The longest stretch without a jump is packed arithmetic and calls nothing."""
    arity = 2 if name == "pow" else 1
    text = kernel_text(name, type_name, arity)
    space: dict[str, Any] = {}
    exec(compile(text, f"<{name}>", "exec"), space)
    x = np.ones(8, type_name)
    space["kernel"](x, *([x] * arity))
    (assembly,) = space["kernel"].inspect_asm().values()
    blocks = re.split(r"\n(?=\.LBB)", assembly)
    packed = re.compile(r"\sv?(?:mul|add|sub|div|sqrt|fn?m(?:add|sub)\w*)p[sd]\s")
    longest = max(blocks, key=lambda block: len(packed.findall(block)))
    assert len(packed.findall(longest)) >= 2
    assert "call" not in longest
