"""The formula language: a small compiler from one line of scalar arithmetic to what needs it.

    parse_formula(text, where, arguments, functions) -> Formula  CodegenError lists all mistakes
    functions_of(operators) -> {name: function}                  what it may call of operators
    specialize(formula, absent={"min"}) -> Formula               decides `x is None`, simplifies
    with_scalars(formula, {"other"}) -> Formula                  a Tensor|Scalar given as a number
    simplify(formula) -> Formula
    backward(formula, needs, is_complex=False) -> Formula        one output per name in `needs`
    partial(formula, name) -> Formula                            plain derivative, no grad
    is_identically_zero(formula) -> tuple[bool, ...]             per output
    python_function(formula, name) -> str                        kernel text
    tensor_function(formula, name) -> str                        the same over public operators
    tensor_expressions(formula, names) -> tuple[str, ...]        one expression per output
    number_expressions(formula) -> tuple[str, ...]               the same over numbers alone
    latex(formula, symbols) -> str

**Arguments.** `Argument(name, kind, optional)` of model/formula.py; kind is tensor, scalar, int or
bool. A kernel receives tensor elements, scalars and ints converted to the compute type T, bools as
they are. Call `specialize` before printing or differentiating a formula with optional arguments.

**Backward.** `formula.arguments` of the derived formula are `grad`, then in signature order what it
reads of the arguments, then `result` if it reads it: exactly what has to be saved. A formula with
several outputs takes grad0, grad1 ... and result0 ... instead. The derived formula may be derived
again: `backward(backward(f, needs), ("grad", "self"), grad="grad_grad")`.

**Names.** `name = expression` lines share nodes; printers use the name where the part survived. An
argument or a kernel function named like a primitive or a keyword prints with an underscore, which
`parameter_name(name)` tells: `python_function(f, "exp")` defines `exp_`, because it calls `exp`.

**Kernel text** uses the globals T, the primitives by name, and the constants pi, inf, nan, eps.
**Tensor text** uses the globals `ops`, `math` and, for eps, `finfo`. A tensor-typed argument must
be a tensor there: use `with_scalars` first for one that is a number.

**Diagnostics.** E701 syntax, E702 empty, E703 no result, E704 statement, E705 name given twice,
E706 name unused, E707 unknown name, E708 unknown function, E709 arity, E710 chained comparison,
E711 None, E712 not a number, E713 derivative not known, E714 beyond 64 bits, E715 too deep.

**Reductions** use the same parser with the arguments acc, other, count, the tensor's name and the
operator's scalars, all of kind "tensor" or "scalar".
"""

from .differentiate import backward, is_identically_zero, partial
from .functions import functions_of
from .latex import latex
from .parse import parse_formula
from .printer import parameter_name
from .python import python_function
from .simplify import simplify
from .specialize import specialize, with_scalars
from .tensor_expression import number_expressions, tensor_expressions, tensor_function

__all__ = [
    "backward",
    "functions_of",
    "is_identically_zero",
    "latex",
    "number_expressions",
    "parameter_name",
    "parse_formula",
    "partial",
    "python_function",
    "simplify",
    "specialize",
    "tensor_expressions",
    "tensor_function",
    "with_scalars",
]
