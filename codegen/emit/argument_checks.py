"""What bindings ask of arguments that are integers, lists of them, dtypes, devices and the like.

Plans are remembered by equality, and `1 == 1.0 == True`: what is no integer must not get that far.
Nor must what is no generator get to a kernel. The usual case costs one comparison of classes, and
that of an absent argument one with None.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.operator import Composite, Operator, View
from ..model.schema import Argument
from ..record import record

_NUMBERS = (("float",), ("Scalar",))
_INTEGERS = (("int",), ("SymInt",))
_OPTIONS: dict[tuple[str, ...], tuple[str, str]] = {
    ("ScalarType",): ("Dtype", "as_dtype"),
    ("Device",): ("Device", "as_device"),
    ("Layout",): ("Layout", "as_layout"),
    ("MemoryFormat",): ("MemoryFormat", "as_memory_format"),
    ("Generator",): ("Generator", "as_generator"),
}
"""Schema type -> its class, as bindings know it, and what makes it of other values or refuses."""

_READ_BY_FACTORIES = (("ScalarType",), ("Device",))
"""What every factory looks at itself, since it differs from the default."""


@record
class Check:
    """Lines of a binding: unless `usual` holds, `parameter` becomes what `function` makes of it."""

    parameter: str
    unusual: str
    """When the argument must be looked at, as a condition."""
    function: str
    """Of `runtime.bindings.integers`, `numbers`, `options` or `words`."""
    operator: str
    argument: str
    position: int
    is_required: bool


def checks(operator: Operator, names: dict[str, str]) -> tuple[Check, ...]:
    """The checks of one operator's bindings.

    Views compare the classes of arguments where they look answers up, factories those of sizes;
    bodies of composites pass their lists on to operators that check.
    """
    return tuple(_checks(operator, names))


def _checks(operator: Operator, names: dict[str, str]) -> Iterator[Check]:
    if isinstance(operator.kind, View):
        return
    lists_are_passed_on = isinstance(operator.kind, Composite) or operator.has_tag("factory")
    is_checked = _checks_words(operator)
    for position, argument in enumerate(operator.arguments):
        is_read_below = argument.type.names in _READ_BY_FACTORIES and operator.has_tag("factory")
        if argument.type.names in _OPTIONS and not is_read_below:
            yield _option_check(operator, argument, names[argument.name], position)
        if is_checked and argument.type.names == ("bool",) and not argument.type.is_list:
            yield _flag_check(operator, argument, names[argument.name], position)
        if is_checked and argument.type.names == ("str",) and not argument.type.is_list:
            yield _text_check(operator, argument, names[argument.name], position)
        if _is_number_passed_on(operator, argument):
            yield _number_check(operator, argument, names[argument.name], position)
        if argument.type.element.names not in _INTEGERS or len(argument.type.modifiers) > 2:
            continue
        if argument.type.is_list and lists_are_passed_on:
            continue
        name = names[argument.name]
        unusual, function = _unusual(argument, name), _function(argument)
        yield _check(operator, argument, name, position, unusual, function)


def _option_check(operator: Operator, argument: Argument, name: str, position: int) -> Check:
    """Python's types stand for dtypes, texts and numbers for devices; others for themselves."""
    known, function = _OPTIONS[argument.type.names]
    unusual = f"{name}.__class__ is not {known}"
    if argument.type.is_optional:
        unusual = f"{name} is not None and {unusual}"
    return _check(operator, argument, name, position, unusual, function)


def _checks_words(operator: Operator) -> bool:
    """Whether truth values and texts must be such.

    PyTorch writes its layers in Python, and takes there whatever is true; and what is internal is
    called by the library alone.
    """
    if operator.has_tag("internal") or operator.has_tag("any_flags"):
        return False
    return not operator.python_module.startswith(("nn.", "masked", "signal."))


def _flag_check(operator: Operator, argument: Argument, name: str, position: int) -> Check:
    """The default is looked for first: comparing with it is all that most calls pay."""
    values = ["True", "False"] if _default(argument) == "True" else ["False", "True"]
    tests = [f"{name} is not {value}" for value in values]
    if argument.type.is_optional:
        tests.insert(0 if _default(argument) == "None" else 2, f"{name} is not None")
    return _check(operator, argument, name, position, " and ".join(tests), "as_bool")


def _text_check(operator: Operator, argument: Argument, name: str, position: int) -> Check:
    unusual = f"{name}.__class__ is not str"
    if argument.type.is_optional:
        unusual = f"{name} is not None and {unusual}"
    return _check(operator, argument, name, position, unusual, "as_str")


def _default(argument: Argument) -> str:
    return "" if argument.default is None else argument.default.text


def _is_number_passed_on(operator: Operator, argument: Argument) -> bool:
    """Whether a composite's body is given a number at which no plan will look."""
    is_body = isinstance(operator.kind, Composite) and not operator.has_tag("factory")
    return is_body and argument.type.names in _NUMBERS and not argument.type.is_list


def _number_check(operator: Operator, argument: Argument, name: str, position: int) -> Check:
    tests = [f"{name} is not None"] if argument.type.is_optional else []
    tests += [f"{name}.__class__ is not {kind}" for kind in ("float", "int")]
    function = "as_float" if argument.type.names == ("float",) else "as_scalar"
    return _check(operator, argument, name, position, " and ".join(tests), function)


def _check(
    operator: Operator, argument: Argument, name: str, position: int, unusual: str, function: str
) -> Check:
    shown = 0 if argument.is_keyword_only else position + 1
    is_required = argument.is_required
    return Check(name, unusual, function, operator.base_name, argument.name, shown, is_required)


def _function(argument: Argument) -> str:
    """Where a list is empty unless given, None stands for it, as in PyTorch."""
    if not argument.type.is_list:
        return "as_int"
    is_empty = argument.default is not None and argument.default.text == "[]"
    return "as_ints_or_none" if is_empty else "as_ints"


def _unusual(argument: Argument, name: str) -> str:
    """A list of a fixed size may be given as the one integer that stands for all."""
    tests = [f"{name} is not None"] if argument.type.is_optional else []
    if not argument.type.is_list or argument.type.list_size is not None:
        tests.append(f"{name}.__class__ is not int")
    return " and ".join(tests)
