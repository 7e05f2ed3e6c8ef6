"""Derivatives: one record per entry of derivatives.yaml."""

from __future__ import annotations

import enum
from dataclasses import field

from ..errors import SourceLocation
from ..record import record
from .expression import Expression, SavedValue
from .operator import Places
from .schema import Schema


class GradientKind(enum.Enum):
    """How the gradient of the inputs of one key is found."""

    FORMULA = "formula"
    AUTO = "auto"
    NON_DIFFERENTIABLE = "non_differentiable"
    REFUSED = "refused"
    NOT_IMPLEMENTED = "not_implemented"


WITHOUT = (GradientKind.NON_DIFFERENTIABLE, GradientKind.REFUSED)
"""Inputs of these kinds get no gradient."""


@record
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


@record
class Tangent:
    """Forward mode: the tangent of one or several results."""

    results: tuple[str, ...]
    kind: TangentKind
    expression: Expression | None = None
    message: str | None = None
    where: SourceLocation | None = field(default=None, compare=False, repr=False)


class SecondGradients(enum.Enum):
    """What a second backward finds of a gradient that is constant in an operand."""

    ZERO = "zero"
    NONE = "none"


@record
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
    sees_missing: bool = False
    """Whether `grads[i]` is None for a result that nobody used, and not zeros."""
    second_gradients: SecondGradients | None = None
    """Of gradients that do not follow from the operands; None if they are not recorded."""
    saves_operands: bool = False
    """Whether the kernels of `auto` read the operands only, though the result would do."""
    schema: Schema | None = None
    """The whole schema, where `name:` gives one; check/ compares it with the operator's."""
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
            if gradient.kind not in WITHOUT
            for name in gradient.inputs
        )

    @property
    def refused_inputs(self) -> tuple[str, ...]:
        """Arguments that must not require grad."""
        refused = (g for g in self.gradients if g.kind is GradientKind.REFUSED)
        return tuple(name for gradient in refused for name in gradient.inputs)

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
