"""Every pointwise kernel compiles to PTX and links to machine code, without a GPU.

Here every formula in float32 and every dtype with a few formulas; all of both with `-m full`.
"""

from __future__ import annotations

import re

import pytest

from tests import test_layering as layering
from tests.cuda import specs
from tests.cuda.compiling import CAPABILITY, check, needs_extra
from torchgen_out._runtime import config
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch.operator import Pointwise, operators
from torchgen_out._runtime.kernels.common.draw import program_of
from torchgen_out._runtime.kernels.common.draw_form import DrawForm
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.compiling import compiler
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops import pointwise
from torchgen_out._runtime.kernels.cuda.random.draw_text import draw_kernel

pytestmark = needs_extra

FEW = ("add.Tensor", "where.self", "exp", "pow.Tensor_Tensor", "floor_divide", "eq.Tensor", "abs")


LIKE_OTHERS = (
    *("uint32", "uint64", "float8_e5m2", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"),
)
"""Dtypes whose kernels differ from another's of their kind in a few numbers only."""


def _cases(*, full: bool) -> list:
    """Operators and dtypes: the usual ones, or all others."""
    cases = []
    for name, dtype in specs.cases():
        is_usual = dtype == "float32" or (
            name in FEW and "_backward" not in name and dtype not in LIKE_OTHERS
        )
        if is_usual == full:
            continue
        marks = [pytest.mark.full] if full else []
        cases.append(pytest.param(name, dtype, marks=marks))
    return cases


def _check_loops(name: str, dtype: str, strided: bool) -> None:
    operator = operators[name]
    assert isinstance(operator, Pointwise)
    for spec in specs.specs_of(operator, dtypes.by_name(dtype)):
        wide = any(d.name in ("float64", "complex128") for d in (spec.compute, *spec.inputs))
        check(pointwise.contiguous_kernel(spec, (), False), wide, spec.compute.is_complex)
        if strided:
            check(pointwise.strided_kernel(spec, 3, False), wide, spec.compute.is_complex)


@pytest.mark.parametrize(("name", "dtype"), _cases(full=False))
def test_formulas(name, dtype):
    _check_loops(name, dtype, strided=dtype != "float32" or name in FEW)


@pytest.mark.parametrize(("name", "dtype"), _cases(full=True))
def test_every_formula_in_every_dtype(name, dtype):
    _check_loops(name, dtype, strided=True)


def _spec(name: str, *inputs: str, output: str | None = None) -> PointwiseSpec:
    """The spec of an operator's formula for mixed dtypes that are computed in the last one."""
    operator = operators[name]
    formula = operator.at_defaults or operator.formulas[()]
    own = [dtypes.by_name(each) for each in inputs]
    out = dtypes.by_name(output or inputs[-1])
    return PointwiseSpec(formula, ("tensor",) * len(own), tuple(own), (out,), own[-1].opmath)


@pytest.mark.parametrize(
    ("dtype", "access"),
    [("float32", r"ld\.global\.v4\.(f32|u32|b32)"), ("float64", r"ld\.global\.v2\.(f64|u64|b64)"),
     ("float16", r"ld\.global\.v4\.u?b?32"), ("int64", r"ld\.global\.v2\.[ub]64"),
     ("uint8", r"ld\.global\.v4\.[ub]32")],
)  # fmt: skip
def test_dense_operands_are_read_16_bytes_at_once(dtype, access):
    code = check(pointwise.contiguous_kernel(_spec("add.Tensor", dtype, dtype), (), False), True)
    assert len(re.findall(access, code)) >= 2, re.findall(r"ld\.global\S+", code)
    assert re.search(access.replace("ld", "st", 1), code), re.findall(r"st\.global\S+", code)


@pytest.mark.parametrize(
    ("inputs", "output"),
    [(("float16", "float32"), "float32"), (("bool", "float32"), "float32"),
     (("int64", "float32"), "float32"), (("uint8", "bfloat16"), "bfloat16"),
     (("float32", "complex64"), "complex64"), (("int32", "int64"), "int64")],
)  # fmt: skip
def test_mixed_dtypes(inputs, output):
    spec = _spec("mul.Tensor", *inputs, output=output)
    for source in (
        pointwise.contiguous_kernel(spec, (), False),
        pointwise.contiguous_kernel(spec, (0, 1), False),
        pointwise.strided_kernel(spec, 2, False),
    ):
        check(source, False, spec.compute.is_complex)


@pytest.mark.parametrize("ndim", [1, 2, 5, 9])
def test_any_number_of_dims_and_elements(ndim):
    spec = _spec("add.Tensor", "float32", "float32")
    check(pointwise.strided_kernel(spec, ndim, False), False)
    code = check(pointwise.strided_kernel(spec, ndim, True), False)
    assert "div.u64" in code or ndim == 1
    check(pointwise.contiguous_kernel(spec, (), True), False)


def _dropout() -> DrawForm:
    own, result = (dtypes.float32,), (dtypes.float32, dtypes.bool)
    return DrawForm(program_of("_dropout"), dtypes.float32, result, own, 1, False)


@pytest.mark.parametrize(
    ("make", "reads"),
    [(lambda: pointwise.strided_kernel(_spec("add.Tensor", "float32", "float32"), 2, False), 4),
     (lambda: draw_kernel(_dropout(), False, False), 4)],
    ids=["strided", "dropout"],
)  # fmt: skip
def test_all_elements_are_read_before_one_is_written(make, reads):
    accesses = re.findall(r"(ld|st)\.global", compiler.ptx(make(), CAPABILITY))
    assert accesses[:reads] == ["ld"] * reads and set(accesses[reads:]) == {"st"}


def test_narrow_kernels_do_not_divide():
    spec = _spec("add.Tensor", "float32", "float32")
    code = compiler.ptx(pointwise.strided_kernel(spec, 4, False), CAPABILITY)
    assert "div." not in code and "rem." not in code


def test_older_devices_round_to_bfloat16_without_an_instruction():
    source = pointwise.strided_kernel(_spec("add.Tensor", "bfloat16", "bfloat16"), 1, False)
    old = compiler.ptx(source, compiler.OLDEST)
    assert "cvt.rn.bf16" not in old and ", 32767;" in old
    assert "cvt.rn.bf16.f32" in check(source, False)


# -- the checks themselves ----------------------------------------------------------------------


def _source(body: str, *arguments: str) -> Source:
    return Source("probe", f"def kernel(out, n):\n{body}", arguments, 256)


def test_doubles_are_noticed():
    body = "    i = cuda.grid(1)\n    if i < n:\n        out[i] = out[i] * 0.1\n"
    with pytest.raises(AssertionError, match="computes in double"):
        check(_source(body, "float32*", "int32"), False)
    assert ".f64" in check(_source(body, "float32*", "int32"), True)


def test_a_stack_is_noticed():
    body = (
        "    t = cuda.local.array(64, np.float32)\n    for k in range(64):\n"
        "        t[(k * n) % 64] = out[k]\n    out[n] = t[n]\n"
    )
    with pytest.raises(AssertionError, match="a stack of"):
        check(_source(body, "float32*", "int32"), False)


def test_an_unresolved_name_does_not_link():
    code = compiler.ptx(_source("    out[0] = n\n", "int32*", "int32"), CAPABILITY)
    call = ".extern .func missing ();\n.visible .entry"
    broken = code.replace(".visible .entry", call).replace("ret;", "call missing, ();\nret;")
    with pytest.raises(RuntimeError, match="missing"):
        compiler.link(broken, CAPABILITY)


def test_machine_code_is_found_by_content(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHGEN_CACHE_DIR", str(tmp_path))
    source = _source("    out[0] = n\n", "int32*", "int32")
    first = compiler.machine_code(source, CAPABILITY)
    assert first[:4] == b"\x7fELF"
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "ptx", None)
        assert compiler.machine_code(source, CAPABILITY) == first
    other = _source("    out[0] = n + 1\n", "int32*", "int32")
    assert compiler.machine_code(other, CAPABILITY) != first
    assert compiler.machine_code(source, (8, 0)) != first
    assert len(list(tmp_path.rglob("probe.*.kernel"))) == 3


def test_every_formula_is_in_the_table():
    names = {name for name, _ in specs.cases()}
    missing = {each.name for each in specs.pointwise_operators()} - names
    assert missing == set()


def test_one_module_knows_a_compiler():
    """All others hand texts to it; numba-cuda has two more for what Python cannot say."""
    homes = {
        package: {
            each.module
            for each in layering.imports("runtime", "torchgen_out")
            if each.name.startswith(f"{package}.")
        }
        for package in ("numba.cuda", "numba_cuda_mlir")
    }
    folder = "torchgen_out._runtime.kernels.cuda.compiling"
    assert homes == {
        "numba.cuda": {f"{folder}.{n}" for n in ("numba_front_end", "conversions", "vectors")},
        "numba_cuda_mlir": {f"{folder}.mlir_front_end"},
    }


def test_devices_newer_than_the_linker_are_given_text(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "cache_folder", lambda: tmp_path)
    source = Source("probe", "def kernel(out):\n    out[0] = 1.0\n", ("float32*",), 32)
    assert compiler.machine_code(source, CAPABILITY).startswith(b"\x7fELF")
    code = compiler.machine_code(source, (19, 0))
    assert b".visible .entry kernel" in code and code.endswith(b"\0")


def test_devices_that_are_too_old_are_refused():
    source = Source("probe", "", (), 32)
    with pytest.raises(RuntimeError, match=r"capability 7\.0, and CUDA 13 compiles for 7\.5"):
        compiler.machine_code(source, (7, 0))
