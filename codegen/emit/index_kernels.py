"""What an index program is in the generated package: functions, and the record that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..index import device
from ..index.python import launch_texts
from ..index.scans import has_costly_steps, waits
from ..index.sizes import Sizes, size_of
from ..index.step_texts import scan_text
from ..index.text import access_text
from ..index.window_texts import window_text
from ..index.writer import LaunchText, ProductText, ScanText, WindowText, python_name
from ..model.index import ARGMAX, ARGMIN, IndexProgram, Tensor
from ..model.loops import LoopProgram, Nest, Phase
from ..model.operator import OUTPUT_MASK, PROGRAM, Operator
from ..model.place import (
    LOOKED_AT,
    Atom,
    BatchSize,
    Element,
    Function,
    Index,
    Parameter,
    Place,
    Size,
    of,
    spelled,
)
from . import translate
from .breaking import WIDTH

CHECKED_ELSEWHERE = ("least", "greatest", *LOOKED_AT)
"""Functions of places that are defined for all, or are looked at where they are read."""
BATCH_SIZE = str(of(BatchSize()))
"""What the runtime tells: how many elements `...` stands for."""


@dataclass(frozen=True, slots=True)
class ProgramText:
    """One operator's part of the module."""

    functions: tuple[str, ...]
    """Formulas and loops, in order."""
    measure: str
    """The function that tells extents from sizes."""
    name: str
    variable: str
    """What the record is called in its module: the operator's, or the one without a last index."""
    fields: tuple[tuple[str, str], ...]
    """Keywords of the record, as text."""
    launches: tuple[tuple[tuple[str, str], ...], ...]
    """Keywords of each launch."""
    on_device: tuple[tuple[tuple[str, str], ...], ...]
    """Keywords of each launch on a device."""


def program_text(
    operator: Operator,
    name: str,
    loops: LoopProgram,
    on_device: LoopProgram | None,
    further: Mapping[str, str],
    variable: str = PROGRAM,
) -> ProgramText:
    """All that is emitted of one program. further: fields of the record, as text."""
    program = loops.program
    is_wide = operator.has_tag("computes_in_double")
    is_costly = any(has_costly_steps(nest) for phase in loops.phases for nest in phase.nests)
    converts = operator.schema.argument("dtype") is not None or is_wide or program.divides
    exact = [] if converts else _numbers(operator.promoted, program)
    has_mask = operator.schema.argument(OUTPUT_MASK) is not None
    own = tuple(
        _with_window(launch, loops, exact, has_mask)
        for launch in launch_texts(loops, name, exact, has_mask)
    )
    devices = tuple(_on_device(on_device, name, exact, has_mask)) if on_device else ()
    launches = own + devices
    used = dict.fromkeys(_integers(launches))
    measures = [*program.extent, *(each for each in used if each != BATCH_SIZE)]
    tensors = program.tensors
    fields = (
        ("arguments", translate.names_tuple(a.name for a in operator.arguments)),
        ("inputs", _forms(program.inputs, program)),
        ("results", _forms((tensors[each] for each in program.results), program)),
        ("temporaries", _forms((tensors[each] for each in loops.temporaries), program, loops)),
        (
            "on_device_temporaries",
            _forms((tensors[n] for n in (on_device.temporaries if on_device else ())), program),
        ),
        ("integers", translate.names_tuple(program.integers)),
        ("measure", f"{name}_extents"),
        ("measures", translate.names_tuple(measures)),
        *([("moves", "True")] if program.moves else []),
        *([("divides", "True")] if program.divides else []),
        *([("compares", "True")] if program.compares else []),
        *([("is_wide", "True")] if is_wide else []),
        *([("costly", "True")] if is_costly and "single" in further else []),
        *([("begins", _begins(program))] if _begins(program) else []),
        *further.items(),
    )
    functions = tuple(_functions(launches))
    measure = "\n".join(_measure(operator, program, launches, name)) + "\n"
    fields_of = tuple(map(_launch, own)), tuple(map(_device_launch, devices))
    return ProgramText(functions, measure, name, variable, fields, *fields_of)


def _with_window(
    launch: LaunchText, loops: LoopProgram, exact: Sequence[str], has_mask: bool
) -> LaunchText:
    """A launch with its other form for windows, or that form alone if there is no need for two."""
    window = launch.phase.window
    if window is not None and window.is_cut:
        found = window_text(loops, launch.phase, launch.name, exact, has_mask)
        return found.launch if found else launch
    found = window_text(loops, launch.phase, f"{launch.name}_window", exact, has_mask)
    return replace(launch, window=found)


