"""Calls as people make them: by NumPy's words, in PyTorch's older orders, numbers first, too short.

All operators are walked: what the generator gave one of them, all have.
"""

from __future__ import annotations

import inspect
import operator as operators
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.emit import calling, functions
from codegen.model.operator import Operator
from codegen.model.schema import Argument, Schema
from codegen.model.vocabulary import SYNONYMS
from tests import calls, harness, tolerances
from tests.runtime.test_operators import OURS, base_dtype, first_case, is_random
from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings import inspection
from torchgen_out._runtime.bindings.binding import Binder
from torchgen_out.functions import overloads

OPERATORS = harness.program().operators
NUMBERS = {"alpha": 2, "beta": 3, "value": 4}
"""What the parameters that are given by name only get."""


def parameter_of(operator: Operator, name: str) -> str:
    """What a schema's argument is called in calls of the function."""
    family = harness.program().families[operator.base_name]
    return "input" if name == "self" and any(each.has_function for each in family) else name


def function_of(operator: Operator, session: calls.Session = OURS) -> Callable[..., Any]:
    """The function of an operator, or where there is none, the method as a function."""
    found = session.function(operator) if operator.has_function else None
    return found or getattr(session.library.Tensor, operator.public_name)


def keywords_of(operator: Operator, session: calls.Session = OURS) -> dict[str, Any]:
    """The arguments of the usual call by the names of the function's parameters."""
    case = first_case(operator)
    assert case is not None
    values = session.arguments(case, base_dtype(operator)).values
    return {parameter_of(operator, name): value for name, value in values.items()}


def assert_same(actual: Any, expected: Any, operator: Operator) -> None:
    """Two calls gave the same, up to what is drawn or left unwritten."""
    if is_random(operator) or "empty" in operator.base_name:
        assert isinstance(actual, type(expected))
        return
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for each, wanted in zip(actual, expected, strict=True):
            assert_same(each, wanted, operator)
        return
    allowed = tolerances.tolerance(tolerances.VALUE, operator.name, "float64")
    tolerances.assert_close(calls.values(actual), calls.values(expected), allowed, operator.name)


def spelled() -> Iterator[Any]:
    """Operators with a word for each of their parameters that has one."""
    for operator in OPERATORS:
        case = first_case(operator)
        names = {a.name: parameter_of(operator, a.name) for a in operator.arguments}
        if not calling.synonyms(operator, names) or case is None or operator.has_tag("property"):
            continue
        for name, parameter in names.items():
            for word in SYNONYMS.get(parameter, ()) if name in case.arguments else ():
                yield pytest.param(operator, parameter, word, id=f"{operator.name}-{word}")


SPELLED = list(spelled())


@pytest.mark.full
@pytest.mark.parametrize(("operator", "parameter", "word"), SPELLED)
def test_words_mean_the_parameter(operator: Operator, parameter: str, word: str) -> None:
    function, keywords = function_of(operator), keywords_of(operator)
    expected = function(**keywords_of(operator))
    keywords[word] = keywords.pop(parameter)
    assert_same(function(**keywords), expected, operator)


def test_words_are_walked() -> None:
    words = {parameter.values[2] for parameter in SPELLED}
    assert words == {word for each in SYNONYMS.values() for word in each}
    assert len(SPELLED) > 700


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.sum(x, axis=1, keepdims=True).sub(torch.sum(x, 1, True)),
        lambda x: x.max(axis=1)[0].sub(x.max(1)[0]),
        lambda x: torch.std(x, axis=0).sub(torch.std(x, 0)),
        lambda x: torch.unsqueeze(a=x, axis=1).sub(x.unsqueeze(1)),
        lambda x: torch.kron(x1=x, x2=x).sub(x.kron(x)),
        lambda x: torch.cat([x, x], axis=1).sub(torch.cat([x, x], 1)),
        lambda x: torch.add(x1=x, x2=x).sub(x + x),
        lambda x: x.sub(x2=x),
    ],
)
def test_words_reach_tables_families_and_composites(call: Any) -> None:
    assert not call(torch.arange(6.0).reshape(2, 3)).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(0, axis=0),
        lambda x: x.sum(dim=0, axis=0),
        lambda x: torch.exp(x, a=x),
        lambda x: torch.exp(x, nonsense=1),
        lambda x: x.flip(0, axis=0),
        lambda x: torch.max(x, axes=0),
    ],
)
def test_words_that_are_unknown_or_twice(call: Any) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument '(a|axis|axes|nonsense)'"):
        call(torch.ones(2, 3))


