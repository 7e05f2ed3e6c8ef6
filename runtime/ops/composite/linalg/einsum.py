"""einsum: sums of products in Einstein's notation, two operands at a time by bmm or mul."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple

from torchgen_out._runtime.core.tensor import Tensor

ELLIPSIS = "..."


class Equation(NamedTuple):
    """One list of labels per operand, and one of the result; an ellipsis is the label '...'."""

    inputs: list[list[str]]
    output: list[str] | None


def einsum(equation: str, tensors: Sequence[Any], path: Sequence[int] | None = None) -> Any:
    """Contract `tensors` as `equation` says, left to right or along `path`.

    path: pairs of operand positions, as opt_einsum writes them, flattened.
    **Raises** RuntimeError naming the operand or subscript at fault.
    """
    if isinstance(tensors, Tensor):
        tensors = [tensors]
    if not tensors:
        raise _error("must provide at least one operand")
    shapes = tuple([tensor._sizes for tensor in tensors])
    stack = list(tensors)
    for step in plan(equation, shapes, None if path is None else tuple(path)):
        step(stack)
    return stack[0]


@lru_cache(maxsize=1024)
def plan(
    equation: str, shapes: tuple[tuple[int, ...], ...], path: tuple[int, ...] | None
) -> list[Step]:
    """What to do with a list of operands of these shapes, step by step, until one is left."""
    parsed = parse(equation)
    _check_operand_count(parsed, shapes)
    covered = [
        _ellipsis_dims(labels, shape, index)
        for index, (labels, shape) in enumerate(zip(parsed.inputs, shapes, strict=True))
    ]
    broadcast = [f"...{i}" for i in range(max(covered))]
    inputs = [
        _spell_out(labels, broadcast[len(broadcast) - count :])
        for labels, count in zip(parsed.inputs, covered, strict=True)
    ]
    output = _output_labels(parsed, inputs, broadcast)
    sizes = _sizes_by_label(inputs, shapes)
    steps: list[Step] = []
    terms = [
        _take_diagonals(steps, i, Term(list(labels), list(shape)))
        for i, (labels, shape) in enumerate(zip(inputs, shapes, strict=True))
    ]
    last = _contract_all(steps, terms, output, path)
    _finish(steps, last, output, sizes)
    return steps


# Reading the equation.


def parse(equation: str) -> Equation:
    """Split an equation into labels; without '->' the output is None."""
    left, arrow, right = equation.partition("->")
    inputs = []
    position = 0
    for index, text in enumerate(left.split(",")):
        inputs.append(_labels(text, f"operand {index}", position))
        position += len(text) + 1
    return Equation(inputs, _labels(right, "output", len(left) + 2) if arrow else None)


def _labels(text: str, owner: str, position: int) -> list[str]:
    """The labels of one operand or of the output; `position` is where its text starts."""
    labels: list[str] = []
    i = 0
    while i < len(text):
        char = text[i]
        if char == ".":
            if ELLIPSIS in labels:
                raise _error(f"found '.' for {owner} for which an ellipsis was already found")
            if text[i : i + 3] != ELLIPSIS:
                suffix = " (...)" if owner == "output" else ""
                raise _error(f"found '.' for {owner} that is not part of any ellipsis{suffix}")
            labels.append(ELLIPSIS)
            i += 3
            continue
        if char != " ":
            if not (char.isascii() and char.isalpha()):
                raise _error(
                    f"invalid subscript given at index {position + i} in the equation string, "
                    "subscripts must be in [a-zA-Z]"
                )
            labels.append(char)
        i += 1
    return labels


def _check_operand_count(parsed: Equation, shapes: Sequence[Any]) -> None:
    if len(parsed.inputs) != len(shapes):
        word = "fewer" if len(shapes) < len(parsed.inputs) else "more"
        raise _error(f"{word} operands were provided than specified in the equation")


def _ellipsis_dims(labels: list[str], shape: Sequence[int], index: int) -> int:
    """How many dims of an operand its ellipsis covers."""
    named = len(labels) - (ELLIPSIS in labels)
    ndim = len(shape)
    if ELLIPSIS not in labels:
        if named != ndim:
            raise _error(
                f"the number of subscripts in the equation ({named}) does not match the number "
                f"of dimensions ({ndim}) for operand {index} and no ellipsis was given"
            )
        return 0
    if named > ndim:
        raise _error(
            f"the number of subscripts in the equation ({named}) is more than the number of "
            f"dimensions ({ndim}) for operand {index}"
        )
    return int(ndim - named)


def _spell_out(labels: list[str], broadcast: list[str]) -> list[str]:
    """Replace the ellipsis by one label per dim it covers."""
    if ELLIPSIS not in labels:
        return labels
    at = labels.index(ELLIPSIS)
    return labels[:at] + broadcast + labels[at + 1 :]


def _output_labels(parsed: Equation, inputs: list[list[str]], broadcast: list[str]) -> list[str]:
    """The output as given, or by default: the broadcast dims, then labels seen once, sorted."""
    seen = [label for labels in inputs for label in labels]
    if parsed.output is None:
        once = sorted(x for x in set(seen) - set(broadcast) if seen.count(x) == 1)
        return broadcast + once
    output = _spell_out(parsed.output, broadcast)
    for label in output:
        if output.count(label) > 1:
            raise _error(f"output subscript {label} appears more than once in the output")
        if label not in seen and label not in broadcast:
            raise _error(
                f"output subscript {label} does not appear in the equation for any input operand"
            )
    return output


def _sizes_by_label(inputs: list[list[str]], shapes: Sequence[Any]) -> dict[str, int]:
    """The size of each label; sizes of 1 broadcast."""
    sizes: dict[str, int] = {}
    for index, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        own: dict[str, int] = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise _error(
                    f"subscript {label} is repeated for operand {index} but the sizes don't "
                    f"match, {size} != {own[label]}"
                )
        for label, size in own.items():
            known = sizes.get(label, 1)
            if known != size and known != 1 and size != 1:
                raise _error(
                    f"subscript {label} has size {size} for operand {index} which does not "
                    f"broadcast with previously seen size {known}"
                )
            sizes[label] = size if known == 1 else known
    return sizes


def _error(message: str) -> RuntimeError:
    return RuntimeError(f"einsum(): {message}")


# Contracting. The steps are worked out on labels and sizes, and run on tensors.

Step = Callable[[list[Any]], None]


class Term(NamedTuple):
    """An operand on its way: the label and the size of each dim."""

    labels: list[str]
    sizes: list[int]

    def size(self, label: str) -> int:
        """The size of a label's dim."""
        return self.sizes[self.labels.index(label)]

    def long_labels(self) -> list[str]:
        """The labels of dims that a product does not broadcast."""
        return [x for x, size in zip(self.labels, self.sizes, strict=True) if size != 1]


