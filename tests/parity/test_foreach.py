"""Operators over lists of tensors against PyTorch: every name, with all that may be an operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out
from torchgen_out.functions import foreach

torch = pytest.importorskip("torch")

NAMES = sorted(name for name in dir(torch) if name.startswith("_foreach_"))
RANDOM = np.random.default_rng(5)
ARRAYS = [
    [RANDOM.uniform(0.1, 0.9, shape).astype(np.float32) for shape in ((2, 2), (3, 3), (1, 1))]
    for _ in range(3)
]
COUNT = len(ARRAYS[0])
SELF_ONLY = ("clone", "zero_", "max", "norm", "powsum")
WITH_NUMBERS = ("add", "sub", "mul", "div", "pow", "clamp_max", "clamp_min", "maximum", "minimum")

Operands = Callable[[Any], tuple[Any, ...]]


def lists(library: Any, count: int) -> list[list[Any]]:
    """Equal lists of tensors of one library."""
    return [[library.tensor(array) for array in arrays] for arrays in ARRAYS[:count]]


FORMS: dict[str, Operands] = {
    "one list": lambda library: tuple(lists(library, 1)),
    "two lists": lambda library: tuple(lists(library, 2)),
    "three lists": lambda library: tuple(lists(library, 3)),
    "number": lambda library: (*lists(library, 1), 0.5),
    "numbers": lambda library: (*lists(library, 1), [0.5, 2.0, 3.0]),
    "0-d tensor": lambda library: (*lists(library, 1), library.tensor(0.5)),
    "number, list": lambda library: (0.5, *lists(library, 1)),
    "two lists, number": lambda library: (*lists(library, 2), 0.5),
    "two lists, numbers": lambda library: (*lists(library, 2), [0.5, 2.0, 3.0]),
    "three lists, number": lambda library: (*lists(library, 3), 0.5),
    "three lists, numbers": lambda library: (*lists(library, 3), [0.5, 2.0, 3.0]),
    "three lists, vector": lambda library: (*lists(library, 3), library.tensor([0.5, 2.0, 3.0])),
    "empty": lambda library: ([],),
    "two empty": lambda library: ([], []),
    "shorter": lambda library: (lists(library, 1)[0], lists(library, 1)[0][1:]),
    "fewer numbers": lambda library: (*lists(library, 1), [0.5]),
    "tensor": lambda library: (library.tensor([0.5]),),
    "tensors and vector": lambda library: (*lists(library, 1), library.tensor([0.5, 1.0])),
    "shorter vector": lambda library: (*lists(library, 3), library.tensor([0.5])),
    "word": lambda library: (*lists(library, 1), "half"),
    "list of words": lambda library: (["half"],),
}


def outcome(library: Any, name: str, form: str) -> tuple[str, Any]:
    """What a call gives and leaves in its first operand, or the class of its error."""
    operands = FORMS[form](library)
    try:
        result = getattr(library, name)(*operands)
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, None
    if name.endswith("_"):
        assert result is operands[0]
    else:
        assert isinstance(result, tuple)
    written = operands[0] if isinstance(operands[0], list) else ()
    return "", [each.numpy() for each in (*result, *written)]


@pytest.mark.parametrize("name", NAMES)
def test_all_operands(name: str) -> None:
    """Each kind of operands gives PyTorch's results, or is refused by both."""
    accepted = 0
    for form in FORMS:
        theirs, ours = outcome(torch, name, form), outcome(torchgen_out, name, form)
        if not theirs[0]:
            accepted += 1
            assert ours[0] == "", form
            for mine, other in zip(ours[1], theirs[1], strict=True):
                assert mine.dtype == other.dtype and mine.shape == other.shape, form
                np.testing.assert_allclose(mine, other, rtol=2e-6, atol=1e-7, err_msg=form)
        elif form in ("empty", "two empty", "shorter", "fewer numbers", "tensor", "shorter vector"):
            assert ours[0], f"PyTorch refuses {form}"
    assert accepted, "some operands are right"


def test_names() -> None:
    """Every function of PyTorch's is there, and no other."""
    assert sorted(foreach.__all__) == NAMES


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("_foreach_exp", "empty"),
        ("_foreach_exp", "tensor"),
        ("_foreach_add", "shorter"),
        ("_foreach_add", "tensors and vector"),
        ("_foreach_addcdiv", "shorter vector"),
    ],
)
def test_messages(name: str, form: str) -> None:
    """What is said of wrong lists is what PyTorch says."""
    messages = []
    for library in (torch, torchgen_out):
        with pytest.raises((RuntimeError, TypeError)) as caught:
            getattr(library, name)(*FORMS[form](library))
        messages.append(str(caught.value).replace("'input'", "'self'"))
    assert messages[0] == messages[1]


def test_nothing_is_written_before_an_error() -> None:
    for form in ("shorter", "fewer numbers", "word"):
        operands = FORMS[form](torchgen_out)
        with pytest.raises((RuntimeError, TypeError)):
            torchgen_out._foreach_mul_(*operands)
        for tensor, array in zip(operands[0], ARRAYS[0], strict=True):
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_keywords() -> None:
    """Numbers by name, and dtypes."""
    for library in (torch, torchgen_out):
        a, b, c = lists(library, 3)
        library._foreach_addcdiv_(a, b, c, value=-0.5)
        library._foreach_add_(a, b, alpha=2)
        (norm, *_) = library._foreach_norm(a, ord=1, dtype=library.float64)
        assert str(norm.dtype) == "torch.float64"
        expected = np.abs(ARRAYS[0][0] - 0.5 * ARRAYS[1][0] / ARRAYS[2][0] + 2 * ARRAYS[1][0])
        assert abs(float(norm) - float(expected.sum())) < 1e-5


def test_gradients() -> None:
    """Results belong to the graph."""
    a, b = lists(torchgen_out, 2)
    for each in a:
        each.requires_grad_()
    sum(each.sum() for each in torchgen_out._foreach_mul(a, b)).backward()
    for each, factor in zip(a, b, strict=True):
        np.testing.assert_array_equal(each.grad.numpy(), factor.numpy())


WORDS: list[tuple[str, dict[str, Any]]] = [
    ("add", {"scalar": 2}),
    ("sub", {"scalars": [1, 2, 3]}),
    ("maximum", {"scalars": [1, 2, 3]}),
    ("minimum", {"other": 1}),
    ("clamp_max", {"scalar": 0.5}),
    ("addcmul", {"tensor1": 1, "tensor2": 2, "scalars": [1, 2, 3]}),
    ("lerp", {"tensors1": 1, "weights": 2}),
    ("lerp", {"tensors1": 1}),
    ("pow", {"scalar": 2}),
    ("add", {}),
]
LISTED = ("other", "tensor1", "tensor2", "tensors1", "weights")


@pytest.mark.parametrize("call", WORDS, ids=str)
def test_words(call: tuple[str, dict[str, Any]]) -> None:
    """Operands by PyTorch's names, which differ from overload to overload."""
    name, given = call
    found = []
    for library in (torch, torchgen_out):
        first, *others = lists(library, 3)
        words = {w: others[v - 1] if w in LISTED else v for w, v in given.items()}
        try:
            results = getattr(library, f"_foreach_{name}")(self=first, **words)
            found.append([each.tolist() for each in results])
        except TypeError:
            found.append("TypeError")
    assert found[0] == found[1]
