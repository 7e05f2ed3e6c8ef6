"""Places that may be outside: an error, or the number, but never memory of something else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.research_package import generated
from tests.ruff import accept
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck
from torchgen_out._runtime.kernels.common import places


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("places")
    with generated(folder, "places_ops", Path(__file__).parent, "places") as package:
        yield package


def numbers(*values: float) -> Any:
    return torch.tensor(list(values), dtype=torch.float32)


ONE_TO_FOUR = numbers(1, 2, 3, 4)
NINE = numbers(9, 9)
NONE = numbers()

REFUSED = [
    ("squares", (ONE_TO_FOUR,), IndexError, "squares: index out of range in self"),
    ("ahead", (ONE_TO_FOUR, 2), IndexError, "ahead: index out of range in self"),
    ("ahead", (ONE_TO_FOUR, -1), IndexError, "ahead: index out of range in self"),
    ("between", (ONE_TO_FOUR, 0), IndexError, r"twice\[2 \* i\] reaches 6 in a dim of size 4"),
    ("between", (numbers(1), 2), IndexError, r"twice\[i \+ by\] reaches 2 in a dim of size 1"),
    (
        "indirect",
        (ONE_TO_FOUR, torch.tensor([0, 1]), 1),
        IndexError,
        r"at\[.*\] reaches 2 in a dim of size 2",
    ),
    ("ruled", (NONE, 3), IndexError, r"ruled: wrap\(i\) is a place in a dim without elements"),
    ("divided", (ONE_TO_FOUR, 0), RuntimeError, r"divided: \(i // by\) divides by 0"),
    ("begun", (ONE_TO_FOUR, NINE, torch.tensor([-5, 0])), IndexError, "begun: index out of range"),
    ("begun", (ONE_TO_FOUR, NINE, torch.tensor([3, 0])), IndexError, "begun: index out of range"),
    *(
        (
            "told_twice",
            (ONE_TO_FOUR, torch.tensor([3, 0]), torch.tensor([far, 1, 0, 0]), 4),
            IndexError,
            "told_twice: index out of range",
        )
        for far in (2, -1, 1 << 40)
    ),
    (
        "told_twice",
        (ONE_TO_FOUR, torch.tensor([3, 4]), torch.tensor([0, 1, 0, 0]), 4),
        IndexError,
        "told_twice: index out of range",
    ),
    ("every", (ONE_TO_FOUR, 0), RuntimeError, r"every: \(size\(x, -1\) // step\) divides by 0"),
]

ACCEPTED = [
    ("squares", (numbers(7),), [7]),
    ("ahead", (ONE_TO_FOUR, 1), [3, 7, 12, 13]),
    ("behind", (ONE_TO_FOUR, numbers(1, 10, 100)), [1, 12, 123, 234]),
    ("between", (numbers(3), 0), [12]),
    ("indirect", (ONE_TO_FOUR, torch.tensor([2, 1]), 0), [3, 4]),
    ("ruled", (NONE, 0), []),
    ("ruled", (numbers(1, 2), 5), [3, 6, 4, 6, 4]),
    ("divided", (NONE, 0), []),
    ("divided", (ONE_TO_FOUR, -1), [1, 0, 0, 0]),
    ("every", (ONE_TO_FOUR, 2), [1, 3]),
    ("repeated", (numbers(1, 2), ONE_TO_FOUR, 2, 2), [1, 2, 3, 4, 2, 4, 6, 8]),
    ("repeated", (numbers(1, 2), NINE, 1, 2), [9, 9, 18, 18]),
    ("shorter", (ONE_TO_FOUR, ONE_TO_FOUR), [1, 4, 9, 16]),
    ("begun", (ONE_TO_FOUR, NINE, torch.tensor([-1, 2])), [91, 22, 33 + 18, 94 + 18]),
    ("folded_from", (numbers(2, 3, 4).reshape(1, 3), numbers(5)), [14 * 120 + 2 + 5]),
    ("counted", (ONE_TO_FOUR, torch.tensor([1, 0, 7, 0])), [0, 6, 0, 1]),
]


@pytest.mark.parametrize(("name", "arguments", "error", "said"), REFUSED)
def test_what_leaves_a_tensor_is_refused(
    ops: Any, name: str, arguments: tuple[Any, ...], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        getattr(ops, name)(*arguments)


@pytest.mark.parametrize(("name", "arguments", "expected"), ACCEPTED)
def test_what_stays_inside_is_computed(
    ops: Any, name: str, arguments: tuple[Any, ...], expected: list[float]
) -> None:
    found = getattr(ops, name)(*arguments)
    np.testing.assert_array_equal(found.numpy(), np.array(expected, np.float32))


def test_places_that_elements_tell_by_way_of_others(ops: Any) -> None:
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    at, of = torch.tensor([3, 0]), torch.tensor([1, 1, 0, 0])
    read, sums = ops.told_twice(x, at, of, 4)
    assert torch.equal(read, x[at[of]])
    assert torch.equal(sums, torch.stack([2 * x[1], 0 * x[0], 0 * x[0], 2 * x[0]]))
    assert gradcheck(lambda x: ops.told_twice(x, at, of, 4), (x,))
    at = torch.tensor([3, 0, 1])
    torch.testing.assert_close(ops.next_ones(x, at), x[[0, 1, 3]] + 10 * x[[0, 3, 0]])
    assert gradcheck(lambda x: ops.next_ones(x, at), (x,))


def test_a_condition_that_brings_a_place_inside_has_gradients(ops: Any) -> None:
    x, w = (torch.randn(n, dtype=torch.float64, requires_grad=True) for n in (4, 3))
    assert gradcheck(ops.behind, (x, w))
    assert gradgradcheck(ops.behind, (x, w))


@pytest.mark.parametrize("step", [-2, -1, 0, 1, 2, 7])
def test_gradients_where_an_argument_is_the_step(ops: Any, step: int) -> None:
    x, w = (torch.randn(n, dtype=torch.float64, requires_grad=True) for n in (6, 3))
    assert gradcheck(ops.dilated, (x, w, step))
    assert gradgradcheck(ops.dilated, (x, w, step))
    if step > 0:
        assert gradcheck(ops.strided_max, (x, 3, step))


@pytest.mark.parametrize(("size", "count"), [(3, 5), (5, 3), (1, 4), (4, 1), (4, 4), (2, 0)])
def test_windows_around_places_that_divide(ops: Any, size: int, count: int) -> None:
    x = torch.randn(2, size, dtype=torch.float64, requires_grad=True)
    found = ops.spread(x, count)
    wanted = np.zeros((2, count))
    for i in range(size):
        window = slice(i * count // size, -(-(i + 1) * count // size))
        wanted[:, window] += x.detach().numpy()[:, i : i + 1] / max(wanted[0, window].size, 1)
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-14)
    if count:
        assert gradcheck(ops.spread, (x, count))
        assert gradgradcheck(ops.spread, (x, count))


def test_a_scatter_that_begins_with_a_tensor_has_gradients(ops: Any) -> None:
    x, y = (torch.randn(n, dtype=torch.float64, requires_grad=True) for n in (4, 3))
    at = torch.tensor([0, 2, 0])
    assert gradcheck(ops.begun, (x, y, at))
    assert gradgradcheck(ops.begun, (x, y, at))


WHOLE = torch.arange(24).reshape(2, 4, 3)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "bfloat16", "float64", "complex64"])
def test_what_is_written_last_stays_whatever_its_dtype(ops: Any, dtype: str) -> None:
    kind = getattr(torch, dtype)
    at = torch.tensor([[3, 0, 2], [0, 0, 2]]).expand(2, 2, 3)
    x, y = WHOLE.to(kind), (50 + WHOLE[:, :2]).to(kind)
    expected = WHOLE.to(torch.int64).clone()
    for k in range(2):
        for j in range(3):
            expected[:, at[0, k, j], j] = (50 + WHOLE)[:, k, j]
    expected[:, :2, 0] = 1
    for operands in ((x, y), (x.permute(1, 2, 0).contiguous().permute(2, 0, 1), y.flip(2).flip(2))):
        assert torch.equal(ops.latest(*operands, at, 1.0), expected.to(kind))


@pytest.mark.parametrize("k", [-7, -1, 0, 2, 5])
def test_places_that_go_round(ops: Any, k: int) -> None:
    for x in (WHOLE, WHOLE.transpose(1, 2), WHOLE[:0], WHOLE.to(torch.float16)[..., :1]):
        assert torch.equal(ops.turned(x, k), x.roll((k, -k), (1, 2)))


@pytest.mark.parametrize("widths", [(0, 0), (1, 2), (-1, 3), (6, -2), (-3, 1), (-2, -2), (5, 9)])
def test_loops_are_cut_where_elements_are_outside(ops: Any, widths: tuple[int, int]) -> None:
    left, right = widths
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    count = max(left + 4 + right, 0)
    for top in (-1, 0, 1, 3):
        wide = np.full((4, count), 7, np.float32)
        for j, i in np.ndindex(wide.shape):
            if 0 <= j - top < 2 and 0 <= i - left < 4:
                wide[j, i] = x[j - top, i - left]
        for dtype in ("float32", "int64", "bfloat16", "complex64"):
            kind = getattr(torch, dtype)
            found = ops.surrounded(torch.tensor(x).to(kind), top, left, right, 7)
            np.testing.assert_array_equal(torch.real(found).to(torch.float32).numpy(), wide)
    i = np.arange(count)
    mirror, near = 3 - abs((i - left) % 6 - 3), np.clip(left - i, 0, 3)
    behind = np.where(i < 4, x[:, np.clip(3 - i, 0, 3)], 2)
    expected = x[:, mirror] + 10 * x[:, near] + 100 * behind
    found = ops.mirrored(torch.tensor(x), left, right)
    np.testing.assert_array_equal(found.numpy(), expected)
    if widths in ((1, 2), (6, -2)):
        wanted = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        assert gradcheck(ops.mirrored, (wanted, left, right))
        assert gradgradcheck(ops.mirrored, (wanted, left, right))


def test_formatters_leave_the_package_as_it_is(ops: Any) -> None:
    accept(ops)


def test_places_are_reflected_wherever_they_lie() -> None:
    """To and fro between the border elements, as often as it takes."""
    for size in (1, 2, 3, 7):
        way = [*range(size), *range(size - 2, 0, -1)]
        for place in range(-4 * size, 4 * size):
            assert places.reflected(place, size) == way[place % len(way)]


def test_places_go_around_wherever_they_lie() -> None:
    for size in (1, 2, 3, 7):
        for place in range(-4 * size, 4 * size):
            assert places.around(place, size) == place % size
