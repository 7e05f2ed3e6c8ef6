"""The entries that a new operator begins with: valid, so that only their meaning changes."""

from __future__ import annotations

from collections.abc import Callable

from ..record import record

_ARGUMENTS = ("self", "other", "third", "fourth", "fifth")
MOST_ARGUMENTS = len(_ARGUMENTS)

DOC = """\
  doc: |
    Say in one line what it does, in the imperative.

    Then what a user needs to know: shapes, dtypes, special cases.
"""


@record
class Skeleton:
    """Both entries of an operator, and what else is to be written for it."""

    function: str
    derivative: str
    """Empty where the derivative comes by itself."""
    todo: tuple[str, ...]


def pointwise(name: str, tensors: int) -> Skeleton:
    """A scalar formula over broadcast tensors."""
    arguments = _ARGUMENTS[:tensors]
    function = f"""\
- func: {name}({_tensors(arguments)}) -> Tensor
  variants: function, method, inplace, out
  dtypes: floating
  promotion: int_to_float
  pointwise: {_product(arguments)}
  samples: {{{", ".join(f"{a}: [-3, 3]" for a in arguments)}}}
{DOC}"""
    derivative = f"- name: {name}\n" + "".join(f"  {a}: auto\n" for a in arguments)
    return Skeleton(
        function,
        derivative + "  result: auto_element_wise\n",
        ("the formula after 'pointwise:', and the domains in 'samples:'",),
    )


def reduction(name: str, tensors: int) -> Skeleton:
    """A fold over some dims or all."""
    function = f"""\
- func: {name}(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  variants: function, method, out
  dtypes: floating
  promotion: default
  reduction:
    identity: 0
    reduce: acc + self
    combine: acc + other
  samples: {{self: [-3, 3]}}
{DOC}"""
    derivative = f'- name: {name}\n  self: not_implemented("{name}")\n'
    return Skeleton(
        function, derivative, ("identity, reduce, combine", "the gradient in derivatives.yaml")
    )


def view(name: str, tensors: int) -> Skeleton:
    """Other sizes and strides over the same memory."""
    function = f"""\
- func: {name}(Tensor(a) self, int dim) -> Tensor(a)
  view: {name}
  samples:
    - {{self: "randn(2, 3)", dim: 0}}
    - {{self: "randn(2, 3)", dim: 2, raises: IndexError}}
{DOC}"""
    derivative = f'- name: {name}\n  self: not_implemented("{name}")\n'
    return Skeleton(
        function,
        derivative,
        (
            f"def {name}(self, dim) -> (sizes, strides, offset), among the views",
            "the gradient in derivatives.yaml",
        ),
    )


def composite(name: str, tensors: int) -> Skeleton:
    """A body of other operators; its derivative comes by itself."""
    arguments = _ARGUMENTS[:tensors]
    shapes = ", ".join(f'{a}: "randn(3, 4)"' for a in arguments)
    function = f"""\
- func: {name}({_tensors(arguments)}) -> Tensor
  composite: {_product(arguments)}
  samples:
    - {{{shapes}}}
{DOC}"""
    return Skeleton(function, "", ("the body after 'composite:', or module.function",))


def dispatch(name: str, tensors: int) -> Skeleton:
    """A hand-written kernel per backend."""
    arguments = _ARGUMENTS[:tensors]
    shapes = ", ".join(f'{a}: "randn(3, 4)"' for a in arguments)
    parameters = ", ".join(arguments)
    function = f"""\
- func: {name}({_tensors(arguments)}) -> Tensor
  variants: function, method, out
  dtypes: floating
  dispatch: {{CPU: kernels.{name}}}
  meta: shapes.{name}
  samples:
    - {{{shapes}}}
{DOC}"""
    derivative = f"- name: {name}\n" + "".join(
        f'  {a}: not_implemented("{name}")\n' for a in arguments
    )
    return Skeleton(
        function,
        derivative,
        (
            f"def {name}(out, {parameters}), the kernel that writes the array out",
            f"def {name}({parameters}) -> (sizes, dtype), the shape function with all checks",
            "the modules of both in the entry, and the gradients in derivatives.yaml",
        ),
    )


KINDS: dict[str, Callable[[str, int], Skeleton]] = {
    "pointwise": pointwise,
    "reduction": reduction,
    "view": view,
    "composite": composite,
    "dispatch": dispatch,
}


def _tensors(arguments: tuple[str, ...]) -> str:
    return ", ".join(f"Tensor {name}" for name in arguments)


def _product(arguments: tuple[str, ...]) -> str:
    return " * ".join(arguments) if len(arguments) > 1 else f"{arguments[0]} * {arguments[0]}"