def _on_device(
    loops: LoopProgram, name: str, exact: Sequence[str], has_mask: bool
) -> Iterator[LaunchText]:
    for each in device.launch_texts(loops, name, exact, has_mask):
        yield replace(each, scan=scan_text(loops, each.phase, each.name, exact, has_mask))


def _numbers(names: Iterable[str], program: IndexProgram) -> list[str]:
    return [name for name in names if program.tensors[name].type == "number"]


def _begins(program: IndexProgram) -> str:
    """Which argument each result begins from that does; '' if none does."""
    inputs = {each.name for each in program.inputs}
    found = []
    for name in program.results:
        fold = program.statement(name).fold
        if fold is not None and fold.start is not None and fold.start.tensor in inputs:
            found.append(f'"{name}": "{fold.start.tensor}"')
    return f"{{{', '.join(found)}}}" if found else ""


def _forms(
    tensors: Iterable[Tensor], program: IndexProgram, loops: LoopProgram | None = None
) -> str:
    inputs = {each.name for each in program.inputs}
    rows = []
    for each in tensors:
        if each.name in inputs:
            indices: tuple[str, ...] = ("",) * each.rank
        else:
            indices = program.statement(each.name).indices
        kind = "" if each.type == "number" else f', "{each.type}"'
        dense = loops.dense.get(each.name) if loops else None
        if dense is not None and dense != indices[-1]:
            kind += f', dense="{dense}"'
        form = f"TensorForm({each.has_batch}, {translate.names_tuple(indices)}{kind})"
        rows.append(f'"{each.name}": {form}')
    return "{" + ", ".join(rows) + "}"


def _integers(launches: Iterable[LaunchText]) -> Iterator[str]:
    """The whole numbers that launches take."""
    for launch in launches:
        yield from launch.integers
        if launch.window is not None:
            yield from launch.window.launch.integers
        if launch.product is not None:
            yield from launch.product.integers
        if launch.scan is not None:
            yield from launch.scan.launch.integers


def _functions(launches: Iterable[LaunchText]) -> Iterator[str]:
    for launch in launches:
        yield launch.text
        if launch.window is not None:
            yield launch.window.launch.text
        if launch.product is not None:
            yield launch.product.text
        if launch.scan is not None:
            yield launch.scan.launch.text
            yield launch.scan.joined_text


def _window(window: WindowText) -> str:
    names = translate.names_tuple
    launch = ", ".join(f"{key}={value}" for key, value in _launch(window.launch))
    return f"Window(Launch({launch}), {names(window.folded)}, {names(window.literals)})"


def _scan(scan: ScanText) -> str:
    names = translate.names_tuple
    launch = ", ".join(f"{key}={value}" for key, value in _device_launch(scan.launch))
    flags = f'"{scan.index}", {scan.is_reversed}, {scan.is_dense}'
    parts = f"{names(scan.starts)}, {names(scan.types)}" + (", True" if scan.folds else "")
    return f"Scan(Launch({launch}), {scan.joined}, {flags}, {parts})"


def _product(product: ProductText) -> str:
    names = translate.names_tuple
    parts = (product.tensors, product.indices, product.extents, product.integers)
    return f"Product({product.name}, {', '.join(map(names, parts))})"


def _launch(launch: LaunchText) -> tuple[tuple[str, str], ...]:
    phase = launch.phase
    names = translate.names_tuple
    work = [names(each) for nest in phase.nests for each in _loops_of(nest, phase)]
    return (
        ("function", launch.name),
        ("arrays", names(launch.arrays)),
        ("writes", names(launch.writes)),
        ("extents", names(launch.extents)),
        ("integers", names(launch.integers)),
        ("numbers", names(launch.numbers)),
        ("has_batch", str(phase.has_batch)),
        ("items", names(phase.items)),
        ("spread", "None" if phase.spread is None else f'"{phase.spread}"'),
        ("runs_batch", str(phase.runs_batch)),
        ("over_batch", str(any(nest.over_batch for nest in phase.nests))),
        ("work", _tuple(work)),
        *([("tile", f'"{phase.tile}"')] if phase.tile else []),
        *([("product", _product(launch.product))] if launch.product else []),
        *([("window", _window(launch.window))] if launch.window else []),
        *([("waits", "True")] if any(map(waits, phase.nests)) else []),
        *([("looks", _looks(launch))] if launch.looks is not None else []),
    )


