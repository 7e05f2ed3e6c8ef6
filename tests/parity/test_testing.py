"""`torch.testing`, `torch.random` and other small names beside PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

PAIRS = (
    ("t.ones(3)", "t.ones(3)", {}),
    ("t.ones(3)", "t.tensor([1.0, 1.1, 1.0])", {}),
    ("t.ones(2, 3)", "t.tensor([[1.0, 1.0, 1.0], [1.0, 3.0, 2.0]])", {}),
    ("t.ones(3)", "t.ones(3) + 5e-6", {}),
    ("t.ones(3)", "t.ones(3) + 2e-5", {}),
    ("t.ones(3).double()", "t.ones(3).double() + 5e-7", {}),
    ("t.ones(3).half()", "t.ones(3).half() + 1e-3", {}),
    ("t.ones(3).half()", "t.ones(3)", {}),
    ("t.ones(3).half()", "t.ones(3)", {"check_dtype": False}),
    ("t.ones(3)", "t.ones(3, 1)", {}),
    ("t.ones(3)", "t.tensor([1.0, float('nan'), 1.0])", {}),
    ("t.tensor(float('nan'))", "t.tensor(float('nan'))", {}),
    ("t.tensor(float('nan'))", "t.tensor(float('nan'))", {"equal_nan": True}),
    ("t.tensor(float('inf'))", "t.tensor(float('inf'))", {}),
    ("t.tensor([1, 2])", "t.tensor([1, 3])", {}),
    ("t.tensor([1, 2])", "t.tensor([1, 3])", {"rtol": 0, "atol": 1}),
    ("t.tensor([True, False])", "t.tensor([True, True])", {}),
    ("t.tensor([1 + 1j])", "t.tensor([1 + 2j])", {}),
    ("t.ones(2, 3).t()", "t.ones(3, 2)", {}),
    ("t.ones(2, 3).t()", "t.ones(3, 2)", {"check_stride": True}),
    ("1.0", "1.0000001", {}),
    ("1.0", "1.1", {}),
    ("1", "1", {}),
    ("[t.ones(2), 1.0]", "[t.ones(2), 2.0]", {}),
    ("[t.ones(2)]", "[t.ones(2), t.ones(2)]", {}),
    ("{'a': t.ones(2)}", "{'a': t.zeros(2)}", {}),
    ("{'a': t.ones(2)}", "{'b': t.zeros(2)}", {}),
    ("None", "None", {}),
    ("t.ones(2)", "None", {}),
    ("t.ones(2)", "[1.0, 1.0]", {}),
    ("t.ones(2)", "t.zeros(2)", {"rtol": 1}),
    ("t.ones(2)", "t.zeros(2)", {"msg": "own words"}),
    ("t.zeros(0)", "t.zeros(0)", {}),
    ("True", "False", {}),
    ("'a'", "'a'", {}),
    ("t.nn.Parameter(t.ones(2))", "t.ones(2)", {"allow_subclasses": False}),
    ("t.eye(2).to_sparse()", "t.eye(2).to_sparse()", {}),
    ("t.eye(2).to_sparse()", "2 * t.eye(2).to_sparse()", {}),
    ("t.eye(2).to_sparse()", "t.ones(2, 2).to_sparse()", {}),
    ("t.eye(2).to_sparse_csr()", "t.eye(2).to_sparse_csr() * 3", {}),
    ("t.eye(2).to_sparse()", "t.eye(2)", {}),
    ("t.eye(2).to_sparse()", "t.eye(2)", {"check_layout": False}),
)


def said(library: Any, actual: str, expected: str, options: dict[str, Any]) -> tuple[str, str]:
    a, e = eval(actual, {"t": library}), eval(expected, {"t": library})
    try:
        library.testing.assert_close(a, e, **options)
    except Exception as error:
        lines = str(error).split("\n")
        return type(error).__name__, "\n".join(lines[:3])
    return "", ""


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize(("actual", "expected", "options"), PAIRS)
def test_assert_close(actual: str, expected: str, options: dict[str, Any]) -> None:
    theirs = said(torch, actual, expected, options)
    ours = said(torchgen_out, actual, expected, options)
    assert ours[0] == theirs[0]
    if theirs[1].startswith("Tensor-likes") or "msg" in options:
        assert ours[1] == theirs[1]


def test_the_place_and_the_size_of_a_difference() -> None:
    with pytest.raises(AssertionError) as caught:
        torchgen_out.testing.assert_close(
            torchgen_out.zeros(2, 2), torchgen_out.tensor([[0.0, 0.0], [0.5, 0.0]])
        )
    lines = str(caught.value).split("\n")
    assert lines[2:] == [
        "Mismatched elements: 1 / 4 (25.0%)",
        "Greatest absolute difference: 0.5 at index (1, 0) (up to 1e-05 allowed)",
        "Greatest relative difference: 1.0 at index (1, 0) (up to 1.3e-06 allowed)",
    ]


@pytest.mark.parametrize("enabled", [True, False])
def test_random_numbers_go_on_after_a_fork(enabled: bool) -> None:
    random = torchgen_out.random
    random.manual_seed(3)
    wanted = torchgen_out.rand(2)
    random.manual_seed(3)
    with random.fork_rng(enabled=enabled):
        torchgen_out.rand(5)
    assert torchgen_out.equal(torchgen_out.rand(2), wanted) is enabled


def test_logsumexp_is_in_special() -> None:
    x = torchgen_out.tensor([1.0, 2.0])
    assert torchgen_out.equal(torchgen_out.special.logsumexp(x, 0), x.logsumexp(0))


def test_the_version_is_told() -> None:
    assert [part.isdigit() for part in torchgen_out.version.torchgen.split(".")] == [True] * 3
