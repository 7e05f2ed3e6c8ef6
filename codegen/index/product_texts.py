"""Prints where the elements of a contraction are, which the runtime makes strides of."""

from __future__ import annotations

from ..model.index import Access
from .writer import ProductText, Writer, own_places, python_name


def product_text(writer: Writer) -> ProductText | None:
    """The function of a launch that is a contraction. writer: one that has printed nothing."""
    phase = writer.phase
    if phase.product is None:
        return None
    (nest,) = phase.nests
    (statement,) = nest.statements
    assert statement.fold is not None
    own = Access(statement.target, statement.has_batch, own_places(statement))
    accesses = (own, *phase.product)
    rows = [_tuple([writer.place(place) for place in each.places]) for each in accesses]
    rows.append(_tuple([writer.place(test.place) for test in statement.fold.where]))
    indices = tuple(dict.fromkeys(statement.loops))
    parameters = [*map(python_name, indices), *(f"n_{name}" for name in writer.extents)]
    parameters += writer.integers.values()
    name = f"{writer.name}_places"
    lines = [
        f"def {name}({', '.join(parameters)}):",
        '    """Places in the result and in both factors; what is at least 0 where they are."""',
        f"    return {', '.join(rows)}",
    ]
    return ProductText(
        name,
        "\n".join(lines) + "\n",
        (own.tensor, phase.product[0].tensor, phase.product[1].tensor),
        indices,
        tuple(writer.extents),
        tuple(str(place) for place in writer.integers),
    )


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
