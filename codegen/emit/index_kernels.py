"""What an index program is in the generated package: functions, and the record that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..index import device
from ..index.python import launch_texts
from ..index.scans import has_costly_elements, has_costly_steps, waits
from ..index.step_texts import scan_text
from ..index.window_texts import window_text
from ..index.writer import LaunchText, ProductText, ScanText, WindowText
from ..model.index import IndexProgram, Tensor
from ..model.loops import LoopProgram, Nest, Phase
from ..model.operator import OUTPUT_MASK, PROGRAM, Dispatch, Operator
from ..model.place import (
    BatchSize,
    of,
)
from ..record import record
from . import index_extents, translate
from .breaking import INDENT
from .flow import flowed, tuple_of
from .index_sharing import Functions, Launches, Lines

BATCH_SIZE = str(of(BatchSize()))
"""What the runtime tells: how many elements `...` stands for."""


@record
class ProgramText:
    """One operator's part of the module."""

    functions: tuple[str, ...]
    """Loops, in order, and the function that tells extents from sizes."""
    name: str
    variable: str
    """What the record is called in its module: the operator's, or the one without a last index."""
    fields: tuple[str, ...]
    """Keywords of the record and their values, as lines."""
    launches: tuple[Lines, ...]
    """What each launch is made of, as lines."""
    on_device: tuple[Lines, ...]
    """The same of launches on a device."""
    on_long_rows: tuple[Lines, ...]
    """The same of those where rows are few and long."""
    shared: tuple[Lines, ...] = ()
    """Definitions of launches that stand here first, and again."""


def shared(programs: Sequence[ProgramText]) -> Iterator[ProgramText]:
    """The programs of one module, where equal launches are one."""
    launches = Launches.of(record for each in programs for record in _records(each))
    for each in programs:
        yield replace(
            each,
            shared=launches.defined(_records(each)),
            launches=launches.listed(each.launches),
            on_device=launches.listed(each.on_device),
            on_long_rows=launches.listed(each.on_long_rows),
        )


def _records(program: ProgramText) -> tuple[Lines, ...]:
    return (*program.launches, *program.on_device, *program.on_long_rows)


def program_text(
    operator: Operator,
    name: str,
    loops: LoopProgram,
    on_device: LoopProgram | None,
    further: Mapping[str, str],
    known: Functions,
    variable: str = PROGRAM,
    on_long_rows: LoopProgram | None = None,
    is_on_host: bool = True,
) -> ProgramText:
    """All that is emitted of one program. further: fields of the record, as text. known: the
    functions of its module. on_long_rows: the launches on a device where rows are few and long.
    is_on_host: whether the loops are emitted; else there is what tells sizes, and the launches on a
    device."""
    program = loops.program
    is_wide = operator.has_tag("computes_in_double")
    converts = operator.schema.argument("dtype") is not None or is_wide or program.divides
    exact = [] if converts else _numbers(operator.promoted, program)
    has_mask = operator.schema.argument(OUTPUT_MASK) is not None
    own: tuple[LaunchText, ...] = ()
    if is_on_host:
        texts = launch_texts(loops, name, exact, has_mask)
        own = tuple(_with_window(launch, loops, exact, has_mask) for launch in texts)
    devices = tuple(_on_device(on_device, name, exact, has_mask)) if on_device else ()
    others: tuple[LaunchText, ...] = ()
    if on_long_rows is not None:
        others = tuple(_on_device(on_long_rows, f"{name}_long", exact, has_mask))
    functions: list[str] = []
    own = _known(own, known, functions)
    devices = _known(devices, known, functions)
    others = _known(others, known, functions)
    launches = own + devices + others
    tensors = program.tensors
    measured, measure = index_extents.measure(operator, program, f"{name}_extents")
    if measure:
        measured, added = known.named(measured, measure)
        functions += added
    fields = (
        ("arguments", translate.names_tuple(a.name for a in operator.arguments)),
        ("inputs", _forms(program.inputs, program)),
        ("results", _forms((tensors[each] for each in program.results), program)),
        *(_temporaries("temporaries", loops, loops) if is_on_host else ()),
        *_temporaries("on_device_temporaries", on_device),
        *_temporaries("long_rows_temporaries", on_long_rows),
        ("integers", translate.names_tuple(program.integers)),
        ("indices", translate.names_tuple(program.extent)),
        ("measure", measured),
        *([("dims", _dims(launches))] if _dims(launches) else []),
        *_properties(operator, loops, has_single="single" in further),
        *further.items(),
    )
    lines = tuple(line for field in fields for line in _flowed([field], INDENT))
    parts = tuple(_flowed(_launch(each), 3 * INDENT) for each in own)
    further_parts, last_parts = (
        tuple(_flowed(_device_launch(each), 3 * INDENT) for each in some)
        for some in (devices, others)
    )
    return ProgramText(tuple(functions), name, variable, lines, parts, further_parts, last_parts)


def _properties(
    operator: Operator, loops: LoopProgram, has_single: bool
) -> Iterator[tuple[str, str]]:
    """What is said of a program only where it is so."""
    program, kind = loops.program, operator.kind
    nests = [nest for phase in loops.phases for nest in phase.nests]
    pays = has_costly_elements if _gives_folds(program) else has_costly_steps
    flags = {
        "moves": program.moves,
        "divides": program.divides,
        "compares": program.compares,
        "gives_parts": program.gives_parts,
        "is_wide": operator.has_tag("computes_in_double"),
        "costly": has_single and any(map(pays, nests)),
    }
    yield from ((name, "True") for name, is_so in flags.items() if is_so)
    if program.named:
        yield "named", f'"{program.named}"'
    if begins := _begins(program):
        yield "begins", begins
    if isinstance(kind, Dispatch) and kind.aliasing:
        yield "in_place", "True"


