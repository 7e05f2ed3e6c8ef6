"""Random programs of views, in-place writes and switches, on PyTorch and here: same gradients.

A program is a list of steps drawn from a seed; each step names its operands by number, so that
both libraries run the same. Where PyTorch refuses a step or backward, so must we.
"""

import random

import numpy as np
import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")

SHAPES = [(3, 4), (4,), (3, 1), ()]


def draw(seed, length):
    """A program: (step, numbers) pairs."""
    generator = random.Random(seed)
    steps = [
        "mul", "add", "exp", "sin", "sum", "select", "slice", "flat", "transpose", "expand",
        "mul_", "add_", "exp_", "copy_", "fill_", "set", "zero_", "detach", "clone", "split",
        "no_grad_write", "no_grad_view", "max", "requires_grad_", "unsqueeze", "retain", "data",
    ]  # fmt: skip
    return [
        (generator.choice(steps), [generator.random() for _ in range(3)]) for _ in range(length)
    ]


def pick(tensors, number):
    return tensors[int(number * len(tensors))]


def step(torch, name, numbers, tensors):
    """Run one step; return the new tensor, or None."""
    x, y = pick(tensors, numbers[0]), pick(tensors, numbers[1])
    place = numbers[2]
    if name.endswith("_") or name == "set":
        if any(stride == 0 for stride in x.stride()):
            return None  # elements that share memory: not autograd's matter
        if name != "requires_grad_":
            y = y * 1
    if name in ("mul", "add"):
        return getattr(x, name)(y)
    if name in ("exp", "sin", "sum", "clone", "detach"):
        return getattr(x * 0.5 if name == "exp" else x, name)()
    if name in ("mul_", "add_", "copy_"):
        return getattr(x, name)(y)
    if name == "exp_":
        return x.mul_(0.5).exp_()
    if name == "fill_":
        return x.fill_(place)
    if name == "zero_":
        return x.zero_()
    if name == "flat":
        return x.reshape(-1) if x.is_contiguous() else None
    if name == "unsqueeze":
        return x.unsqueeze(0)
    if name == "retain":
        x.retain_grad()
        return None
    if name == "data":
        return x.data
    if name == "requires_grad_":
        return x.requires_grad_() if x._is_view() and x.requires_grad else x.detach().clone()
    if name == "no_grad_write":
        with torch.no_grad():
            x.mul_(1.5)
        return None
    if name == "no_grad_view":
        with torch.no_grad():
            return x[...] if x.requires_grad else None
    if x.ndim == 0:
        return None
    row = int(place * x.shape[0])
    if name == "select":
        return x[row]
    if name == "slice":
        return x[row:]
    if name == "set":
        x[row] = y
        return None
    if name == "transpose":
        return x.transpose(0, -1)
    if name == "expand":
        return x.unsqueeze(0).expand(2, *x.shape)
    if name == "split":
        return x.split(1)[row]
    return x.max(0)[0]


def run(torch, program, usable=None):
    """What becomes of a program: what each step gave or was refused for, values, gradients.

    usable: which tensors may be used at the end; PyTorch's run finds out.
    """
    generator = np.random.default_rng(0)
    tensors = []
    for shape in SHAPES:
        values = generator.uniform(0.5, 1.5, shape)
        tensors.append(torch.tensor(values, dtype=torch.float64, requires_grad=len(tensors) < 3))
    leaves = list(tensors)
    tensors[0] = tensors[0] * 1
    story = []
    for name, numbers in program:
        try:
            made = step(torch, name, numbers, tensors)
        except RuntimeError as error:
            story.append((name, phrase(error)))
            continue
        if made is not None:
            tensors.append(made)
        story.append((name, None if made is None else flags(made)))
    if usable is None:
        usable = [flags(x) is not None for x in tensors]
    story += [flags(x) for x in tensors]
    values = [x.detach().numpy().copy() for x in tensors]
    used = [x for x, is_usable in zip(tensors, usable, strict=True) if is_usable]
    try:
        sum(x.sum() for x in used).backward()
    except RuntimeError as error:
        story.append(("backward", phrase(error)))
    grads = [x.grad for x in leaves]
    grads += [x.grad for x in used if x.is_leaf or x.retains_grad]
    return story, values, [None if grad is None else grad.numpy() for grad in grads], usable


def is_same(mine, other):
    """Whether a step went as in PyTorch.

    There, looking at a view that was cut off fails; and which of two reasons to refuse a step, or
    backward, is named first is no matter.
    """
    if other is None or mine == other:
        return True
    if mine[0] != other[0]:
        return False
    return mine[0] == "backward" or other[1] is None or "a shape" in (mine[1], other[1])


def flags(x):
    """What is known of a tensor; None where asking fails, as for views that are cut off."""
    try:
        return x.requires_grad, x.is_leaf, x._version, x._is_view(), x.grad_fn is not None
    except RuntimeError:
        return None


def phrase(error):
    """The part of a message that both share."""
    for text in (
        "modified by an inplace operation",
        "a leaf Variable that requires grad",
        "a view of a leaf Variable that requires grad",
        "function that returns multiple views",
        "created in no_grad mode",
        "single memory location",
        "does not require grad",
        "can't retain_grad",
    ):
        if text in str(error):
            return text
    return "a shape"


@pytest.mark.parametrize("seed", range(400))
def test_program(seed):
    program = draw(seed, 4 + seed % 14)
    expected_story, expected_values, expected_grads, usable = run(theirs, program)
    story, values, grads, _ = run(ours, program, usable)
    for mine, other in zip(story, expected_story, strict=True):
        assert is_same(mine, other), (mine, other)
    for mine, other in zip(values, expected_values, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10)
    for mine, other in zip(grads, expected_grads, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)