# -- what is of another class ------------------------------------------------------------------

OPTIONS = ("ScalarType", "Device", "Layout", "MemoryFormat", "Generator")


def with_options() -> Iterator[Any]:
    """Operators with each of their arguments that is a dtype, a device, a generator or the like."""
    for operator in OPERATORS:
        for argument in operator.arguments:
            if argument.type.base in OPTIONS and first_case(operator):
                yield pytest.param(operator, argument, id=f"{operator.name}-{argument.name}")


@pytest.mark.parametrize(("operator", "argument"), list(with_options()))
def test_an_option_of_another_class_is_refused(operator: Operator, argument: Argument) -> None:
    """No kernel meets it: the first that looks at it is the binding, or the factory."""
    keywords = keywords_of(operator)
    for wrong in (object(), 2.5):
        keywords[parameter_of(operator, argument.name)] = wrong
        with pytest.raises(TypeError, match=r"must be|invalid combination|expected"):
            function_of(operator)(**keywords)


# -- what is missing -------------------------------------------------------------------------


def must_be_given(operator: Operator, argument: Argument) -> bool:
    """Whether a call lacks something without it; of tensors that are gathered there may be none."""
    gathered = argument.type.is_tensor_list and functions.varargs_parameter(operator)
    return argument.is_required and not gathered


def shortened() -> Iterator[Any]:
    """Functions with each number of arguments that is too small."""
    for family in harness.program().families.values():
        operator = family[0]
        required = [a.name for a in operator.schema.positional if a.is_required]
        if (
            functions.varargs_parameter(operator)
            and operator.schema.positional[-1].type.is_tensor_list
        ):
            required.pop()  # there may be no tensors
        if operator.has_function and len(family) == 1 and first_case(operator):
            for count in range(len(required)):
                yield pytest.param(operator, required, count, id=f"{operator.name}-{count}")


@pytest.mark.parametrize(("operator", "required", "count"), list(shortened()))
def test_missing_arguments_are_named(operator: Operator, required: list[str], count: int) -> None:
    keywords, varargs = keywords_of(operator), functions.varargs_parameter(operator)
    given = [keywords[parameter_of(operator, name)] for name in required[:count]]
    named = {a.name: keywords[a.name] for a in operator.schema.keyword_only if a.is_required}
    with pytest.raises(TypeError, match="missing") as caught:
        function_of(operator)(*given, **named)
    if not varargs:  # of several in the place of a list none has a name
        for name in required[count:]:
            assert re.search(rf"\b{parameter_of(operator, name)}\b", str(caught.value))


def needed(operator: Operator) -> list[str]:
    """The arguments that every call must give, as calls name them."""
    required = [a.name for a in operator.arguments if must_be_given(operator, a)]
    return [parameter_of(operator, name) for name in required]


def called_forms(operator: Operator) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The function, method and in-place method of an operator, each with its public name."""
    if operator.has_function:
        yield operator.public_name, function_of(operator)
    if operator.has_method and not operator.has_tag("property"):
        yield operator.public_name, getattr(torch.Tensor, operator.public_name)
    if operator.has_inplace:
        yield f"{operator.public_name}_", getattr(torch.Tensor, f"{operator.public_name}_")


INTERNAL = re.compile(r"_?Missing|'NoneType'|has no attribute|unbox|\w+__\w|\w+___\w")
"""What no message may speak of."""


@pytest.mark.parametrize("operator", [o for o in OPERATORS if first_case(o) and not o.is_internal])
def test_what_is_lacked_is_named(operator: Operator) -> None:
    """It is an error, unless another entry of the family may be meant."""
    may_be_other = len(harness.program().families[operator.base_name]) > 1
    for lacked in needed(operator):
        for public, function in called_forms(operator):
            given = keywords_of(operator)
            del given[lacked]
            is_method = function is not function_of(operator)
            first = parameter_of(operator, "self" if is_method else operator.arguments[0].name)
            args = (given.pop(first),) if first in given else ()
            try:
                function(*args, **given)
            except TypeError as error:
                names = "self|input" if lacked in ("self", "input") else lacked.rstrip("_")
                assert may_be_other or re.search(rf"\b({names})\b", str(error)), error
                assert re.search(rf"\b\w*{public}(_of_self)?\(\)", str(error)), error
                assert not INTERNAL.search(str(error)), error
            except RuntimeError:  # of the other entry
                assert may_be_other
            else:
                assert may_be_other


FAMILIES = sorted(name for name, each in vars(overloads).items() if isinstance(each, Binder))
VALUES = (torch.ones(2), torch.tensor(1.0), 1, 1.5, (1, 2), (torch.ones(2),), "floor")


@pytest.mark.parametrize("name", FAMILIES)
def test_tables_and_short_calls_find_what_the_signatures_say(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All calls of up to three arguments, some with one by name, after each other."""
    binder, entries = getattr(overloads, name), []
    for entry, signature in binder.entries:
        chosen = (lambda found: lambda *args, **keywords: found)(entry.__name__)
        monkeypatch.setattr(overloads, entry.__name__, chosen)
        entries.append((chosen, signature.text))
    monkeypatch.setattr(overloads, name, Binder(binder.name, *entries))
    fresh, function = Binder(binder.name, *entries), getattr(overloads, binder.name)
    for count in range(4):
        named = [{n: v} for n in binder.names for v in VALUES if count < 2]
        for args, keywords in product(product(VALUES, repeat=count), [{}, *named]):
            fresh.clear()
            try:
                expected = fresh.named(args, keywords)
            except TypeError:
                continue
            assert function(*args, **keywords) == expected


