"""`repr` of tensors; `tests/parity` compares hundreds of them with PyTorch's."""

import pytest

import torchgen_out as torch


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.tensor(1), "tensor(1)"),
        (torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
        (torch.tensor([1.0, 2.0]), "tensor([1., 2.])"),
        (torch.tensor([1e-10, 1.0]), "tensor([1.0000e-10, 1.0000e+00])"),
        (torch.tensor([float("nan"), float("-inf"), 1.0]), "tensor([nan, -inf, 1.])"),
        (torch.tensor([True, False]), "tensor([ True, False])"),
        (torch.tensor([1 + 2j]), "tensor([1.+2.j])"),
        (torch.tensor([1], dtype=torch.int32), "tensor([1], dtype=torch.int32)"),
        (torch.zeros(0, 2), "tensor([], size=(0, 2))"),
        (torch.zeros(0, 2, dtype=torch.int64), "tensor([], size=(0, 2), dtype=torch.int64)"),
        (torch.zeros(2, 3, device="meta"), "tensor(..., device='meta', size=(2, 3))"),
        (torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
        (torch.ones(2, requires_grad=True) * 1, "tensor([1., 1.], grad_fn=<MulBackward0>)"),
        (torch.tensor([[1, -20], [3, 4]]), "tensor([[  1, -20],\n        [  3,   4]])"),
        (torch.ones(1, dtype=torch.bfloat16), "tensor([1.], dtype=torch.bfloat16)"),
    ],
    ids=str,
)
def test_repr(tensor, text):
    assert repr(tensor) == str(tensor) == text


def test_summary():
    text = repr(torch.arange(2000))
    assert text == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
    assert repr(torch.zeros(2000, 2)).count("[0., 0.]") == 6


def test_options():
    pi = torch.tensor(3.14159265)
    saved = torch.get_printoptions()
    try:
        torch.set_printoptions(precision=2)
        assert repr(pi) == "tensor(3.14)"
        torch.set_printoptions(sci_mode=True)
        assert repr(pi) == "tensor(3.14e+00)"
        torch.set_printoptions(profile="full")
        assert "..." not in repr(torch.arange(2000))
        torch.set_printoptions(profile="default", linewidth=20)
        assert "\n" in repr(torch.arange(10))
    finally:
        torch.set_printoptions(**saved)
    assert repr(pi) == "tensor(3.1416)"


def test_format_of_a_number():
    assert f"{torch.tensor(1.5):.3f}" == "1.500"
    assert f"{torch.tensor([1])}" == "tensor([1])"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{torch.ones(2):.3f}"


def test_subclass_shows_its_name():
    class Marked(torch.Tensor):
        pass

    assert repr(torch.ones(1).as_subclass(Marked)) == "Marked([1.])"
