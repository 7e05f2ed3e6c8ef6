"""The functions that one template makes for calls: what they look launches up by, and remember."""

from __future__ import annotations

import math
import traceback

import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch import call_text
from torchgen_out._runtime.dispatch.call_spec import NEW, UPDATE, WRITE, CallSpec, Role
from torchgen_out._runtime.dispatch.launch_cache import LAUNCHES_KEPT, LaunchCache

T = Role.TENSOR


@pytest.mark.parametrize("mode", [NEW, UPDATE, WRITE])
def test_a_form_is_made_once_and_names_what_it_is_given(mode: str) -> None:
    spec = CallSpec((T, T, Role.SCALAR), mode=mode, at_places=True, dense=True, defaults=True)
    maker = call_text.maker_of(spec)
    assert call_text.maker_of(CallSpec(**vars(spec))) is maker
    code = maker.__code__
    assert {"find", "load", "full", "default_c"} <= set(code.co_varnames[: code.co_argcount])


def test_tracebacks_show_the_lines_of_a_form() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    assert "found = find(key, (a, b))" in "".join(traceback.format_exception(caught.value))


def test_launches_are_bounded() -> None:
    launches = LaunchCache(lambda args: args)
    for number in range(LAUNCHES_KEPT + 10):
        assert launches.find((number, [number]), (number,)) == (number,)
    assert 0 < len(launches) <= LAUNCHES_KEPT
    assert launches.find(({},), (1,)) == (1,)  # cannot be looked up


def test_zeros_and_nan_among_what_launches_depend_on() -> None:
    x, mask = torch.ones(3), torch.tensor([True, False, True])
    for value in (0.0, -0.0, 0, math.nan, math.nan, float("nan"), True):
        found = x.masked_fill(mask, value).tolist()
        assert found[1] == 1
        same = math.isnan(found[0]) if value != value else found[0] == value
        assert same and math.copysign(1, found[0]) == math.copysign(1, value)


def test_what_is_resized_is_not_remembered() -> None:
    x, y = torch.ones(5), torch.arange(5.0)
    for _ in range(2):
        assert torch.add(x, y, out=torch.empty(0)).tolist() == [1, 2, 3, 4, 5]
        assert torch.add(x, y, out=x[:0].clone()).shape == (5,)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_converted_operands_have_launches(dtype: torch.dtype) -> None:
    """Operands and results of 16 bits, views of them, and operands of two dtypes."""
    x = torch.arange(12.0).reshape(3, 4).to(dtype)
    for each in (x, x.t(), x[:, 1:3], x[1:]):
        for _ in range(2):
            wide = each.float()
            assert each.softmax(0).equal(wide.softmax(0).to(dtype))
            assert (each @ each.t()).equal((wide @ wide.t()).to(dtype))
            assert torch.cat([each, wide]).equal(torch.cat([wide, wide]))


def test_lists_of_any_length() -> None:
    parts = [torch.full((1,), float(i)) for i in range(7)]
    for count in (1, 2, 5, 7):
        assert torch.cat(parts[:count]).tolist() == list(range(count))
    x = torch.arange(6.0).reshape(2, 3)
    assert x.flip([0, 1]).tolist() == x.flip((0, 1)).tolist() == [[5, 4, 3], [2, 1, 0]]