# -- older orders, numbers first -------------------------------------------------------------


ORDERS = [
    pytest.param(operator, schema, id=str(schema))
    for operator in OPERATORS
    for schema in operator.deprecated
]


def in_order(schema: Schema, keywords: Mapping[str, Any]) -> list[Any]:
    """Arguments as an older schema has them."""
    values = {**keywords, **NUMBERS, "self": keywords["input"]}
    return [values[argument.name] for argument in schema.arguments]


@pytest.mark.parametrize(("operator", "schema"), ORDERS)
def test_older_orders(operator: Operator, schema: Schema) -> None:
    function, keywords = function_of(operator), keywords_of(operator)
    numbers = {a.name: NUMBERS[a.name] for a in schema.arguments if a.name in NUMBERS}
    args = in_order(schema, keywords)
    expected = function(**{**keywords, **numbers})
    with pytest.warns(UserWarning, match=f"This overload of {operator.base_name} is deprecated"):
        assert_same(function(*args), expected, operator)
    receiver, out = keywords["input"].clone(), torch.empty_like(expected)
    rest = [each for each in args if each is not keywords["input"]]
    with pytest.warns(UserWarning, match="is deprecated"):
        assert getattr(receiver, f"{operator.base_name}_")(*rest) is receiver
    assert_same(receiver, expected, operator)
    with pytest.warns(UserWarning, match="is deprecated"):
        assert function(*args, out=out) is out
    assert_same(out, expected, operator)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: torch.addmm(m, m, m, 2),
        lambda m: torch.addmm(2, m, 3, m, m, beta=2),
        lambda m: torch.add(2, m, m),
        lambda m: torch.addcmul(m, m, m, m),
        lambda m: torch.add(m, 1, m, m),
    ],
)
def test_orders_that_never_were(call: Any) -> None:
    with pytest.raises(TypeError, match=r"takes \d positional arguments but \d were given"):
        call(torch.ones(2, 2))


NUMBER_FIRST = [o for o in OPERATORS if o.has_tag("number_first")]


@pytest.mark.parametrize("operator", NUMBER_FIRST, ids=lambda operator: operator.name)
@pytest.mark.parametrize("number", [2, 2.5, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float16])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_numbers_first(operator: Operator, number: Any, dtype: Any, shape: Any) -> None:
    x, function = torch.full(shape, 3, dtype=dtype), function_of(operator)
    if operator.base_name == "sub" and number is True:
        with pytest.raises(RuntimeError, match="bool"):
            function(number, x)
        return
    first = torch.full(shape, number, dtype=torch.result_type(number, x))
    if not first.dtype.is_floating_point or operator.dtypes != "integral_and_bool":
        expected = function(first, x)
    else:
        with pytest.raises(NotImplementedError):
            function(number, x)
        return
    actual, out = function(number, x), torch.zeros(shape, dtype=expected.dtype)
    assert actual.dtype is expected.dtype and torch.equal(actual, expected)
    assert torch.equal(function(number, x, out=out), expected)
    if dtype.is_floating_point:
        leaf, other = x.clone().requires_grad_(), x.clone().requires_grad_()
        result = function(number, leaf)
        assert result.dtype is expected.dtype
        result.sum().backward()
        function(first, other).sum().backward()
        assert torch.equal(leaf.grad, other.grad)


