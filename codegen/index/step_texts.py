"""Prints the steps of scans and folds that many threads of a device share, an element at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..formula.python import python_function
from ..model.formula import Argument, walk
from ..model.index import Statement
from ..model.loops import Loop, LoopProgram, Nest, Phase
from .associative import Associative, Part, associative_of, folded_of
from .device import DeviceNestWriter, DeviceWriter
from .writer import ScanText, python_name


def scan_text(
    loops: LoopProgram, phase: Phase, name: str, exact: Collection[str], has_mask: bool
) -> ScanText | None:
    """A launch as steps; None if no threads may share its rows."""
    (nest, *others) = phase.nests
    if nest.is_fold:
        found = folded_of(nest) if all(_is_of_item(each) for each in others) else None
    else:
        found = associative_of(nest) if not others else None
    if found is None:
        return None
    lanes, phase = phase.lanes, replace(phase, lanes=None)
    writer = StepWriter(loops, phase, f"{name}_step", exact, has_mask)
    (step,) = nest.inner if nest.is_fold else nest.outer
    writer.associative, writer.along = found, step
    joined = f"{name}_joined"
    return ScanText(
        writer.launch(),
        joined,
        python_function(found.joined, joined),
        step.index,
        step.is_reversed,
        phase.scans_along == step.index or (lanes is not None and lanes.is_dense),
        tuple(writer.start(part) for part in found.parts),
        tuple(part.statement.type for part in found.parts),
        nest.is_fold,
        lanes.columns if lanes is not None and nest.is_fold else None,
    )


def _is_of_item(nest: Nest) -> bool:
    """Whether a nest has no loop: it is of one element."""
    loops = (*nest.outer, *nest.inner, *([nest.vector] if nest.vector else []))
    return not (loops or nest.over_batch or nest.is_fold or nest.scattered)


class StepWriter(DeviceWriter):
    """The function of one element: what it alone comes to, or where its value is stored."""

    associative: Associative
    along: Loop

    @property
    def nest_writer(self) -> type[DeviceNestWriter]:
        """What prints a nest."""
        return StepNestWriter

    def body(self) -> None:
        """The first nest has the others in it."""
        self.items()
        StepNestWriter(self, self.phase.nests[0]).write()
        self.depth = 1

    @property
    def part_names(self) -> list[str]:
        """What the parts are called."""
        return [f"part{number}" for number in range(len(self.associative.parts))]

    @property
    def first_parameters(self) -> tuple[str, ...]:
        """The item's indices, the step, and what it has come to; `reads`: whether it is asked."""
        return (*super().first_parameters, python_name(self.along.index), "reads", *self.part_names)

    def closing(self) -> list[str]:
        """What the element comes to."""
        return [f"    return {', '.join(self.part_names)}"]

    def start(self, part: Part) -> str:
        """What stands before the first element."""
        return DeviceNestWriter(self, self.phase.nests[0]).literal(part.start, part.statement.type)


class StepNestWriter(DeviceNestWriter):
    """The only nest, without its loop."""

    def write(self) -> None:
        writer = self.writer
        assert isinstance(writer, StepWriter)
        pairs = list(zip(writer.associative.parts, writer.part_names, strict=True))
        depth = writer.depth
        self.indent("if reads:")
        for part, name in pairs:
            self.put(f"{name} = {self.value(_alone(part))}")
        writer.depth = depth
        self.indent("else:")
        for part, name in pairs:
            if part.is_value:
                self.store(part.statement, name)
        for nest in writer.phase.nests[1:]:
            DeviceNestWriter(writer, nest).write()
        writer.depth = depth


def _alone(part: Part) -> Statement:
    """A statement whose value is what one element alone comes to."""
    formula = replace(part.statement.formula, outputs=(part.element,))
    used = {each.name for each in walk(formula.outputs) if isinstance(each, Argument)}
    reads = tuple(each for each in part.statement.reads if each.name in used)
    return replace(part.statement, formula=formula, reads=reads)
