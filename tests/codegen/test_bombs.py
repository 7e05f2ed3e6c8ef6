"""Small texts that mean a lot of work end at once, in an error with its place, or simply work."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from codegen import emit, lower
from codegen.check import read_program
from codegen.errors import CodegenError
from codegen.model.program import Program
from codegen.parse import Inputs

SECONDS = 2.0
"""Of the processor, for any of them: most take a hundredth."""
AUTO = "- name: f\n  self: auto\n"


def entry(
    formula: str = "self",
    schema: str = "f(Tensor self) -> Tensor",
    kind: str = "pointwise",
    samples: str = "{self: [-1, 1]}",
    doc: str = "Do.",
) -> str:
    """One entry; the formula may have several lines."""
    lines = "".join(f"\n    {line}" for line in formula.split("\n"))
    head = f"- func: {schema}\n  variants: function\n"
    if kind == "pointwise":
        head += "  dtypes: floating\n  promotion: int_to_float\n"
    return f"{head}  {kind}: |{lines}\n  samples: {samples}\n  doc: {doc}\n"


def doubled(line: str, count: int, last: str) -> str:
    """A formula whose names each stand for the one before, more than once."""
    return "\n".join(["a0 = self", *(line.format(i, i - 1) for i in range(1, count)), last])


def scaled(default: str, type_: str = "Scalar") -> str:
    """An operator with a default."""
    return entry("self * a", f"f(Tensor self, {type_} a={default}) -> Tensor")


LAUGHS = "- &a0 [x, x]\n" + "".join(
    f"- &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]\n" for i in range(1, 12)
)
STEPS = "a{0} = a{1} + 1 if a{1} > {0} else a{1} * 2"

REFUSED = {
    "calls nested 150 deep": (entry("exp(" * 150 + "self" + ")" * 150), "E701"),
    "a sum of 5,000 terms": (entry("+".join(["self"] * 5000)), "E701"),
    "3,000 minus signs": (entry("-" * 3000 + "self"), "E701"),
    "3,000 nots": (entry("not " * 3000 + "self"), "E701"),
    "10,000 brackets": (entry("(" * 10_000 + "self" + ")" * 10_000), "E701"),
    "9,000 brackets": (entry("(" * 9_000 + "self" + ")" * 9_000), "E701"),
    "a tower of powers": (entry("self ** 9 ** 9 ** 9"), "E714"),
    "a tower in brackets": (entry("self * (9 ** 9 ** 9)"), "E714"),
    "a tower of named powers": (entry("a = 9 ** 9\nself * a ** a"), "E714"),
    "a negative tower": (entry("self * 2 ** -9 ** 9"), "E714"),
    "a tower of floats": (entry("self * 7.5 ** 9 ** 9"), "E714"),
    "a product": (entry("self * (10 ** 15 * 10 ** 15)"), "E714"),
    "a literal of 31 digits": (entry("self + 1" + "0" * 30), "E714"),
    "a literal of 5,000 digits": (entry("self + " + "9" * 5000), "E701"),
    "a literal of 5,000 hexadecimal digits": (entry("self + 0x" + "f" * 5000), "E714"),
    "a float beyond all": (entry("self + 1e999"), "E714"),
    "squares of squares": (entry(doubled("a{0} = a{1} * a{1}", 40, "a39")), "E715"),
    "choices of choices": (entry(doubled(STEPS, 30, "a29")), "E715"),
    "150 steps": (entry(doubled("a{0} = exp(a{1})", 150, "a149")), "E715"),
    "a default of 5,000 digits": (scaled("9" * 5000, "int"), "E201"),
    "a default of 31 digits": (scaled("1" + "0" * 30), "E201"),
    "a default beyond all floats": (scaled("1e999", "float"), "E201"),
    "a default of 5,000 lists": (scaled("[" * 5000, "int[]"), "E201"),
    "a size of 5,000 digits": (
        entry(schema=f"f(Tensor self, int[{'9' * 5000}] a) -> Tensor"),
        "E201",
    ),
    "a text that is none": (entry(schema=r'f(Tensor self, str a="\x") -> Tensor'), "E201"),
    "10,000 question marks": (entry(schema=f"f(Tensor{'?' * 10_000} self) -> Tensor"), "E201"),
    "3,000 arguments": (
        entry(schema=f"f({', '.join(f'Tensor a{i}' for i in range(3000))}) -> Tensor"),
        "E201",
    ),
    "aliases of aliases": (LAUGHS, "E104"),
    "an alias of itself": (entry(samples="&a [*a]"), "E104"),
    "an alias in itself": ("- &a\n  b: *a\n", "E104"),
    "100,000 mappings": ("- " + "{a: " * 100_000 + "}" * 100_000 + "\n", "E110"),
    "100,000 lists": ("- " + "[" * 100_000, "E110"),
    "100,000 dashes": ("- " * 100_000 + "a\n", "E110"),
    "50,000 keys of keys": ("? " * 50_000 + "a\n", "E110"),
    "3,000 indentations": ("\n".join(" " * i + f"a{i}:" for i in range(3000)), "E110"),
    "a body of 2,000 calls": (entry("self" + ".exp()" * 2000, kind="composite"), "E402"),
    "a body with a tower": (entry("self * 9 ** 9 ** 9", kind="composite"), "E412"),
    "a body with a shift": (entry("self * (1 << 10 ** 9)", kind="composite"), "E412"),
    "a sample of 3,000 brackets": (
        entry(samples='\n    - {self: "' + "(" * 3000 + "1" + ")" * 3000 + '"}'),
        "E605",
    ),
    "a sample of 3,000 minus signs": (
        entry(samples='\n    - {self: "' + "-" * 3000 + '1"}'),
        "E605",
    ),
}

REFUSED_DERIVATIVES = {
    "3,000 minus signs": ("-" * 3000 + "grad", "E402"),
    "a sum of 5,000 terms": ("+".join(["grad"] * 5000), "E402"),
    "a tower of powers": ("grad * 9 ** 9 ** 9", "E412"),
    "an index of 5,000 digits": (f"grads[{'9' * 5000}]", "E402"),
}

ACCEPTED = {
    "18 nested calls": entry("exp(" * 18 + "self" + ")" * 18),
    "90 nested calls": entry("sin(" * 90 + "self" + ")" * 90),
    "a sum of 90 terms": entry("+".join(["self"] * 90)),
    "80 choices": entry(" if self > 0 else ".join(f"{i} * self" for i in range(80))),
    "a name for a number": entry(doubled("a{0} = 1.5 * {0}", 2, "a0 * a1")),
    "names used twice": entry(doubled("a{0} = a{1} * sin(a{1})", 7, "a6")),
    "the largest integer": entry("self + 18446744073709551615"),
    "a float of 40 digits": entry("self + 1e40"),
    "a default of nan": scaled("nan", "float"),
    "a default of inf": scaled("inf"),
    "a default of -inf": scaled("-inf"),
    "brackets in prose": entry(doc="|\n    Do.\n" + " " * 100 + "[{" * 200),
    "a doc of 10 MB": entry(doc="|\n    " + "y" * 10_000_000),
}


MUTUAL = ("a * b + 1, a - b", "a / b, exp(b) + a")
"""Next values of a loop that read both of the former: written out, a step doubles the text."""


def read(folder: Path, functions: str, derivatives: str) -> Program:
    """The program of two files."""
    (folder / "functions.yaml").write_text(functions, encoding="utf-8")
    (folder / "derivatives.yaml").write_text(derivatives, encoding="utf-8")
    return read_program(Inputs(folder / "functions.yaml", folder / "derivatives.yaml"))


def assert_refused(folder: Path, functions: str, derivatives: str, code: str) -> None:
    """An error of this code, with a place in one of the files, after little work."""
    start = time.process_time()
    with pytest.raises(CodegenError) as caught:
        read(folder, functions, derivatives)
    text = str(caught.value)
    assert time.process_time() - start < SECONDS
    found = [each for each in caught.value.diagnostics if each.code == code]
    assert found, text[:1000]
    lines = (functions if "functions" in found[0].where.file else derivatives).split("\n")
    assert 1 <= found[0].where.line <= len(lines)
    assert 1 <= found[0].where.column <= len(lines[found[0].where.line - 1]) + 1


@pytest.mark.parametrize("name", REFUSED)
def test_refused_entries(name: str, tmp_path: Path) -> None:
    functions, code = REFUSED[name]
    assert_refused(tmp_path, functions, "", code)


@pytest.mark.parametrize("name", REFUSED_DERIVATIVES)
def test_refused_derivatives(name: str, tmp_path: Path) -> None:
    formula, code = REFUSED_DERIVATIVES[name]
    assert_refused(tmp_path, entry(), f"- name: f\n  self: {formula}\n", code)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted_is_python(name: str, tmp_path: Path) -> None:
    start = time.process_time()
    for file in emit.emit(lower.lower(read(tmp_path, ACCEPTED[name], AUTO))):
        if file.path.endswith(".py"):
            compile(file.text, file.path, "exec")
    assert time.process_time() - start < 5 * SECONDS


@pytest.mark.parametrize("following", MUTUAL)
def test_a_loop_of_values_that_read_each_other(following: str, tmp_path: Path) -> None:
    loop = f"u[i], v[i] = repeat(10, a = self[i], b = 1: {following})\nout[i] = u[i] + v[i]"
    functions = entry(loop, kind="index").replace("  index:", "  dtypes: floating\n  index:")
    start = time.process_time()
    files = emit.emit(lower.lower(read(tmp_path, functions, AUTO)))
    longest = max(len(file.text) for file in files if "kernels" in file.path)
    assert time.process_time() - start < 5 * SECONDS
    assert longest < 100_000