def _on(steps: list[Step], i: int, change: Callable[[Any], Any]) -> None:
    """Add a step that replaces operand i."""

    def step(stack: list[Any]) -> None:
        stack[i] = change(stack[i])

    steps.append(step)


def _diagonal(x: Tensor, first: int, second: int) -> Tensor:
    return x.diagonal(0, first, second)


def _take_diagonals(steps: list[Step], i: int, term: Term) -> Term:
    """A label that one operand repeats selects the diagonal."""
    labels, sizes = list(term.labels), list(term.sizes)
    for label in dict.fromkeys(term.labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            _on(steps, i, partial(_diagonal, first=first, second=second))
            kept = [k for k in range(len(labels)) if k not in (first, second)]
            size = sizes[first]
            labels, sizes = [labels[k] for k in kept], [sizes[k] for k in kept]
            labels.append(label)
            sizes.append(size)
    return Term(labels, sizes)


def _contract_all(
    steps: list[Step], terms: list[Term], output: list[str], path: Sequence[int] | None
) -> Term:
    pairs = iter(zip(path[::2], path[1::2], strict=True)) if path else None
    while len(terms) > 1:
        i, j = sorted(next(pairs)) if pairs else (0, 1)
        others = (term.long_labels() for k, term in enumerate(terms) if k not in (i, j))
        place = len(terms) - 2 if pairs else 0
        merged = _contract_pair(steps, i, j, terms, place, output, set[str]().union(*others))
        del terms[j], terms[i]
        terms.insert(place, merged)
    return terms[0]


def _contract_pair(
    steps: list[Step],
    i: int,
    j: int,
    terms: list[Term],
    place: int,
    output: list[str],
    others: set[str],
) -> Term:
    """One product: labels of both that are needed are the batch, the others of both are summed.

    The operand with the first label of the output is the left one, so that most results of two
    operands lie in the output's order. Where no label is summed over the product is mul's, which
    promotes: whole numbers that were summed before are int64, the other operand's may be int8.
    """
    needed = others.union(output)
    a = _squeeze(steps, i, terms[i], needed.union(terms[j].labels))
    a = _sum_over(steps, i, a, needed.union(terms[j].labels))
    b = _squeeze(steps, j, terms[j], needed.union(a.labels))
    b = _sum_over(steps, j, b, needed.union(a.labels))
    batch = [x for x in a.labels if x in b.labels and x in needed]
    summed = [x for x in a.labels if x in b.labels and x not in needed]
    is_elementwise = all(1 in (a.size(x), b.size(x)) for x in summed)
    a = _sum_broadcast(steps, i, a, [x for x in summed if b.size(x) == 1])
    b = _sum_broadcast(steps, j, b, [x for x in summed if a.size(x) == 1])
    rows = [x for x in a.labels if x not in b.labels]
    columns = [x for x in b.labels if x not in a.labels]
    sizes = {x: max(a.size(x), b.size(x)) if 0 not in (a.size(x), b.size(x)) else 0 for x in batch}
    sizes |= {x: a.size(x) for x in rows + summed} | {x: b.size(x) for x in columns}
    turned = next((x in columns for x in output if x in rows + columns), False)
    if turned:
        _as_matrices(steps, i, a, batch, summed, rows, sizes)
        _as_matrices(steps, j, b, batch, columns, summed, sizes)
        labels = batch + columns + rows
    else:
        _as_matrices(steps, i, a, batch, rows, summed, sizes)
        _as_matrices(steps, j, b, batch, summed, columns, sizes)
        labels = batch + rows + columns
    shape = [sizes[x] for x in labels]

    def multiply(stack: list[Any]) -> None:
        right, left = stack.pop(j), stack.pop(i)
        if turned:
            left, right = right, left
        if is_elementwise:
            product = left.mul(right)
        elif batch:
            product = left.bmm(right)
        else:
            product = left.mm(right)
        stack.insert(place, product if list(product._sizes) == shape else product.reshape(shape))

    steps.append(multiply)
    return Term(labels, shape)


def _sum_over(steps: list[Step], i: int, term: Term, needed: set[str]) -> Term:
    """Sum over the labels that nobody else mentions."""
    dims = [k for k, label in enumerate(term.labels) if label not in needed]
    if not dims:
        return term
    _on(steps, i, lambda x: x.sum(dims))
    kept = [k for k in range(len(term.labels)) if k not in dims]
    return Term([term.labels[k] for k in kept], [term.sizes[k] for k in kept])


def _squeeze(steps: list[Step], i: int, term: Term, needed: set[str]) -> Term:
    """Drop dims of size 1 that nobody else mentions: a sum would make int64 of whole numbers."""
    dims = [k for k, x in enumerate(term.labels) if x not in needed and term.sizes[k] == 1]
    if not dims:
        return term
    _on(steps, i, lambda x: x.squeeze(dims))
    kept = [k for k in range(len(term.labels)) if k not in dims]
    return Term([term.labels[k] for k in kept], [term.sizes[k] for k in kept])


def _sum_broadcast(steps: list[Step], i: int, term: Term, labels: list[str]) -> Term:
    """Sum over dims whose partner has size 1, keeping them."""
    dims = [term.labels.index(label) for label in labels if term.size(label) != 1]
    if not dims:
        return term
    _on(steps, i, lambda x: x.sum(dims, keepdim=True))
    return Term(term.labels, [1 if k in dims else size for k, size in enumerate(term.sizes)])


def _as_matrices(
    steps: list[Step],
    i: int,
    term: Term,
    batch: list[str],
    rows: list[str],
    columns: list[str],
    sizes: dict[str, int],
) -> None:
    """The operand as (batch, rows, columns), each a product of labels; without an empty batch."""
    order = [term.labels.index(label) for label in batch + rows + columns]
    if order != list(range(len(order))):
        _on(steps, i, lambda x: x.permute(order))
    shape = [term.sizes[k] for k in order]
    expanded = [sizes[label] for label in batch] + shape[len(batch) :]
    if expanded != shape:
        _on(steps, i, lambda x: x.expand(expanded))
    groups = [rows, columns] if not batch else [batch, rows, columns]
    matrix = [prod(sizes[label] for label in group) for group in groups]
    if matrix != expanded:
        _on(steps, i, lambda x: x.reshape(matrix))


def _finish(steps: list[Step], term: Term, output: list[str], sizes: dict[str, int]) -> None:
    """Sum what the output does not name, and order the rest."""
    term = _sum_over(steps, 0, term, set(output))
    labels, own = list(term.labels), list(term.sizes)
    for label in output:
        if label not in labels:
            _on(steps, 0, lambda x: x.unsqueeze(-1))
            labels.append(label)
            own.append(1)
    order = [labels.index(label) for label in output]
    if order != list(range(len(order))):
        _on(steps, 0, lambda x: x.permute(order))
    wanted = [sizes.get(label, 1) for label in output]
    if wanted != [own[k] for k in order]:
        _on(steps, 0, lambda x: x.expand(wanted))
