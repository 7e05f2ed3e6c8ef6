"""In-place writes: version counters, histories of views and bases, and what is refused.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import pytest

from tests.runtime.leaves import leaf


def test_versions(torch):
    x = torch.zeros(3)
    view, cut, data = x[1:], x.detach(), x.data
    assert x._version == 0
    x.add_(1)
    view.mul_(2)
    cut.mul_(2)
    data.mul_(2)
    assert x._version == view._version == cut._version == 3
    assert x.tolist() == [4.0, 8.0, 8.0]
    x[0] = 5
    x.zero_()
    assert x._version == 5


def test_writing_to_a_saved_tensor_is_found(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        z.sum().backward()
    message = str(raised.value)
    assert "[2]" in message and "is at version 1; " in message and "version 0 instead" in message
    assert "set_detect_anomaly" in message


def test_writing_to_a_saved_result_is_found(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    "function",
    [
        lambda torch, x: x / (x + 1),
        lambda torch, x: 2 / x,
        lambda torch, x: (x * 1).div_(x + 1),
        lambda torch, x: torch.nn.functional.normalize(x, dim=0),
        lambda torch, x: (x / 4).erfinv(),
    ],
)
def test_writing_to_a_result_of_which_the_operands_are_saved(torch, function):
    x = leaf(torch, [1.0, 2.0])
    (expected,) = torch.autograd.grad(function(torch, x).sum(), x)
    y = function(torch, x)
    y += 1
    y.sum().backward()
    assert x.grad.tolist() == expected.tolist()


def test_writing_without_recording_is_found_too(torch):
    x = leaf(torch, [1.0, 2.0])
    y = (x * x).sum()
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_writing_to_what_was_not_saved_is_fine(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x + 1
    z = y + 2
    y.add_(5)
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_leaves_are_not_written_to(torch):
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0].add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0] = 1
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0] and x.is_leaf
    plain = torch.zeros(2, dtype=torch.float64)
    plain.add_(x)
    assert plain.requires_grad and not plain.is_leaf


def test_history_of_a_written_tensor(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 2
    before = y.grad_fn
    y.mul_(3)
    assert y.grad_fn is not before
    assert y.grad_fn.next_functions[0][0] is before
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_both_operands_of_an_inplace_product(torch):
    x, y = leaf(torch, [2.0, 3.0]), leaf(torch, [5.0, 7.0])
    z = x * 1
    z.mul_(y)
    z.sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    assert y.grad.tolist() == [2.0, 3.0]


COMPOSITES_IN_PLACE = {
    "nan_to_num": lambda call, other: call(),
    "logit": lambda call, other: call(),
    "polygamma": lambda call, other: call(1),
    "mvlgamma": lambda call, other: call(1),
    "renorm": lambda call, other: call(2, 0, 0.1),
    "round": lambda call, other: call(decimals=1),
    "ldexp": lambda call, other: call(other),
}
"""Calls of composites that have an in-place form, by the name of their method."""


@pytest.mark.parametrize("is_view", [False, True])
@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("name", COMPOSITES_IN_PLACE)
def test_composites_in_place(torch, name, is_constant, is_view):
    gradients = []
    for form in (f"{name}_", name):
        x = torch.tensor([[0.2, 0.3], [0.4, 0.7]], dtype=torch.float64)
        other = x.clone().requires_grad_()
        x.requires_grad_(not is_constant)
        y = torch.stack([x, x])[1] if is_view else x * 1
        y = COMPOSITES_IN_PLACE[name](getattr(y, form), other)
        (y.sum() + x.sum() + other.sum()).backward()
        gradients.append([None if each.grad is None else each.grad.tolist() for each in (x, other)])
    assert gradients[0] == gradients[1]


@pytest.mark.parametrize(
    "pieces",
    [
        lambda torch, x: x.tensor_split(2),
        lambda torch, x: x.tensor_split((1, 3)),
        lambda torch, x: x.tensor_split(torch.tensor([1, 2]), 1),
        lambda torch, x: x.hsplit(2),
        lambda torch, x: x.vsplit((1,)),
        lambda torch, x: x.view(2, 1, 4, 2).dsplit(2),
        lambda torch, x: x.unsafe_split(2),
        lambda torch, x: x.unsafe_split_with_sizes((1, 3)),
        lambda torch, x: x.unsafe_chunk(2, 1),
    ],
)
def test_pieces_that_may_be_written_to(torch, pieces):
    x, factor = torch.ones(4, 4, requires_grad=True), leaf(torch, 3.0)
    first, last, *_ = pieces(torch, x * 1)
    last.mul_(factor)
    (first.sum() + last.sum()).backward()
    assert x.grad.sum() == first.numel() + 3 * last.numel()
    assert factor.grad == last.numel()


@pytest.mark.parametrize(
    "pieces",
    [
        lambda x: x.split(2),
        lambda x: x.split([1, 3]),
        lambda x: x.split_with_sizes([1, 3]),
        lambda x: x.chunk(2),
        lambda x: x.unbind(),
    ],
)
def test_pieces_that_may_not_be_written_to(torch, pieces):
    x = torch.ones(4, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple"):
        pieces(x * 1)[1].mul_(2)


RESULT_SAVING = ("exp_", "expm1_", "reciprocal_", "rsqrt_", "sigmoid_", "sqrt_", "tan_", "tanh_")


@pytest.mark.parametrize(
    "view",
    [
        lambda torch, x: (x * 1)[1:],
        lambda torch, x: (x * 1)[1:][:1],
        lambda torch, x: (x * 1).t(),
        lambda torch, x: (x * 1).diagonal(),
        lambda torch, x: torch.matmul(x.view(3, 2, 2), x[:2, :2]),
        lambda torch, x: torch.nn.functional.linear(x.view(3, 2, 2), x[:2, :2]),
        lambda torch, x: torch.tensordot(x, x.t(), 1),
        lambda torch, x: torch.einsum("bij,jk->bik", x.view(3, 2, 2), x[:2, :2]),
        lambda torch, x: torch.nn.functional.conv1d(x, x[None, :, :1]),
    ],
)
@pytest.mark.parametrize("name", RESULT_SAVING)
def test_second_gradients_of_a_view_written_by_what_saves_its_result(torch, view, name):
    gradients = []
    for write in (name, name.removesuffix("_")):
        x = torch.linspace(0.2, 0.9, 12, dtype=torch.float64).view(3, 4).requires_grad_()
        y = getattr(view(torch, x), write)()
        (grad,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        (grad * grad).sum().backward()
        gradients.append(x.grad.flatten().tolist())
    assert gradients[0] == pytest.approx(gradients[1])


def test_second_gradients_by_way_of_the_base_of_what_was_written(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    base = x * 1
    base[1:].tanh_()
    (grad,) = torch.autograd.grad((base * base).sum(), x, create_graph=True)
    grad.sum().backward()
    y = x.detach()[1:].tanh()
    slope = 1 - y * y
    assert x.grad.tolist() == pytest.approx([2.0, *(2 * slope * (slope - 2 * y * y)).tolist()])


def _pairs(values):
    return values[..., 0] + 1j * values[..., 1]


PARTS_WRITTEN = [
    (lambda torch, z: z.real.mul_(3), lambda torch, z: torch.complex(z.real * 3, z.imag)),
    (lambda torch, z: z.imag.exp_(), lambda torch, z: torch.complex(z.real, z.imag.exp())),
    (
        lambda torch, z: torch.view_as_real(z).tanh_(),
        lambda torch, z: torch.complex(z.real.tanh(), z.imag.tanh()),
    ),
    (
        lambda torch, z: z.real[1:].mul_(z.imag[1:].detach().clone()),
        lambda torch, z: torch.cat(
            [z[:1], torch.complex(z.real[1:] * z.imag[1:].detach(), z.imag[1:])]
        ),
    ),
]
"""Writes to views of the parts of complex elements, and what they make of the whole."""


@pytest.mark.parametrize(("write", "written"), PARTS_WRITTEN)
def test_writes_to_parts_of_complex_elements(torch, write, written):
    gradients = []
    for _ in range(2):
        x = torch.linspace(0.1, 1.2, 12, dtype=torch.float64).requires_grad_()
        z = _pairs(x.view(3, 2, 2))
        assert z._base is None
        if gradients:
            write(torch, z)
        else:
            z = written(torch, z)
        (grad,) = torch.autograd.grad((z * z * (1 + 2j)).real.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((grad * grad).sum(), x)
        gradients.append((grad.tolist(), second.tolist()))
    for got, expected in zip(*gradients, strict=True):
        assert got == pytest.approx(expected)


def test_writes_to_pairs_seen_as_complex_elements(torch):
    x = torch.linspace(0.1, 1.2, 12, dtype=torch.float64).view(3, 2, 2).requires_grad_()
    y = x * 1
    torch.view_as_complex(y)[1:].mul_(2j)
    (y * y * y).sum().backward()
    turned = 2 * torch.stack([-x[1:, :, 1], x[1:, :, 0]], -1).detach()
    slope = 3 * turned * turned
    expected = torch.cat(
        [
            3 * (x[:1] * x[:1]).detach(),
            2 * torch.stack([slope[..., 1], -slope[..., 0]], -1),
        ]
    )
    assert x.grad.flatten().tolist() == pytest.approx(expected.flatten().tolist())


def test_views_of_parts_follow_writes_to_the_whole(torch):
    x = leaf(torch, [1.0, 2.0])
    z = x * (1 + 2j)
    parts = torch.view_as_real(z)
    z.mul_(1j)
    parts.sum().backward()
    assert x.grad.tolist() == [-1.0, -1.0]


def test_a_result_saved_by_an_inplace_operator(torch):
    x = leaf(torch, [0.0, 1.0])
    y = x * 1
    y.exp_()
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx(x.exp().tolist())


def test_writing_to_a_view_is_writing_to_its_base(torch):
    x, y = leaf(torch, [1.0, 2.0, 3.0]), leaf(torch, 10.0)
    base = x * 1
    view = base[1]
    view.mul_(y)
    assert base.grad_fn.name().endswith("CopySlices")
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert base.tolist() == [1.0, 20.0, 3.0]
    (base * base).sum().backward()
    assert x.grad.tolist() == [2.0, 400.0, 6.0]
    assert y.grad.tolist() == 80.0


def test_writing_to_a_base_is_writing_to_its_views(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    base = x * 1
    view = base[1:]
    base.mul_(3)
    assert view.tolist() == [6.0, 9.0]
    (view * view).sum().backward()
    assert x.grad.tolist() == [0.0, 36.0, 54.0]


def test_views_of_one_base_know_of_each_other(torch):
    x = leaf(torch, [1.0, 2.0, 3.0, 4.0])
    base = x * 1
    left, right = base[:3], base[1:]
    left.mul_(2)
    right.mul_(3)
    (left * left).sum().backward()
    assert x.grad.tolist() == [8.0, 144.0, 216.0, 0.0]


def test_views_of_views(torch):
    x = leaf(torch, [[1.0, 2.0], [3.0, 4.0]])
    base = x * 1
    column = base.t()[1]
    column[0] = 10.0
    column[1:].mul_(5)
    assert base.tolist() == [[1.0, 10.0], [3.0, 20.0]]
    (base * base).sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0], [6.0, 200.0]]


def test_filling_zeros_row_by_row(torch):
    x = leaf(torch, [1.0, 2.0])
    out = torch.zeros(3, 2, dtype=torch.float64)
    for i in range(3):
        out[i] = x * (i + 1)
    assert out.requires_grad and not out.is_leaf
    (out * out).sum().backward()
    assert x.grad.tolist() == [28.0, 56.0]


def test_views_of_a_base_that_begins_to_require_grad(torch):
    x = leaf(torch, [3.0])
    base = torch.zeros(4, dtype=torch.float64)
    before, other = base[1:3], base[:2]
    assert not before.requires_grad
    other[1:] = x
    assert base.requires_grad and before.requires_grad
    (before * before).sum().backward()
    assert x.grad.tolist() == [6.0]
    base = torch.ones(2, dtype=torch.float64)
    view = base[0]
    base.mul_(x)
    assert view.requires_grad
    x.grad = None
    view.backward()
    assert x.grad.tolist() == [1.0]


def test_detached_views_do_not_join(torch):
    x = leaf(torch, [3.0, 4.0])
    base = torch.zeros(2, dtype=torch.float64)
    cut = base.detach()
    base.add_(x)
    assert not cut.requires_grad and not cut._is_view()
    cut.mul_(2)
    assert base.tolist() == [6.0, 8.0]
    base.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_double_backward_through_a_written_view(torch):
    x = leaf(torch, [2.0, 3.0])
    base = x * 1
    base[0].pow_(3)
    (first,) = torch.autograd.grad((base * base).sum(), x, create_graph=True)
    assert first.tolist() == [6 * 2.0**5, 6.0]
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [30 * 2.0**4, 2.0]


def test_double_backward_through_a_result_saved_by_a_written_view(torch):
    x = leaf(torch, [0.5, 3.0])
    base = x * 1
    base[0].exp_()
    (first,) = torch.autograd.grad(base.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx([x.exp().tolist()[0], 0.0])


def test_outputs_of_splitting_functions_are_not_written_to(torch):
    base = leaf(torch, [1.0, 2.0, 3.0]) * 1
    for pieces in (base.split(1), base.unbind(), base.chunk(3)):
        with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
            pieces[0].add_(1)
    pieces = base.split([1, 2])
    base.add_(1)
    with pytest.raises(RuntimeError, match="is a view and its base or another view of its base"):
        pieces[0] * 2


def test_views_made_in_no_grad_are_not_written_to_outside(torch):
    base = leaf(torch, [1.0, 2.0]) * 1
    with torch.no_grad():
        view = base[0]
        view.add_(1)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being"):
        view.add_(1)


def test_views_made_in_no_grad_require_grad_and_get_none(torch):
    base = leaf(torch, [1.0, 2.0]) * 1
    with torch.no_grad():
        view = base.view(2)
    assert view.requires_grad and view.is_leaf
    (view * 3).sum().backward()
    assert view.grad is None


def test_view_properties(torch):
    x = leaf(torch, [[1.0, 2.0]])
    y = x * 1
    view = y[0][1:]
    assert view._is_view() and view._base is y
    assert not y._is_view() and y._base is None
    assert not (view * 2)._is_view()


def test_copying_into_an_expanded_gradient_is_safe(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    x.sum().backward()
    x.grad.mul_(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_setting_items_by_mask_and_index(torch):
    x, v = leaf(torch, [1.0, 2.0, 3.0, 4.0]), leaf(torch, [10.0, 20.0])
    y = x * 1
    y[torch.tensor([True, False, False, True])] = v
    y[torch.tensor([1])] = 7.0
    assert y.tolist() == [10.0, 7.0, 3.0, 20.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 6.0, 0.0]
    assert v.grad.tolist() == [20.0, 40.0]


def test_writing_with_out_does_not_record(torch):
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"out=\.\.\. arguments don't support automatic diff"):
        torch.add(x, 1, out=torch.zeros(2, dtype=torch.float64))
    with torch.no_grad():
        assert torch.add(x, 1, out=torch.zeros(2, dtype=torch.float64)).tolist() == [2.0, 3.0]


def test_a_view_that_was_written_to_has_its_new_history_when_it_is_used(torch):
    """It is made only then, though nothing was counted in `Unchanged` that would tell."""

    class Unchanged(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = leaf(torch, [1.0, 1.0, 1.0])
    y = x * 1
    view = y[1:]
    Unchanged.apply(view)
    view.retain_grad()
    view.mul_(2)
    (view * 5).sum().backward()
    assert view.grad.tolist() == [5.0, 5.0]
    assert x.grad.tolist() == [0.0, 30.0, 30.0]
