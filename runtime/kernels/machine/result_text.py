"""How results of kernels become Python objects, in LLVM's language; beside `call_text`."""

from __future__ import annotations

import re

from torchgen_out._runtime.kernels.machine.call_text import CODES


def _boxed(name: str) -> str:
    """How a whole number becomes a Python object: a block of `object`."""
    bits = int(re.sub(r"\D", "", name) or 8)
    widen = "bitcast" if bits == 64 else "sext" if name.startswith("int") else "zext"
    make = {"bool": "PyBool_FromLong", "uint64": "PyLong_FromUnsignedLongLong"}
    return f"""\
{name}:
  %{name}_value = load i{bits}, ptr %place
  %{name}_wide = {widen} i{bits} %{name}_value to i64
  %{name}_object = call ptr @{make.get(name, "PyLong_FromLongLong")}(i64 %{name}_wide)
  ret ptr %{name}_object
"""


_WHOLE = [name for name in CODES if "int" in name or name == "bool"]
_CASES = "".join(f"    i64 {code}, label %{name}\n" for name, code in CODES.items())
TEXT = f"""\
; One number as a Python object.
define internal ptr @object(i64 %code, ptr %place) {{
start:
  switch i64 %code, label %none [
{_CASES}  ]
none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
{"".join(map(_boxed, _WHOLE))}\
float64:
  %double = load double, ptr %place
  br label %real
float32:
  %single = load float, ptr %place
  %widened = fpext float %single to double
  br label %real
real:
  %number = phi double [ %double, %float64 ], [ %widened, %float32 ]
  %float = call ptr @PyFloat_FromDouble(double %number)
  ret ptr %float
complex128:
  %re_double = load double, ptr %place
  %second_double = getelementptr i8, ptr %place, i64 8
  %im_double = load double, ptr %second_double
  br label %pair
complex64:
  %re_single = load float, ptr %place
  %second_single = getelementptr i8, ptr %place, i64 4
  %im_single = load float, ptr %second_single
  %re_wide = fpext float %re_single to double
  %im_wide = fpext float %im_single to double
  br label %pair
pair:
  %re = phi double [ %re_double, %complex128 ], [ %re_wide, %complex64 ]
  %im = phi double [ %im_double, %complex128 ], [ %im_wide, %complex64 ]
  %complex = call ptr @PyComplex_FromDoubles(double %re, double %im)
  ret ptr %complex
}}

; What a kernel returned: nothing, a number, or a tuple of numbers of 8 bytes.
define internal ptr @returned(ptr %about, ptr %result) {{
start:
  %count = call i64 @word(ptr %about, i64 32)
  %codes = call i64 @word(ptr %about, i64 40)
  %single = icmp slt i64 %count, 2
  br i1 %single, label %one, label %several
one:
  %object = call ptr @object(i64 %codes, ptr %result)
  ret ptr %object
several:
  %made = call ptr @PyTuple_New(i64 %count)
  %none = icmp eq ptr %made, null
  br i1 %none, label %failed, label %next
next:
  %i = phi i64 [ 0, %several ], [ %after, %put ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %put, label %end
put:
  %bits = shl i64 %i, 3
  %shifted = lshr i64 %codes, %bits
  %code = and i64 %shifted, 255
  %place = getelementptr i64, ptr %result, i64 %i
  %item = call ptr @object(i64 %code, ptr %place)
  %done = call i32 @PyTuple_SetItem(ptr %made, i64 %i, ptr %item)
  %after = add i64 %i, 1
  br label %next
failed:
  ret ptr null
end:
  ret ptr %made
}}
"""