def _loops_of(nest: Nest, phase: Phase) -> Iterator[list[str]]:
    """The loops of a nest besides the items; a scatter first goes through its result."""
    loops = dict.fromkeys(name for each in nest.statements for name in each.loops)
    rest = [name for name in loops if name not in phase.items]
    if nest.scattered is None:
        yield rest
        return
    (statement,) = nest.statements
    yield [name for name in rest if name in statement.indices]
    yield [name for name in rest if name not in nest.scattered]


def _device_launch(launch: LaunchText) -> tuple[tuple[str, str], ...]:
    lanes, (nest, *_) = launch.phase.lanes, launch.phase.nests
    fields = _launch(launch)
    if lanes is not None:
        fields = (*fields, ("lanes", f'("{lanes.index}", {lanes.is_dense})'))
    if nest.scattered is not None:
        (statement,) = nest.statements
        assert statement.fold is not None
        start = statement.fold.start
        told = statement.target, statement.fold.kind, start.tensor if start else None
        fields = (*fields, ("scatter", f"({', '.join(map(_quoted, told))})"))
    if launch.reach:
        products = [f"({factor}, {translate.names_tuple(names)})" for factor, names in launch.reach]
        fields = (*fields, ("reach", _tuple(products)))
    if launch.scan is not None:
        fields = (*fields, ("scan", _scan(launch.scan)))
    if launch.refused:
        fields = (*fields, ("refused", translate.names_tuple(launch.refused)))
    return fields


def _looks(launch: LaunchText) -> str:
    return f'("{launch.looks}", {_quoted(launch.along)})'


def _quoted(name: str | None) -> str:
    return "None" if name is None else f'"{name}"'


def _tuple(values: Sequence[str]) -> str:
    return f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"


# -- extents --------------------------------------------------------------------------------


def _measure(
    operator: Operator, program: IndexProgram, launches: Iterable[LaunchText], name: str
) -> Iterator[str]:
    """The function from sizes and whole numbers to extents."""
    parameters = [*(each.name for each in program.inputs), *program.integers]
    known = {index: f"n_{index}" for index in program.extent}
    yield f"def {name}_extents({', '.join(map(python_name, parameters))}):"
    yield f'    """The extents of {", ".join(program.extent) or "no index"}; sizes must agree."""'
    called = operator.base_name
    for index, extent in program.extents:
        yield from (f"    {line}" for line in _defined(extent, called) if program.text)
        yield f"    {known[index]} = {_unwrapped(extent)}"
    for each in program.requirements:
        what = f"{each.extent}".replace('"', "'")
        call = f'"{called}", "{each.index}", {known[each.index]}, "{what}", {_whole(each.extent)}'
        yield f"    agree({call})"
    for index in _never_empty(program):
        yield f'    some("{called}", "{index}", {known[index]})'
    if program.text:
        yield from _all_defined(program, called, known)
        yield from _inside(program, called, known)
    integers: dict[str, str] = {}
    for number in _integers(launches):
        if number != BATCH_SIZE:
            integers.setdefault(number, number)
    values = [*known.values(), *(_number(each, program) for each in integers)]
    line = f"    return {', '.join(values) if len(values) > 1 else _tuple(values)}"
    if len(line) <= WIDTH:
        yield line
    else:
        yield from ("    return (", *(f"        {value}," for value in values), "    )")


def _never_empty(program: IndexProgram) -> Iterator[str]:
    """The indices of folds that need an element."""
    folds = [each.fold for each in program.statements if each.fold is not None]
    needy = [name for fold in folds if fold.kind in (ARGMAX, ARGMIN) for name in fold.indices]
    yield from dict.fromkeys(needy)


def _number(text: str, program: IndexProgram) -> str:
    """A whole number that a launch takes: an argument, or `size(x, -1)`."""
    if not text.startswith("size("):
        return python_name(text)
    tensor, dim = text.removeprefix("size(").removesuffix(")").split(", ")
    return f"{python_name(tensor)}[{dim}]"


def _whole(place: Place) -> str:
    """A place without indices, over sizes and arguments."""
    text = ""
    for monomial, factor in sorted(place.terms, key=lambda t: (not t[0], t[1] < 0)):
        parts = [_atom(atom) for atom in monomial]
        if abs(factor) != 1 or not parts:
            parts.insert(0, str(abs(factor)))
        part = " * ".join(parts)
        text = (
            f"{text} {'-' if factor < 0 else '+'} {part}"
            if text
            else part
            if factor > 0
            else f"-{part}"
        )
    return text or "0"


