"""Mixed precision against PyTorch: dtypes under autocast, gradients, and the scaling of losses."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

theirs = pytest.importorskip("torch")

import torchgen_out as ours  # noqa: E402
from torchgen_out._runtime.dispatch import autocast, ops  # noqa: E402
from torchgen_out._runtime.dispatch.operator import operators  # noqa: E402

GENERATOR = np.random.default_rng(3)
IMAGE = GENERATOR.standard_normal((2, 3, 5, 5)).astype(np.float32)
SQUARE = GENERATOR.standard_normal((4, 4)).astype(np.float32)

CALLS: dict[str, Any] = {
    "mm": lambda lib, x, _: x.mm(x),
    "matmul": lambda lib, x, _: x @ x,
    "bmm": lambda lib, x, _: x[None].bmm(x[None]),
    "addmm": lambda lib, x, _: lib.addmm(x, x, x),
    "linear": lambda lib, x, _: lib.nn.functional.linear(x, x, x[0]),
    "conv2d": lambda lib, x, image: lib.nn.functional.conv2d(image, image[:, :, :3, :3]),
    "conv_transpose2d": lambda lib, x, i: lib.nn.functional.conv_transpose2d(i, i.transpose(0, 1)),
    "lower operands": lambda lib, x, _: x.bfloat16().mm(x),
    "add": lambda lib, x, _: x.mm(x) + 1,
    "add float32": lambda lib, x, _: x.mm(x) + x,
    "sum": lambda lib, x, _: x.mm(x).sum(),
    "prod": lambda lib, x, _: x.mm(x).prod(),
    "exp": lambda lib, x, _: x.mm(x).exp(),
    "softmax": lambda lib, x, _: x.mm(x).softmax(0),
    "layer_norm": lambda lib, x, _: lib.nn.functional.layer_norm(x.mm(x), (4,)),
    "cross_entropy": lambda lib, x, _: lib.nn.functional.cross_entropy(
        x.mm(x), lib.tensor([0, 1, 2, 3])
    ),
    "cat": lambda lib, x, _: lib.cat([x.mm(x), x]),
    "cat lower": lambda lib, x, _: lib.cat([x.mm(x), x.mm(x)]),
    "stack": lambda lib, x, _: lib.stack([x.mm(x), x]),
    "float64": lambda lib, x, _: x.double().mm(x.double()),
    "einsum": lambda lib, x, _: lib.einsum("ij,kj->ik", x, x),
    "relu": lambda lib, x, _: x.relu(),
    "LSTM": lambda lib, x, _: _of_ones(lib.nn.LSTM(4, 3, 2, bidirectional=True))(x[None])[0],
    "GRU": lambda lib, x, _: _of_ones(lib.nn.GRU(4, 3, 2, bidirectional=True))(x[None])[0],
    "GRU, lower input": lambda lib, x, _: _of_ones(lib.nn.GRU(4, 3))(x.bfloat16()[None])[0],
    "RNN": lambda lib, x, _: _of_ones(lib.nn.RNN(4, 3))(x[None])[0],
    "checkpoint": lambda lib, x, _: _again_in_backward(lib, x, False),
    "checkpoint, reentrant": lambda lib, x, _: _again_in_backward(lib, x, True),
}


def _of_ones(layer: Any) -> Any:
    for parameter in layer.parameters():
        parameter.data.fill_(0.25)
    return layer


def _again_in_backward(lib: Any, x: Any, use_reentrant: bool) -> Any:
    """Products that are computed again when autocast has ended."""
    return lib.utils.checkpoint.checkpoint(
        lambda x: (x @ x).exp() @ x, x, use_reentrant=use_reentrant
    )


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_dtypes(name: str, dtype: str) -> None:
    if name == "LSTM" and dtype == "float16":
        pytest.skip("PyTorch's CPU has no such LSTM")
    results = []
    for lib in (ours, theirs):
        x, image = (lib.from_numpy(each.copy()).requires_grad_() for each in (SQUARE, IMAGE))
        with lib.autocast("cpu", getattr(lib, dtype)):
            result = CALLS[name](lib, x, image)
        result.float().sum().backward()
        grads = [str(each.grad.dtype) for each in (x, image) if each.grad is not None]
        results.append((str(result.dtype), grads, result.detach().float().numpy()))
    assert results[0][:2] == results[1][:2]
    scale = np.abs(results[1][2]).max()
    np.testing.assert_allclose(results[0][2], results[1][2], atol=0.03 * scale)


def test_operands_of_several_dtypes_are_cast_before_anyone_refuses_them() -> None:
    x = ours.ones(2, 2)
    several = 0
    with ours.autocast("cpu"):
        for name in autocast._rules:
            operator = operators[name]
            if operator.arity < 2 or any(
                not kind.startswith("tensor") or kind == "tensors"
                for kind in operator.operands.values()
            ):
                continue
            operands = [x.bfloat16(), *[x] * (operator.arity - 1)]
            assert callable(operator.calls[operator.signature(tuple(operands))])
            several += 1
    assert several > 15
    gates = ours.ones(3, 2, 4).bfloat16()
    with pytest.raises(RuntimeError, match="same dtype"):
        ops._rnn_layer(gates, ours.ones(4, 4), ours.ones(2, 4), False)


def test_nesting_threads_and_decorator() -> None:
    x = ours.from_numpy(SQUARE)
    seen: list[Any] = []
    with ours.autocast("cpu") as context:
        assert context.fast_dtype is ours.bfloat16 and ours.is_autocast_enabled("cpu")
        thread = threading.Thread(target=lambda: seen.append(x.mm(x).dtype))
        thread.start()
        thread.join()
        with ours.autocast("cpu", enabled=False):
            assert x.mm(x).dtype is ours.float32
        with ours.autocast("cpu", ours.float16):
            assert x.mm(x).dtype is ours.float16 is ours.get_autocast_dtype("cpu")
            with ours.autocast("cpu"):
                assert x.mm(x).dtype is ours.float16
        assert x.mm(x).dtype is ours.bfloat16
    assert seen == [ours.float32] and not ours.is_autocast_enabled("cpu")
    assert ours.autocast("cpu")(lambda: x.mm(x))().dtype is ours.bfloat16
    with pytest.raises(RuntimeError, match="device_type"):
        ours.autocast("mps")
    with pytest.warns(UserWarning, match="not supported"), ours.autocast("cpu", ours.float64):
        assert x.mm(x).dtype is ours.float32


def test_parameters_are_cast_once() -> None:
    w = ours.from_numpy(SQUARE.copy()).requires_grad_()
    with ours.autocast("cpu"):
        first, second = w.mm(w), w.mm(w)
    casts = {id(each[0]) for node in (first, second) for each in node.grad_fn.next_functions}
    assert len(casts) == 1
    with ours.autocast("cpu", cache_enabled=False):
        product = w.mm(w)
    assert len({id(each[0]) for each in product.grad_fn.next_functions}) == 2


def test_scaler() -> None:
    histories = []
    for lib in (ours, theirs):
        w = lib.ones(3, requires_grad=True)
        optimizer = lib.optim.SGD([w], lr=0.5)
        scaler = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
        for call in (scaler.update, lambda s=scaler, o=optimizer: s.unscale_(o)):
            with pytest.raises(AssertionError, match=r"did not use scaler.scale\(loss or outputs"):
                call()
        history: list[Any] = []
        for factor in (1.0, 2.0, float("inf"), 1.0, float("nan"), 0.5, 0.5):
            optimizer.zero_grad()
            scaler.scale((w * w * factor).sum()).backward()
            if factor == 2.0:
                scaler.unscale_(optimizer)
                with pytest.raises(RuntimeError, match="already been called"):
                    scaler.unscale_(optimizer)
            scaler.step(optimizer)
            with pytest.raises(RuntimeError, match=r"step\(\) has already"):
                scaler.step(optimizer)
            scaler.update()
            history += [scaler.get_scale(), *w.tolist()]
        again = lib.amp.GradScaler("cpu")
        again.load_state_dict(scaler.state_dict())
        histories.append([*history, again.state_dict()])
        with pytest.raises(AssertionError, match="No inf checks"):
            scaler.update()
    assert histories[0] == histories[1]


def test_functions_of_ones_own() -> None:
    class Product(ours.autograd.Function):
        """x @ x, in float32 where autocast would not be."""

        @staticmethod
        @ours.amp.custom_fwd(device_type="cpu", cast_inputs=ours.float32)
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.mm(x)

        @staticmethod
        @ours.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad.mm(x.t()) + x.t().mm(grad)

    x = ours.from_numpy(SQUARE.copy()).bfloat16().requires_grad_()
    with ours.autocast("cpu"):
        result = Product.apply(x)
    assert result.dtype is ours.float32
    result.sum().backward()
    assert x.grad.dtype is ours.bfloat16
