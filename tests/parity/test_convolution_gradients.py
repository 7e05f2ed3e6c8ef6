"""`nn.grad` and pooling with indices against PyTorch: functions of no operator of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(3)
SIZES = (9, 8, 7)


def both(function: str, *arguments: Any, **keywords: Any) -> tuple[Any, Any]:
    """The results of a function of nn.functional in both libraries; arrays become tensors."""
    found = []
    for library in (torch, torchgen_out):
        called = library.nn.functional
        for name in function.split("."):
            called = getattr(called, name)
        given = [library.tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
        found.append(called(*given, **keywords))
    return found[0], found[1]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2}], ids=str
)
def test_gradients_of_convolutions(dims: int, options: dict[str, int]) -> None:
    x = RANDOM.standard_normal((2, 4, *SIZES[:dims]))
    weight = RANDOM.standard_normal((6, 4 // options.get("groups", 1), *[3] * dims))
    convolution = getattr(torch.nn.functional, f"conv{dims}d")
    grad = RANDOM.standard_normal(
        tuple(convolution(torch.tensor(x), torch.tensor(weight), **options).shape)
    )
    for theirs, ours in (
        both(f"grad.conv{dims}d_input", x.shape, weight, grad, **options),
        both(f"grad.conv{dims}d_weight", x, weight.shape, grad, **options),
    ):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pooling_with_indices(dims: int) -> None:
    sizes = (1, 2, *SIZES[:dims])
    x = RANDOM.permutation(np.arange(float(np.prod(sizes)))).reshape(sizes)
    calls = [
        both(f"max_pool{dims}d_with_indices", x, 3, 2, ceil_mode=True),
        both(f"adaptive_max_pool{dims}d_with_indices", x, (3,) * dims),
    ]
    if dims > 1:
        samples = RANDOM.uniform(size=(1, 2, dims))
        name = f"fractional_max_pool{dims}d_with_indices"
        found = []
        for library in (torch, torchgen_out):
            options = {"output_size": (3,) * dims, "_random_samples": library.tensor(samples)}
            pool = getattr(library.nn.functional, name)
            found.append(pool(library.tensor(x), (2,) * dims, **options))
        calls.append((found[0], found[1]))
    for theirs, ours in calls:
        assert len(ours) == 2
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine.numpy(), other.numpy())


@pytest.mark.parametrize("shape", [(12, 7), (7, 12), (2, 9, 8)])
def test_factors_of_low_rank(shape: tuple[int, ...]) -> None:
    """What has a low rank is found exactly: singular values and products, not signs."""
    rank = 3
    matrix = RANDOM.standard_normal((*shape[:-1], rank)) @ RANDOM.standard_normal((rank, shape[-1]))
    for name in ("svd_lowrank", "pca_lowrank"):
        torchgen_out.manual_seed(0)
        U, S, V = getattr(torchgen_out, name)(torchgen_out.tensor(matrix), q=rank + 1)
        centred = matrix - (matrix.mean(-2, keepdims=True) if name == "pca_lowrank" else 0)
        values = np.linalg.svd(centred, compute_uv=False)[..., : rank + 1]
        np.testing.assert_allclose(S.numpy(), values, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose((U * S[..., None, :] @ V.mT).numpy(), centred, atol=1e-10)


def test_parts_of_complex_tensors_are_assigned() -> None:
    for library in (torch, torchgen_out):
        x = library.zeros(3, dtype=library.complex64)
        x.real = library.tensor([1.0, 2.0, 3.0])
        x.imag = library.ones(())
        np.testing.assert_array_equal(x.numpy(), np.array([1 + 1j, 2 + 1j, 3 + 1j]))
        y = library.zeros(2)
        y.real = library.ones(2)
        assert y.tolist() == [1.0, 1.0]
        with pytest.raises(RuntimeError):
            y.imag = library.ones(2)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "kernel", "padding"),
    [((2, 4, 1), (2,), 1), ((2, 4, 1, 3), (2, 3), (1, 0)), ((2, 4, 1, 1, 1), (2, 2, 2), 1)],
)
def test_transposed_convolutions_to_nothing(
    sizes: tuple[int, ...], kernel: tuple[int, ...], padding: Any, groups: int
) -> None:
    """A result without places is empty, and all gradients are zero."""
    found = []
    for library in (torchgen_out, torch):
        leaves = [library.ones(*sizes), library.ones(4, 2, *kernel), library.ones(2 * groups)]
        call = getattr(library, f"conv_transpose{len(kernel)}d")
        result = call(*[leaf.requires_grad_() for leaf in leaves], padding=padding, groups=groups)
        result.sum().backward()
        found.append([tuple(result.shape), *[leaf.grad.tolist() for leaf in leaves]])
        with pytest.raises(RuntimeError):
            call(leaves[0].detach(), library.ones(4, 2, *[0] * len(kernel)))
    assert found[0] == found[1]
