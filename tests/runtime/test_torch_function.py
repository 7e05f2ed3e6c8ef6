"""Classes that answer calls: `__torch_function__`, subclasses of Tensor, modes.

Every operator is called with such an object in each place of a tensor; nothing is computed.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import torchgen_out as torch
from codegen.model.operator import Operator
from tests import harness
from tests.runtime.test_calling import assert_same, function_of, keywords_of, parameter_of
from tests.runtime.test_operators import first_case
from torchgen_out._runtime.dispatch import ops, overrides

OPERATORS = harness.program().operators


class Answer:
    """No tensor, but an object that answers calls."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "answered", func, types, args, kwargs or {}


class Answering(torch.Tensor):
    """A tensor that answers calls."""

    __torch_function__ = Answer.__torch_function__


class Unlike(torch.Tensor):
    """Results of its calls are of this class."""


class Under(Unlike):
    """A subclass of a subclass."""


def tensor_places() -> Iterator[Any]:
    """Functions with each argument that is a tensor, or a list of them."""
    for operator in OPERATORS:
        case = first_case(operator)
        if operator.has_tag("property") or case is None:
            continue
        for argument in operator.arguments:
            if argument.type.holds_tensors and case.arguments.get(argument.name) is not None:
                yield pytest.param(operator, argument.name, id=f"{operator.name}-{argument.name}")


PLACES = list(tensor_places())


@pytest.mark.parametrize(("operator", "name"), PLACES)
def test_answers_in_every_place(operator: Operator, name: str) -> None:
    function, keywords = function_of(operator), keywords_of(operator)
    parameter = parameter_of(operator, name)
    usual = keywords[parameter]
    tensors = usual if isinstance(usual, (list, tuple)) else [usual]
    answers = [Answer()]
    if isinstance(tensors[-1], torch.Tensor):
        answers.append(tensors[-1].as_subclass(Answering))
    for answer in answers:
        keywords[parameter] = answer if tensors is not usual else [*tensors[:-1], answer]
        found = function(**keywords)
        assert found[0] == "answered", found
        assert found[1] is getattr(ops, operator.base_name)
        assert found[2] == (type(answer),)
        given = [*found[3], *found[4].values()]
        assert any(
            each is answer or (type(each) in (list, tuple) and each[-1] is answer) for each in given
        )


COMPUTED = [
    operator
    for operator in OPERATORS
    if first_case(operator) and operator.tensor_arguments and not operator.has_tag("property")
]


@pytest.mark.full
@pytest.mark.parametrize("operator", COMPUTED, ids=lambda operator: operator.name)
def test_results_are_of_the_subclass(operator: Operator) -> None:
    function, keywords = function_of(operator), keywords_of(operator)
    expected = function(**keywords_of(operator))
    first = next(each for each, value in keywords.items() if isinstance(value, torch.Tensor))
    keywords[first] = keywords[first].as_subclass(Unlike)
    actual = function(**keywords)
    for each in actual if isinstance(actual, (tuple, list)) else [actual]:
        assert isinstance(each, Unlike) or not isinstance(each, torch.Tensor)
    assert_same(actual, expected, operator)


