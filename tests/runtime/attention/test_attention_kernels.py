"""Attention against its definition in float64: layouts, masks, sizes, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn.functional as F
from torchgen_out._runtime.kernels.cpu.attention import attention

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
SIZES = [
    (1, 1, 1, 1, 1, 1),
    (2, 3, 5, 2, 4, 3),
    (1, 130, 77, 2, 33, 65),
    (2, 64, 64, 3, 32, 32),
    (1, 26, 700, 1, 8, 5),
]
"""Batch, queries, keys, heads, size of a key, size of a value."""


class Case(NamedTuple):
    """Inputs (batch, time, heads, size) and the gradient of the output."""

    query: Any
    key: Any
    value: Any
    mask: Any
    grad: Any
    scale: float
    causal: bool


def turned(array: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """The same numbers, in memory in another order of dims."""
    back = np.argsort(order)
    return np.ascontiguousarray(array.transpose(order)).transpose(back)


def draw(sizes: tuple[int, ...], dtype: str, masked: bool = False, causal: bool = False) -> Case:
    """Numbers around 0, each input laid out in its own way; a mask with a row that sees nothing."""
    batch, length, columns, heads, size, width = sizes
    rng = np.random.default_rng(0)
    shapes = [(batch, length, heads, size), (batch, columns, heads, size)]
    shapes += [(batch, columns, heads, width), (batch, length, heads, width)]
    query, key, value, grad = (rng.standard_normal(each).astype(dtype) for each in shapes)
    mask = None
    if masked:
        mask = rng.standard_normal((batch, 1, length, columns)).astype(dtype)
        mask[rng.random(mask.shape) < 0.3] = -np.inf
        mask[0, 0, 0] = -np.inf
    key, value = turned(key, (0, 2, 1, 3)), turned(value, (3, 0, 2, 1))
    return Case(query[::-1, ::-1], key, value, mask, grad, 0.3, causal)


def expected(case: Case) -> list[np.ndarray]:
    """Output, logarithms of sums, and the gradients of query, key and value."""
    query, key, value, grad = (
        x.astype(np.float64).transpose(0, 2, 1, 3)
        for x in (case.query, case.key, case.value, case.grad)
    )
    scores = query @ key.swapaxes(2, 3) * case.scale
    if case.causal:
        scores[..., ~np.tri(*scores.shape[2:], dtype=bool)] = -np.inf
    if case.mask is not None:
        scores = scores + case.mask
    top = np.maximum(scores.max(-1, keepdims=True, initial=-np.inf), -1e300)
    powers = np.exp(scores - top)
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    with np.errstate(divide="ignore"):
        logarithms = np.where(total == 0, np.inf, top + np.log(total))[..., 0]
    slopes = grad @ value.swapaxes(2, 3)
    slopes = weights * (slopes - (weights * slopes).sum(-1, keepdims=True)) * case.scale
    results = weights @ value, slopes @ key, slopes.swapaxes(2, 3) @ query
    results += (weights.swapaxes(2, 3) @ grad,)
    output, *grads = (x.transpose(0, 2, 1, 3) for x in results)
    return [output, logarithms, *grads]


def computed(case: Case) -> list[np.ndarray]:
    """The same by the kernels."""
    batch, length, heads, _ = case.query.shape
    output = np.full((batch, length, heads, case.value.shape[3]), 7, case.query.dtype)
    logarithms = np.full((batch, heads, length), 7, case.query.dtype)
    inputs, rest = case[:3], (case.scale, case.causal)
    attention.attention(output, logarithms, *inputs, case.mask, *rest)
    grads = [np.full(x.shape, 7, x.dtype) for x in inputs]
    attention.attention_backward(*grads, case.grad, *inputs, case.mask, logarithms, *rest)
    return [output, logarithms, *grads]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("masked, causal", [(False, False), (True, False), (False, True)])
def test_values_and_gradients(
    sizes: tuple[int, ...], dtype: str, masked: bool, causal: bool
) -> None:
    case = draw(sizes, dtype, masked, causal)
    for result, wanted in zip(computed(case), expected(case), strict=True):
        tolerance = TOLERANCE[dtype]
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("length", [1, 2, attention.FEW_QUERIES + 1])
@pytest.mark.parametrize("masked, causal", [(False, False), (True, False), (False, True)])
def test_few_queries_read_keys_and_values_where_they_lie(
    length: int, dtype: str, masked: bool, causal: bool
) -> None:
    case = draw((2, length, 77, 3, 33, 18), dtype, masked, causal)
    case = case._replace(key=turned(case.key, (2, 0, 1, 3)), value=turned(case.value, (0, 1, 2, 3)))
    assert case.key.strides[3] == case.value.strides[3] == case.key.itemsize
    for result, wanted in zip(computed(case), expected(case), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize(
    "sizes", [(0, 2, 2, 2, 2, 2), (1, 0, 3, 1, 2, 2), (1, 3, 0, 2, 2, 2), (1, 2, 3, 1, 0, 2)]
)
def test_sizes_of_zero(sizes: tuple[int, ...]) -> None:
    case = draw(sizes, "float32")
    for result, wanted in zip(computed(case), expected(case), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-5)


def test_what_is_not_seen_may_be_anything() -> None:
    """Scores that are not finite reach the rows that see them, and no other."""
    case = draw((1, 6, 6, 1, 4, 4), "float32", causal=True)
    wanted = computed(case)[0]
    case.key[0, 3] = np.nan
    result = computed(case)[0]
    np.testing.assert_array_equal(result[0, :3], wanted[0, :3])
    assert np.isnan(result[0, 3:]).all()


def test_large_scores_do_not_overflow() -> None:
    case = draw((1, 5, 7, 1, 4, 4), "float32")._replace(scale=1e4)
    for result, wanted in zip(computed(case)[:2], expected(case)[:2], strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-3)


def test_equal_calls_give_equal_bits_on_any_number_of_threads() -> None:
    case = draw((3, 150, 90, 2, 40, 24), "float32", causal=True)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        wanted = computed(case)
        torch.set_num_threads(2)
        with ThreadPoolExecutor(3) as pool:
            runs = [computed(case), *pool.map(computed, [case] * 3)]
    finally:
        torch.set_num_threads(threads)
    for run in runs:
        for result, reference in zip(run, wanted, strict=True):
            np.testing.assert_array_equal(result, reference)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_keep_the_sums_in_float32(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    query, key, value = (torch.from_numpy(rng.random((2, 2, 9, 8), np.float32)) for _ in range(3))
    inputs = [x.to(dtype).requires_grad_() for x in (query, key, value)]
    wide = [x.detach().float().requires_grad_() for x in inputs]
    for each in (inputs, wide):
        F.scaled_dot_product_attention(*each).float().square().sum().backward()
    tolerance = torch.finfo(dtype).eps * 2
    for x, reference in zip(inputs, wide, strict=True):
        assert x.grad.dtype is dtype
        assert torch.allclose(x.grad.float(), reference.grad, rtol=tolerance, atol=tolerance)