def _unwrapped(place: Place) -> str:
    """The same where nothing stands beside it: a quotient needs no brackets."""
    match list(place.terms):
        case [((Function("quotient" | "remainder"),), 1)]:
            return _whole(place)[1:-1]
    return _whole(place)


def _atom(atom: Atom) -> str:
    match atom:
        case Size(tensor, dim):
            return f"{python_name(tensor)}[{dim}]"
        case Parameter(name):
            return python_name(name)
        case Index(name):
            return f"n_{name}"
        case Function("quotient" | "remainder" as name, (first, second)):
            return f"(({_whole(first)}) {'//' if name == 'quotient' else '%'} ({_whole(second)}))"
        case Function("least" | "greatest" as name, (first, second)):
            return f"{'min' if name == 'least' else 'max'}({_whole(first)}, {_whole(second)})"
    raise AssertionError(atom)


def _all_defined(program: IndexProgram, called: str, known: dict[str, str]) -> Iterator[str]:
    """Checks of what statements compute of whole numbers, where they compute anything."""
    seen: set[tuple[str, str]] = set()
    for statement in program.statements:
        for place in statement.all_places:
            ranges = " and ".join(known[index] for index in place.indices) or "True"
            lines = [line for line in _defined(place, called) if (ranges, line) not in seen]
            seen |= {(ranges, line) for line in lines}
            if lines:
                yield f"    if {ranges}:"
            yield from (f"        {line}" for line in lines)


def _defined(place: Place, called: str) -> Iterator[str]:
    """Checks of what is not defined for all whole numbers.

    These are quotients by 0, unless an element of a tensor says so, and rules for what is outside a
    dim that has no inside; what is counted from the end is checked where it is read.
    """
    for atom in place.atoms:
        match atom:
            case Function(name, (_, second)) if name not in CHECKED_ELSEWHERE:
                if second.constant or any(isinstance(a, Index | Element) for a in second.atoms):
                    continue
                check = "nonzero" if name in ("quotient", "remainder") else "holds"
                yield f'{check}("{called}", "{spelled(atom)}", {_whole(second)})'


def _inside(program: IndexProgram, called: str, known: dict[str, str]) -> Iterator[str]:
    """Checks of places that move with indices and have no rule for outside.

    Those of an operand that move with an index under a condition are looked at where they are read.
    """
    sizes = Sizes(program)
    seen: set[str] = set()
    inputs = {each.name: each for each in program.inputs}
    for statement in program.statements:
        tests = statement.fold.where if statement.fold else ()
        tested = {name for test in tests for name in test.place.indices}
        reads = [each.source for each in statement.reads]
        for access in statement.accesses:
            if access.outside is not None:
                continue
            is_read = access.tensor in inputs and access in reads
            for dim, place in enumerate(access.places):
                size = size_of(program, access.tensor, dim)
                linear = all(place.is_linear_in(index) for index in place.indices) and not any(
                    isinstance(atom, Element | Function) for atom in place.atoms
                )
                if sizes.is_inside(place, size, tests):
                    continue
                if is_read and tested & set(place.indices):
                    continue  # where it is read
                measured = sizes.measured_ends(place)
                if not linear and measured is None:
                    continue
                if measured is None:
                    first, last = _linear_ends(place, known)
                else:
                    first, last = map(_whole, measured)
                text = access_text(access).replace('"', "'")
                line = f'within("{called}", "{text}", {first}, {last}, {_whole(size)})'
                ranges = [known[index] for index in place.indices]
                if line not in seen:
                    seen.add(line)
                    condition = " and ".join(ranges)
                    if condition:
                        yield f"    if {condition}:"
                        yield f"        {line}"
                    else:
                        yield f"    {line}"


def _linear_ends(place: Place, known: dict[str, str]) -> tuple[str, str]:
    """The least and the greatest of a sum of multiples of indices."""
    least, most, rest = [], [], place
    for index in place.indices:
        factor = _whole(place.coefficient(index))
        rest = rest.substitute({Index(index): Place()})
        least.append(f"min(0, ({factor}) * ({known[index]} - 1))")
        most.append(f"max(0, ({factor}) * ({known[index]} - 1))")
    return " + ".join([_whole(rest), *least]), " + ".join([_whole(rest), *most])
