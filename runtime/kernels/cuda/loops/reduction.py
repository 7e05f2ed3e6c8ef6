"""The kernels of reductions: folds of a reduction's four parts over any strides.

An output's place follows from the kept dims, an element's from the reduced ones. Slices of outputs
are stored as they are; a reduction of these makes the results.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.common.reduction import ReductionSpec
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops.fold_text import Fold, Part, folded
from torchgen_out._runtime.kernels.cuda.loops.pointwise import (
    DIVISOR,
    INDEX_TYPES,
    divide_text,
    inlined,
    load,
    place_text,
    storage_type,
    store,
)
from torchgen_out._runtime.kernels.cuda.rows import WARP, Group
from torchgen_out._runtime.kernels.vecmath import complex_source


class Walk(NamedTuple):
    """How many dims are kept and reduced, once neighbours are merged; and how far indices go.

    wide: whether 32 bits do not count the elements. partial: whether slices are stored instead of
    results.
    """

    kept: int
    reduced: int
    wide: bool
    partial: bool


@cache
def reduction_kernel(spec: ReductionSpec, walk: Walk, group: Group, threads: int) -> Source:
    """kernel(out, x, count, length, slices, chunk, total, *kept, *reduced, *scalars).

    count: outputs, of `length` elements each, cut into `slices` of `chunk`. total: how many
    elements make a result, for the projection. kept, reduced: divisors of the dims, then strides.
    threads: of a block.
    """
    loop = "columns" if group.is_of_columns else "rows" if group.threads > WARP else "groups"
    index = INDEX_TYPES[walk.wide]
    dims: list[str] = []
    for number in (walk.kept, walk.reduced):
        dims += [index, "uint32", "uint32"] * number + [index] * number
    written = spec.acc if walk.partial else spec.output
    types = (
        *(f"{storage_type(written)}*", f"{storage_type(spec.input)}*"),
        *(index, index, index, index, "int64", *dims),
        *[spec.compute.name] * spec.scalars,
    )
    name = f"{spec.name}_{loop}"
    title = f"{spec.name}: {spec.input.name} -> {spec.output.name}, {loop}"
    body = _functions(spec, walk) + "\n\n" + _kernel(spec, walk, group, threads)
    return Source(name, typed.text_of(title, spec.compute, body, walk.wide), types, threads)


def partial_spec(spec: ReductionSpec) -> ReductionSpec:
    """The reduction of partial results: elements are accumulators, and join by `combine`."""
    identity, _, combine, project = spec.parts
    parts = (identity, combine, combine, project)
    return ReductionSpec(f"{spec.name}_parts", parts, spec.acc, spec.output, spec.acc, spec.acc)


def _kernel(spec: ReductionSpec, walk: Walk, group: Group, threads: int) -> str:
    scalars = [f"scalar{i}" for i in range(spec.scalars)]
    kept, reduced = _Dims("kept", walk.kept), _Dims("reduced", walk.reduced)
    parameters = ["out", "x", "count", "length", "slices", "chunk", "total"]
    parameters += [*kept.parameters, *reduced.parameters, *scalars]
    stored = f"np.{storage_type(spec.acc)}"
    fold = Fold(
        (Part("A", "exchanged({}, {})", stored),),
        lambda one, other: f"combine({one}, {other})",
        None if spec.parts[0] is None else ("identity()",),
        lambda i: load(f"x[I(base + {reduced.place(i)})]", spec.input, spec.compute),
        lambda value, element: f"reduce({', '.join([value, element, *scalars])})",
    )
    ended = [f"out[I(item * slices + part)] = {_result(spec, walk)}"]
    lines = folded(fold, group, threads, [f"base = {kept.place('item')}"], ended)
    return "\n    ".join([f"def kernel({', '.join(parameters)}):", *lines]) + "\n"


class _Dims(NamedTuple):
    """Dims by which a number is decoded, as a kernel takes them: divisors, then strides."""

    name: str
    count: int

    @property
    def divisors(self) -> list[list[str]]:
        """The numbers of each, by which it divides."""
        return [[f"{self.name}_{part}{dim}" for part in DIVISOR] for dim in range(self.count)]

    @property
    def strides(self) -> list[str]:
        """The stride of each."""
        return [f"{self.name}_stride{dim}" for dim in range(self.count)]

    @property
    def parameters(self) -> list[str]:
        """All of them."""
        return [part for divisor in self.divisors for part in divisor] + self.strides

    def place(self, number: str) -> str:
        """Where an element lies."""
        if self.count == 1:  # of most kernels: a function less to compile
            return f"I({number} * {self.strides[0]})"
        divisors = ", ".join(f"({', '.join(divisor)})" for divisor in self.divisors)
        strides = ", ".join(self.strides)
        return f"{self.name}_place(({divisors},), {self.count}, ({strides},), {number})"


def _functions(spec: ReductionSpec, walk: Walk) -> str:
    """What a kernel calls: the parts under their four names, places, and an exchange of lanes."""
    sources = []
    names = ("identity", "reduce", "combine", "project")
    for part, function in zip(names, spec.parts, strict=True):
        if function is not None:
            source = complex_source.adapt(build.plain_source(function), spec.compute.name)
            sources.append(re.sub(r"^def \w+\(", f"def {part}(", source))
    places = place_text("kept_place", walk.kept) + place_text("reduced_place", walk.reduced)
    acc = f"A = np.{'bool_' if spec.acc.name == 'bool' else spec.acc.name}\n"
    return "\n\n".join(
        [
            acc + typed.shuffle_text("exchanged", "shuffled_across", spec.acc, "A"),
            divide_text(walk.wide),
            inlined("\n\n".join([*sources, places])),
        ]
    )


def _result(spec: ReductionSpec, walk: Walk) -> str:
    if walk.partial:
        return store("acc0", spec.acc)
    real = spec.acc.to_real()
    count = f"np.{real.name}(total)" if real.is_floating_point else "total"
    return store(f"project(acc0, {count})" if spec.parts[3] else "acc0", spec.output)
