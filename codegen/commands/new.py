"""python -m codegen new OP: add the skeleton of an operator to both YAML files."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from .. import library, project
from ..errors import CodegenError, SourceLocation
from ..model.program import Program
from ..project import Project, seen_from_here
from . import definitions, lookup, skeletons

_NAME = re.compile(r"[a-z_][a-z0-9_]*(\.[A-Za-z]\w*)?")


class Refusal(Exception):
    """The operator cannot be added; nothing was written."""


def main(arguments: list[str]) -> int:
    """Add one operator."""
    parser = argparse.ArgumentParser(prog=f"{library.COMMAND} new", description=__doc__)
    parser.add_argument("operator", help="its name, perhaps with an overload: scale, scale.Tensor")
    parser.add_argument("--kind", choices=skeletons.KINDS, default="pointwise", help="how it runs")
    parser.add_argument(
        "--nargs",
        type=int,
        default=1,
        choices=range(1, skeletons.MOST_ARGUMENTS + 1),
        help="how many tensors it takes",
    )
    parser.add_argument("--after", metavar="OP", help="put it below this operator; else at the end")
    project.add_arguments(parser)
    options = parser.parse_args(arguments)
    chosen = project.chosen(options, parser)
    if chosen.is_installed:
        print(project.INSTALLED, file=sys.stderr)
        return 1
    try:
        skeleton = skeletons.KINDS[options.kind](options.operator, options.nargs)
        added = add(chosen, options.operator, skeleton, options.after)
    except (CodegenError, Refusal, lookup.UnknownOperator) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.operator} is at {' and '.join(added)}. What remains:")
    print("\n".join(f"  - {each}" for each in (*skeleton.todo, "the documentation")))
    print(f"Then: {_commands(chosen, options.operator)}")
    return 0


def add(
    chosen: Project, name: str, skeleton: skeletons.Skeleton, after: str | None = None
) -> list[str]:
    """Write the entries into both files; comments and everything else stay as they are.

    Returns the places. Raises: Refusal or CodegenError before anything is written.
    """
    if not _NAME.fullmatch(name):
        raise Refusal(
            f"'{name}' is no operator name: it has lower-case letters, digits and underscores, "
            "perhaps a dot and the name of an overload, as in scale or scale.Tensor"
        )
    program = _read(chosen)
    _refuse_existing(program, name)
    entries = [(chosen.functions, skeleton.function, _operator_place(program, name, after))]
    if skeleton.derivative:
        if chosen.derivatives is None:
            raise Refusal(f"'{name}' needs a derivative: give --derivatives")
        place = _derivative_place(program, name, after)
        entries.append((chosen.derivatives, skeleton.derivative, place))
    return [_insert(file, text, place) for file, text, place in entries]


def _read(chosen: Project) -> Program:
    """Read what there is; the files of a package outside the tree may be begun here."""
    missing = [
        file for file in (chosen.functions, chosen.derivatives) if file and not file.exists()
    ]
    for file in missing if chosen.base else ():
        file.touch()
    return chosen.read()


def _refuse_existing(program: Program, name: str) -> None:
    current: Program | None = program
    while current is not None:
        for operator in current.operators:
            taken = set(lookup.names(operator))
            is_overload = operator.base_name == name.partition(".")[0] and "." in name
            if name in taken or (name.partition(".")[0] in taken and not is_overload):
                place = definitions.shown_location(operator.where)
                raise Refusal(f"'{name}' exists already, at {place}: {operator.schema}")
        current = current.base


def _operator_place(program: Program, name: str, after: str | None) -> SourceLocation | None:
    """The entry below which the new one belongs: the last of its family, or the one named."""
    family = program.families.get(name.partition(".")[0], ())
    operators = family or (lookup.find(program, after) if after else ())
    return operators[-1].where if operators else None


def _derivative_place(program: Program, name: str, after: str | None) -> SourceLocation | None:
    family = program.families.get(name.partition(".")[0], ())
    operators = family or (lookup.find(program, after) if after else ())
    places = [d.where for o in operators if (d := program.derivative(o)) is not None]
    return places[-1] if places else None


def _insert(file: Path, text: str, place: SourceLocation | None) -> str:
    """Insert an entry below the one at `place`, or at the end; return its own place."""
    lines = file.read_text(encoding="utf-8").split("\n")
    at = _end_of_entry(lines, place.line - 1 if place else None)
    above = [""] if at else []
    below = [""] if at < len(lines) and lines[at].strip() else []
    lines[at:at] = [*above, *text.rstrip("\n").split("\n"), *below]
    file.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    return f"{seen_from_here(file)}:{at + len(above) + 1}"


def _end_of_entry(lines: list[str], start: int | None) -> int:
    """Where an entry ends; comments above the next one stay there."""
    end = len(lines)
    if start is not None:
        end = next((i for i in range(start + 1, end) if lines[i].startswith("- ")), end)
        while end > start + 1 and _is_between(lines[end - 1]):
            end -= 1
        return end
    while end and not lines[end - 1].strip():
        end -= 1
    return end


def _is_between(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _commands(chosen: Project, name: str) -> str:
    options = f" {chosen.options()}" if chosen.base else ""
    command = library.COMMAND
    return f"{command}{options}; {command} verify {name}{options}"