def test_arguments_can_be_called_with_again() -> None:
    seen = []

    class Seeing(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append((getattr(func, "__name__", func), args[1:], kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.arange(6.0).reshape(2, 3).as_subclass(Seeing)
    assert type(torch.add(x, 1, alpha=2)) is Seeing
    assert type(x.sum(1, keepdim=True)) is type(x[0]) is type(1 - x) is type(x.data) is Seeing
    assert type(x.float()) is type(torch.stack([x, x])) is type(x.max(0).values) is Seeing
    assert type(x.shape) is torch.Size and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert seen[:2] == [("add", (1,), {"alpha": 2}), ("sum", (1, True), {})]
    assert [name for name, _, _ in seen[2:4]] == ["__getitem__", "rsub"]
    assert seen[-1][0] == "tolist"


def test_plain_tensors_ask_nobody() -> None:
    x = torch.rand(2).as_subclass(Unlike)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is type(x.exp()) is type(x[0]) is torch.Tensor
    assert type(x + 1) is Unlike
    assert type(x.as_subclass(torch.Tensor) + 1) is torch.Tensor
    parameter = torch.nn.Parameter(torch.rand(2))
    assert type(parameter * 2) is type(parameter.sum()) is type(parameter.data) is torch.Tensor


def test_a_subclass_goes_before_its_base() -> None:
    base, under = torch.ones(2).as_subclass(Unlike), torch.ones(2).as_subclass(Under)
    assert type(base + under) is type(under + base) is type(torch.stack([base, under])) is Under
    with pytest.raises(TypeError, match="__torch_function__ handlers returned NotImplemented"):
        base + torch.ones(2).as_subclass(type("Other", (torch.Tensor,), {}))


def test_gradients_reach_leaves_of_subclasses() -> None:
    leaf = torch.Tensor._make_subclass(Unlike, torch.ones(2), True)
    assert type(leaf) is Unlike and leaf.is_leaf and leaf.requires_grad
    (leaf * leaf * 3).sum().backward()
    assert type(leaf.grad) is torch.Tensor and leaf.grad.tolist() == [6, 6]
    (grad,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
    grad.sum().backward()
    assert leaf.grad.tolist() == [12, 12]
    total = torch.zeros(2).as_subclass(Unlike)
    total += leaf
    assert type(total) is Unlike and total.requires_grad


def test_writes_keep_the_class() -> None:
    for name, *args in (("t_",), ("requires_grad_",), ("unsqueeze_", 0), ("add_", 1)):
        x = torch.rand(2, 3).as_subclass(Unlike)
        assert getattr(x, name)(*args) is x and type(x * 1) is Unlike
    x = torch.rand(2, 3).as_subclass(Unlike)
    x.data = torch.rand(4)
    assert type(x) is Unlike and type(x * 1) is Unlike and x.shape == (4,)
    plain = torch.rand(4)
    plain.data = x
    assert type(plain) is torch.Tensor and type(plain * 1) is torch.Tensor
    out = torch.empty(4)
    assert type(torch.exp(x.detach(), out=out)) is Unlike


def test_copies_keep_class_and_attributes() -> None:
    x = torch.rand(2).as_subclass(Unlike)
    x.note = "kept"
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(made) is Unlike and made.note == "kept" and torch.equal(made, x)
        assert type(made + 1) is Unlike


def test_own_methods_win() -> None:
    class Named(torch.Tensor):
        def __repr__(self) -> str:
            return f"Named of {tuple(self.shape)}"

        @property
        def T(self) -> str:
            return "own"

    x = torch.rand(2).as_subclass(Named)
    assert repr(x) == "Named of (2,)" and x.T == "own" and repr(x + 1) == "Named of (2,)"


def test_modes_see_every_call() -> None:
    seen: list[Any] = []

    class Counting(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.rand(3)
    with Counting():
        torch.add(x, 1), torch.kron(x, x), x.exp_(), torch.max(x, 0)
        with torch._C.DisableTorchFunction():
            x.sin()
    x.cos()
    assert seen == [torch.add, torch.kron, torch.exp_, torch.max]


def test_decorated_functions() -> None:
    def double(x: Any) -> Any:
        if torch.overrides.has_torch_function_unary(x):
            return torch.overrides.handle_torch_function(double, (x,), x)
        return x * 2

    assert double(Answer())[1] is double
    assert double(torch.ones(1)).item() == 2
    tripled = torch.overrides.wrap_torch_function(lambda x: (x,))(lambda x: x * 3)
    assert tripled(Answer())[1] is tripled and tripled(torch.ones(1)).item() == 3


def test_names_of_functions() -> None:
    resolve = torch.overrides.resolve_name
    assert resolve(torch.add) == "torch.add"
    assert resolve(torch.nn.functional.conv2d) == "torch.conv2d"
    assert resolve(torch.Tensor.tolist) == "torch.Tensor.tolist"
    assert resolve(torch.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
    assert torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
    overridable = torch.overrides.get_overridable_functions()
    assert torch.add in overridable[torch] and torch.linalg.inv in overridable[torch.linalg]
    assert torch.zeros in torch.overrides.get_ignored_functions()
    assert torch.overrides.is_tensor_like(Answer()) and not torch.overrides.is_tensor_like(1)
    assert not overrides.state.modes


def test_modes_see_what_is_no_operator() -> None:
    """Factories, hand-written functions, methods and properties: all stay the objects they were."""
    seen: list[Any] = []

    class Seeing(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append((func, args[:1] if func in from_numbers else (), kwargs or {}))
            return func(*args, **(kwargs or {}))

    from_numbers = {torch.zeros, torch.arange, torch.rand, torch.tensor, torch.eye, torch.full}
    handlers = {torch.Tensor.to: 1, torch.Tensor.__getitem__: 2, torch.nn.functional.dropout: 3}
    weight = torch.ones(2, 2)
    with Seeing(), torch.device("cpu"):
        torch.zeros(2, 3, dtype=torch.float64)
        torch.arange(1, 5), torch.rand(3, requires_grad=True), torch.tensor([1.0]), torch.eye(2)
        weight.to(torch.float64), weight[0], torch.nn.functional.dropout(weight, 0.0)
        assert weight.shape == (2, 2)
        torch.nn.init.zeros_(weight)
    functions = [func for func, _, _ in seen]
    assert functions[:9] == [
        torch.zeros, torch.arange, torch.rand, torch.tensor, torch.eye, torch.Tensor.to,
        torch.Tensor.__getitem__, torch.nn.functional.dropout, torch.Tensor.shape.__get__,
    ]  # fmt: skip
    assert functions[9] is torch.nn.init.zeros_ and len(functions) == 10
    assert set(handlers) <= set(functions)
    assert [given for _, _, given in seen[:3]] == [
        {"dtype": torch.float64}, {}, {"requires_grad": True}
    ]  # fmt: skip
    assert [first for _, first, _ in seen[:4]] == [(2,), (1,), (3,), ([1.0],)]
    assert "dtype" in inspect.signature(torch.tensor).parameters
    assert not weight.any() and torch.zeros(2).shape == (2,)


def test_stand_ins_of_all_functions() -> None:
    stand_ins = torch.overrides.get_testing_overrides()
    assert len(stand_ins) > 800
    assert stand_ins[torch.add](1, 2, alpha=3) == stand_ins[torch.Tensor.shape.__get__](1) == -1
    assert list(inspect.signature(stand_ins[torch.einsum]).parameters)[:2] == ["equation", "args"]
    for wrong in (lambda: stand_ins[torch.mm](1, 2, 3, 4), lambda: stand_ins[torch.add](1, beta=2)):
        with pytest.raises(TypeError):
            wrong()
