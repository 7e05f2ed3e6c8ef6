"""Derivatives: one record per entry of derivatives.yaml, with what each formula needs saved."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from codegen.errors import SourceLocation
from codegen.model.operator import Places


class Save(enum.Enum):
    """What of a value a formula needs, from the least to the most."""

    DTYPE = "dtype"
    DEVICE = "device"
    LAYOUT = "layout"
    NDIM = "ndim"
    NUMEL = "numel"
    SIZES = "sizes"
    STRIDES = "strides"
    VALUE = "value"
    """The whole argument, which is no tensor: a number, dims, a flag."""
    TENSOR = "tensor"
    TENSORS = "tensors"
    """A list of tensors."""


@dataclass(frozen=True, slots=True)
class SavedValue:
    """One thing a node keeps from the forward call."""

    name: str
    """An argument, or a result (`result`, `result1`, a named return)."""
    what: Save
    is_result: bool = False
    result_index: int = 0
    """Which result, where `is_result`."""

    @property
    def local(self) -> str:
        """Its name in the rewritten formula: `self`, `self_sizes`, `other_dtype`."""
        if self.what in (Save.VALUE, Save.TENSOR, Save.TENSORS):
            return self.name
        return f"{self.name}_{self.what.value}"

    @property
    def is_tensor(self) -> bool:
        """Whether it must be saved with a version and unpacked."""
        return self.what in (Save.TENSOR, Save.TENSORS)


class GradientKind(enum.Enum):
    """How the gradient of the inputs of one key is found."""

    FORMULA = "formula"
    AUTO = "auto"
    NON_DIFFERENTIABLE = "non_differentiable"
    NOT_IMPLEMENTED = "not_implemented"


@dataclass(frozen=True, slots=True)
class Expression:
    """A Python expression over saved values, read and resolved."""

    text: str
    """As written, for documentation."""
    code: str
    """The same with partial values by their local names: `self.sizes()` has become `self_sizes`."""
    saved: tuple[SavedValue, ...]
    """In the order in which the schema names them, results last."""
    operators: tuple[str, ...] = ()
    """Public operators it calls as functions, in order of first use."""
    functions: tuple[str, ...] = ()
    """Functions of runtime/autograd/formulas.py it calls."""
    gradients: tuple[int, ...] = ()
    """Indices of the output gradients it reads; `grad` is 0."""
    uses_grads: bool = False
    """Whether it speaks of the list `grads` rather than of one gradient."""
    uses_input_mask: bool = False
    """Whether it reads `grad_input_mask`."""
    tangents: tuple[str, ...] = ()
    """Inputs whose tangent (`self_t`) a forward-mode formula reads."""
    primals: tuple[str, ...] = ()
    """Inputs whose primal (`self_p`) a forward-mode formula reads."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """One key of an entry: the gradient of one input, or of several at once."""

    inputs: tuple[str, ...]
    """Arguments whose gradients it gives; with several, the formula returns a tuple."""
    kind: GradientKind
    expression: Expression | None = None
    """The formula, where kind is FORMULA."""
    message: str | None = None
    """The name inside `not_implemented("...")`."""
    where: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def saved(self) -> tuple[SavedValue, ...]:
        """What its formula keeps; what `auto` keeps is decided in codegen.formula."""
        return self.expression.saved if self.expression else ()


class TangentKind(enum.Enum):
    """How a forward-mode derivative is found."""

    FORMULA = "formula"
    AUTO_LINEAR = "auto_linear"
    AUTO_ELEMENT_WISE = "auto_element_wise"
    NOT_IMPLEMENTED = "not_implemented"


@dataclass(frozen=True, slots=True)
class Tangent:
    """Forward mode: the tangent of one or several results."""

    results: tuple[str, ...]
    kind: TangentKind
    expression: Expression | None = None
    message: str | None = None
    where: SourceLocation | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derivative:
    """One entry of derivatives.yaml."""

    operator: str
    """Full name of the operator, `mul.Tensor`."""
    node: str
    """Class name of its node, `MulBackward0`: numbered per base name in file order."""
    gradients: tuple[Gradient, ...]
    tangents: tuple[Tangent, ...] = ()
    output_differentiability: tuple[bool, ...] | None = None
    """Per result; None means every result that may be."""
    schema_text: str | None = None
    """The full schema, where `name:` gives one."""
    where: SourceLocation = field(default=SourceLocation("", 0, 0), compare=False, repr=False)
    """The place of the name's text."""
    places: Places | None = field(default=None, compare=False, repr=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Arguments that some key speaks of, in the order of the file."""
        return tuple(name for gradient in self.gradients for name in gradient.inputs)

    @property
    def differentiable_inputs(self) -> tuple[str, ...]:
        """Arguments that may receive a gradient (an error, if it is not implemented)."""
        return tuple(
            name
            for gradient in self.gradients
            if gradient.kind is not GradientKind.NON_DIFFERENTIABLE
            for name in gradient.inputs
        )

    @property
    def is_differentiable(self) -> bool:
        """Whether any input may receive a gradient."""
        return bool(self.differentiable_inputs)

    @property
    def is_auto(self) -> bool:
        """Whether some gradient comes from the pointwise formula."""
        return any(gradient.kind is GradientKind.AUTO for gradient in self.gradients)

    @property
    def saved(self) -> tuple[SavedValue, ...]:
        """What the hand-written formulas keep, each once."""
        return tuple(dict.fromkeys(s for gradient in self.gradients for s in gradient.saved))

    def gradient(self, name: str) -> Gradient | None:
        """Return the key that speaks of argument `name`, or None."""
        return next((g for g in self.gradients if name in g.inputs), None)
