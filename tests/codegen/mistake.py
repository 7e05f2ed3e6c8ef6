"""A mistake: a change of the good pair of files, and what must be said.

`‸` in the new text stands before the character under which the caret must appear.
"""

from dataclasses import dataclass

MUL = "mul.Tensor(Tensor self, Tensor|Scalar other) -> Tensor"
SOFTPLUS = "softplus(Tensor self, Scalar beta=1, Scalar threshold=20)"
TRANSPOSE = "- func: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"
"""Places in the good pair that several mistakes change."""


@dataclass(frozen=True)
class Mistake:
    """Replace `old` by `new` (both unique places); expect `code` and `word` in the message."""

    name: str
    old: str
    new: str
    code: str
    word: str
    file: str = "native_functions.yaml"


def wrong(name: str, old: str, new: str, code: str, word: str) -> Mistake:
    """Describe a mistake in native_functions.yaml."""
    return Mistake(name, old, new, code, word)


def wrong_derivative(name: str, old: str, new: str, code: str, word: str) -> Mistake:
    """Describe a mistake in derivatives.yaml."""
    return Mistake(name, old, new, code, word, "derivatives.yaml")