def test_results_are_never_dropped() -> None:
    """An entry of a family that takes no out= is not meant by a call that gives it."""
    x = torch.tensor([1.0, 3.0])
    for name in ("div", "floor_divide", "float_power", "pow", "xlogy"):
        function = getattr(torch, name)
        expected = function(2, x)
        out = torch.zeros_like(expected)
        assert function(2, x, out=out) is out and torch.equal(out, expected)
    with pytest.raises(TypeError, match="invalid combination"):
        torch.remainder(2, x, out=torch.zeros(2))
    with pytest.raises(TypeError, match="invalid combination"):
        torch.normal(x, 1.0, requires_grad=True)
    expected = torch.div(2, x, rounding_mode="floor")
    assert torch.equal(expected, torch.tensor([2.0, 0.0]))
    assert torch.div(5, torch.tensor([2, 3]), rounding_mode="trunc").dtype is torch.int64


def test_two_numbers() -> None:
    assert torch.equal(torch.mul(2, 3), torch.tensor(6))
    assert torch.equal(torch.add(1, 2.5, alpha=2), torch.tensor(6.0))
    assert torch.equal(torch.div(3, 2), torch.tensor(1.5))
    assert torch.equal(torch.floor_divide(-3, 2), torch.tensor(-2))
    with pytest.raises(TypeError):
        torch.bitwise_and(3, 2)


def test_numbers_elsewhere_are_refused() -> None:
    x = torch.ones(2)
    for call in (torch.maximum, torch.atan2, torch.mm):
        with pytest.raises(TypeError, match=r"must be Tensor, not float"):
            call(2.0, x)
    with pytest.raises(TypeError, match=r"argument .input. .* must be Tensor, not float"):
        torch.exp(2.0)


ALONE = [
    each
    for each in OPERATORS
    if len(harness.program().families[each.base_name]) == 1
    and not each.has_tag("number_first")
    and not each.is_internal
    and first_case(each)
]
"""Operators whose function is that of one entry."""


@pytest.mark.parametrize("kind", ["Tensor", "Tensor?"])
def test_no_number_is_a_tensor(kind: str) -> None:
    """In no operator: a number that a composite could compute with is refused, too."""
    accepted = []
    for operator in ALONE:
        names = [a.name for a in operator.arguments if str(a.type).replace("(a)", "") == kind]
        for name in names:
            given = keywords_of(operator) | {parameter_of(operator, name): 2.0}
            try:
                function_of(operator)(**given)
            except TypeError:
                continue
            except Exception as error:  # whatever it is, it is the wrong one
                accepted.append(f"{operator.name}({name}): {type(error).__name__} {error}"[:100])
            else:
                accepted.append(f"{operator.name}({name}) computes")
    assert not accepted, "\n".join(accepted)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "div"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_reflected_operators_take_tensors(name: str, shape: Any) -> None:
    """As the operator from the other side; what is recorded has both operands."""
    x = torch.tensor([1.5, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.full(shape, 2.5, dtype=torch.float64, requires_grad=True)
    direct = operators.truediv if name == "div" else getattr(operators, name)
    pairs = [getattr(torch.Tensor, f"__r{name}__")(x, y), direct(y, x)]
    assert torch.equal(*pairs)
    if name != "floordiv":
        gradients = [torch.autograd.grad(each.sum(), (x, y)) for each in pairs]
        assert all(map(torch.allclose, *gradients))


EMPTY = [
    (each, argument.name)
    for each in OPERATORS
    for argument in each.arguments
    if argument.type.is_list and argument.default and argument.default.text == "[]"
    if not each.has_tag("internal") and first_case(each) is not None
]
"""Operators and their lists that are empty unless given."""


@pytest.mark.parametrize(
    ("operator", "name"), EMPTY, ids=[f"{each.name}-{name}" for each, name in EMPTY]
)
def test_none_stands_for_a_list_that_is_empty_unless_given(operator: Operator, name: str) -> None:
    given = {key: value for key, value in keywords_of(operator).items() if key != name}
    function = function_of(operator)
    assert_same(function(**given, **{name: None}), function(**given), operator)


def test_lists_that_may_be_none_were_found() -> None:
    assert {"amax", "roll"} <= {operator.base_name for operator, _ in EMPTY}


# -- NumPy's arrays --------------------------------------------------------------------------

# fmt: off
BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge",
)
# fmt: on


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_arrays_beside_tensors(name: str, dtype: Any) -> None:
    function, array = getattr(operators, name), np.array([3, 1, 2], dtype)
    tensor, same = torch.tensor([2.0, 1.0, 4.0]), torch.from_numpy(array)
    for actual, expected in (
        (function(array, tensor), function(same, tensor)),
        (function(tensor, array), function(tensor, same)),
        (function(tensor, array[::-1]), function(tensor, same.flip(0))),
    ):
        assert type(actual) is torch.Tensor and actual.dtype is expected.dtype
        assert torch.equal(actual, expected)


def test_arrays_beside_recorded_tensors() -> None:
    leaf = torch.ones(2, requires_grad=True)
    (np.array([2.0, 3.0], np.float32) * leaf).sum().backward()
    assert leaf.grad.tolist() == [2, 3]
    assert (torch.ones(2) == np.array(["a", "b"])) is False


# -- old spellings ---------------------------------------------------------------------------


def test_volatile_warns() -> None:
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not torch.autograd.Variable(torch.ones(1), volatile=True).requires_grad


@pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), torch.device("meta")])
def test_cuda_takes_no_other_device(device: Any) -> None:
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        torch.ones(1).cuda(device)


