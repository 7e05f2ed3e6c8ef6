"""The builders of exceptions: all are shown by `runtime.errors`, and each sentence stands once."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import torchgen_out as torch
from torchgen_out._runtime import errors

MODULES = [path for path in Path(errors.__file__).parent.glob("*.py") if path.stem != "__init__"]


def builders() -> Iterator[ast.FunctionDef]:
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield node


def test_every_builder_is_shown():
    assert [node.name for node in builders() if not hasattr(errors, node.name)] == []


def test_every_sentence_stands_once():
    words = Counter(
        "".join(part.value for part in ast.walk(node.body[-1]) if _is_text(part))
        for node in builders()
    )
    assert [text for text, count in words.items() if count > 1 and text.strip(" ():,")] == []


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.add(x, 1, alpha="1"),
        lambda x: torch.add(x.long(), 1, alpha="1"),
        lambda x: torch.full((2,), "a"),
        lambda x: torch.full((2,), None),
        lambda x: torch.sin(x, out=[1]),
    ],
)
def test_what_is_no_number_or_tensor_is_a_type_error(call):
    with pytest.raises(TypeError, match=r"must be (Number|Tensor), not"):
        call(torch.ones(3))


def test_messages_call_self_input():
    with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor"):
        torch.sin([1.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.ones(2).to("cuda:1"),
        lambda: torch.nn.Linear(2, 2).cuda(),
        lambda: torch.full((2,), 1.0, device="cuda"),
    ],
)
def test_a_user_of_cuda_is_told_what_to_do(call):
    with pytest.raises(RuntimeError, match=r"^CUDA is not available: .*device='cpu'"):
        call()


def test_a_writer_of_a_backend_is_told_what_to_do():
    message = str(errors.no_backend("npu"))
    assert "'npu'" in message and "register_backend" in message


def test_one_tensor_as_out_of_several_results() -> None:
    with pytest.raises(TypeError, match="'out' must be tuple of Tensors, not Tensor"):
        torch.max(torch.ones(2, 2), 1, out=torch.empty(2))
    with pytest.raises(TypeError, match="'out' must be Tensor, not tuple"):
        torch.exp(torch.ones(2), out=(torch.empty(2),))
