"""Gradients of maximum pooling on an emulated device: the CPU's, bit by bit."""

from __future__ import annotations

import pytest

import torchgen_out as torch

F = torch.nn.functional


@pytest.mark.parametrize(
    ("function", "sizes", "options"),
    [(F.max_pool2d, (2, 3, 7, 6), {"kernel_size": 3, "stride": 1, "padding": 1}),
     (F.max_pool2d, (1, 2, 9, 8), {"kernel_size": (3, 2), "stride": 2, "ceil_mode": True}),
     (F.max_pool2d, (1, 2, 9, 9), {"kernel_size": 3, "stride": (1, 2), "dilation": (2, 3)}),
     (F.max_pool2d, (2, 4, 4), {"kernel_size": 2}),
     (F.max_pool1d, (2, 3, 8), {"kernel_size": 3, "stride": 2, "padding": 1}),
     (F.max_pool3d, (1, 2, 4, 5, 4), {"kernel_size": 3, "stride": 1, "padding": 1}),
     (F.adaptive_max_pool2d, (2, 2, 7, 5), {"output_size": (3, 4)}),
     (F.adaptive_max_pool3d, (1, 4, 5, 3), {"output_size": 2})],
)  # fmt: skip
def test_gradients_are_gathered(emulated, function, sizes, options):
    torch.manual_seed(3)
    x = torch.randint(0, 9, sizes).float().add(torch.randn(sizes) / 1000).requires_grad_()
    y = x.detach().to("cuda").requires_grad_()
    upstream = torch.randn(function(x, **options).shape)
    function(x, **options).backward(upstream)
    result = function(y, **options)
    emulated.calls.clear()
    result.backward(upstream.to("cuda"))
    launched = {name for _, name, *_ in emulated.named("launch")}
    assert launched and not {"count_tiles", "rank_keys", "combine_runs"} & launched
    assert torch.equal(y.grad.cpu(), x.grad)