def test_removed_functions_name_what_took_their_place() -> None:
    for name, successor in errors.absent.SUCCESSORS.items():
        with pytest.raises(AttributeError, match=f"use torch.{successor}$"):
            getattr(torch, name)
        place: Any = torch
        for part in successor.split("."):
            place = getattr(place, part)
        assert callable(place)
    assert not hasattr(torch, "potrf")


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "soft_margin_loss"])
def test_elementwise_mean_warns(name: str) -> None:
    loss, (x, y) = getattr(torch.nn.functional, name), torch.rand(2, 3)
    with pytest.warns(UserWarning, match="'elementwise_mean' is deprecated"):
        assert torch.equal(loss(x, y, reduction="elementwise_mean"), loss(x, y))


LISTS = [
    each
    for each in OPERATORS
    if each.has_function
    and str(each.arguments[0].type) == "Tensor[]"
    and not each.has_tag("internal")
    if all(argument.default for argument in each.arguments[1:]) and not each.schema.overload
]


@pytest.mark.parametrize("operator", LISTS, ids=lambda operator: operator.name)
@pytest.mark.parametrize("members", [(-2,), ("x",), (None,)])
def test_members_of_lists_that_are_no_tensors(operator: Operator, members: Any) -> None:
    function = function_of(operator)
    is_varargs = functions.varargs_parameter(operator)
    with pytest.raises(TypeError, match=r"must be|expected Tensor"):
        function(*members, *members) if is_varargs else function([*members, *members])


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (torch.argmax, ["input", "dim", "keepdim", "axis", "keepdims"]),
        (torch.stack, ["tensors", "dim", "axis"]),
        (torch.movedim, ["input", "source", "destination"]),
        (torch.linalg.pinv, ["input", "rcond", "hermitian", "rtol"]),
        (torch.broadcast_tensors, ["args", "tensors"]),
    ],
)
def test_signatures_show_what_may_be_given(function: Any, names: list[str]) -> None:
    """Where `import torch` means this library; by itself Python sees `**_words`, or `*args`."""
    inspection.show([function])
    shown = inspect.signature(function).parameters
    assert [name for name in shown if name in names] == names


def test_a_tensor_of_no_dims_means_the_first_entry_that_takes_one() -> None:
    """Also where a number could stand: the entry that takes tensors is tried first."""
    x = torch.zeros(4)
    assert x.bernoulli_(torch.tensor(1.0)).tolist() == [1.0] * 4
    assert x.bernoulli_(torch.zeros(4)).tolist() == [0.0] * 4
    assert x.bernoulli_(1).tolist() == [1.0] * 4
    assert torch.normal(torch.tensor(3.0)).shape == ()
    assert torch.normal(torch.zeros(3), torch.zeros(3)).tolist() == [0.0] * 3
    assert torch.normal(torch.zeros(3), 0.0).tolist() == [0.0] * 3
    assert torch.normal(2.0, torch.zeros(3)).tolist() == [2.0] * 3
    scale, zero_point = torch.tensor(0.5), torch.tensor(1, dtype=torch.int32)
    rounded = torch.fake_quantize_per_tensor_affine(torch.ones(2), scale, zero_point, -4, 3)
    assert rounded.tolist() == [1.0, 1.0]