def _known(
    launches: Iterable[LaunchText], known: Functions, functions: list[str]
) -> tuple[LaunchText, ...]:
    """Launches of functions that their module knows; the texts of new ones are added."""
    found = []
    for given in launches:
        launch, texts = known.launch(given)
        found.append(launch)
        functions += texts
    return tuple(found)


def _flowed(fields: Sequence[tuple[str, str]], depth: int) -> tuple[str, ...]:
    """The lines of keywords, without what they are indented by."""
    return tuple(line[depth:] for line in flowed((f"{k}={v}" for k, v in fields), depth))


def _dims(launches: Iterable[LaunchText]) -> str:
    """The sizes that launches take: of which tensor, and of which dim."""
    numbers = dict.fromkeys(each for each in _integers(launches) if each != BATCH_SIZE)
    named = [each[len("size(") : -1].split(", ") for each in numbers if each.startswith("size(")]
    return tuple_of([f'("{tensor}", {dim})' for tensor, dim in named]) if named else ""


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
    tensors = program.tensors
    return [name for name in names if name in tensors and tensors[name].type == "number"]


def _gives_folds(program: IndexProgram) -> bool:
    """Whether all results are what is left of rows."""
    ranks = [program.tensors[each].rank for each in program.results]
    return max(ranks) < max((each.rank for each in program.inputs), default=0)


def _begins(program: IndexProgram) -> str:
    """Which argument each result begins from that does; '' if none does."""
    inputs = {each.name for each in program.inputs}
    found = []
    for name in program.results:
        fold = program.statement(name).fold
        if fold is not None and fold.start is not None and fold.start.tensor in inputs:
            found.append(f'"{name}": "{fold.start.tensor}"')
    return f"{{{', '.join(found)}}}" if found else ""


def _temporaries(
    key: str, loops: LoopProgram | None, dense: LoopProgram | None = None
) -> Iterator[tuple[str, str]]:
    """The tensors in between, if there are any."""
    if loops is not None and loops.temporaries:
        tensors = loops.program.tensors
        yield key, _forms((tensors[each] for each in loops.temporaries), loops.program, dense)


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


def _window(window: WindowText) -> str:
    names = translate.names_tuple
    launch = ", ".join(f"{key}={value}" for key, value in _launch(window.launch))
    return f"Window(Launch({launch}), {names(window.folded)}, {names(window.literals)})"


def _scan(scan: ScanText) -> str:
    names = translate.names_tuple
    launch = ", ".join(f"{key}={value}" for key, value in _device_launch(scan.launch))
    flags = f'"{scan.index}", {scan.is_reversed}, {scan.is_dense}'
    parts = f"{names(scan.starts)}, {names(scan.types)}" + (", True" if scan.folds else "")
    parts += f', "{scan.columns}"' if scan.columns is not None else ""
    return f"Scan(Launch({launch}), {scan.joined}, {flags}, {parts})"


def _product(product: ProductText) -> str:
    names = translate.names_tuple
    parts = (product.tensors, product.indices, product.extents, product.integers)
    return f"Product({product.name}, {', '.join(map(names, parts))})"


def _launch(launch: LaunchText) -> tuple[tuple[str, str], ...]:
    phase = launch.phase
    names = translate.names_tuple
    work = [names(each) for nest in phase.nests for each in _loops_of(nest, phase)]
    over_batch = any(nest.over_batch for nest in phase.nests)
    ranges = next((nest.ranges for nest in phase.nests if nest.ranges), None)
    return (
        ("function", launch.name),
        ("arrays", names(launch.arrays)),
        ("writes", names(launch.writes)),
        *([("extents", names(launch.extents))] if launch.extents else []),
        *([("integers", names(launch.integers))] if launch.integers else []),
        *([("numbers", names(launch.numbers))] if launch.numbers else []),
        *([("has_batch", "True")] if phase.has_batch else []),
        *([("items", names(phase.items))] if phase.items else []),
        *([("spread", f'"{phase.spread}"')] if phase.spread is not None else []),
        *([("runs_batch", "True")] if phase.runs_batch else []),
        *([("over_batch", "True")] if over_batch else []),
        ("work", tuple_of(work)),
        *([("ranges", names(ranges))] if ranges else []),
        *([("light", "True")] if phase.is_light else []),
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
        if launch.phase.keyed is not None:
            fields = (*fields, ("keyed", translate.names_tuple(launch.phase.keyed)))
    if launch.reach:
        products = [f"({factor}, {translate.names_tuple(names)})" for factor, names in launch.reach]
        fields = (*fields, ("reach", tuple_of(products)))
    if launch.scan is not None:
        fields = (*fields, ("scan", _scan(launch.scan)))
    if launch.refused:
        fields = (*fields, ("refused", translate.names_tuple(launch.refused)))
    return fields


def _looks(launch: LaunchText) -> str:
    return f'("{launch.looks}", {_quoted(launch.along)})'


def _quoted(name: str | None) -> str:
    return "None" if name is None else f'"{name}"'
