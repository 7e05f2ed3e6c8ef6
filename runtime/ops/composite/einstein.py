"""einsum: sums of products in Einstein's notation, contracted two operands at a time by bmm."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from runtime.core.tensor import Tensor

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
    parsed = parse(equation)
    _check_operand_count(parsed, tensors)
    covered = [
        _ellipsis_dims(labels, tensor, index)
        for index, (labels, tensor) in enumerate(zip(parsed.inputs, tensors, strict=True))
    ]
    broadcast = [f"...{i}" for i in range(max(covered))]
    inputs = [
        _spell_out(labels, broadcast[len(broadcast) - count :])
        for labels, count in zip(parsed.inputs, covered, strict=True)
    ]
    output = _output_labels(parsed, inputs, broadcast)
    sizes = _sizes_by_label(inputs, tensors)
    terms = [_take_diagonals(*term) for term in zip(inputs, tensors, strict=True)]
    return _contract_all(terms, output, sizes, path)


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


def _check_operand_count(parsed: Equation, tensors: Sequence[Any]) -> None:
    if len(parsed.inputs) != len(tensors):
        word = "fewer" if len(tensors) < len(parsed.inputs) else "more"
        raise _error(f"{word} operands were provided than specified in the equation")


def _ellipsis_dims(labels: list[str], tensor: Any, index: int) -> int:
    """How many dims of an operand its ellipsis covers."""
    named = len(labels) - (ELLIPSIS in labels)
    ndim = tensor.ndim
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


def _sizes_by_label(inputs: list[list[str]], tensors: Sequence[Any]) -> dict[str, int]:
    """The size of each label; sizes of 1 broadcast."""
    sizes: dict[str, int] = {}
    for index, (labels, tensor) in enumerate(zip(inputs, tensors, strict=True)):
        own: dict[str, int] = {}
        for label, size in zip(labels, tensor.shape, strict=True):
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


# Contracting.

Term = tuple[list[str], Any]


def _take_diagonals(labels: list[str], tensor: Any) -> Term:
    """A label that one operand repeats selects the diagonal."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            tensor = tensor.diagonal(0, first, second)
            labels = [x for i, x in enumerate(labels) if i not in (first, second)] + [label]
    return labels, tensor


def _contract_all(
    terms: list[Term], output: list[str], sizes: dict[str, int], path: Sequence[int] | None
) -> Any:
    pairs = iter(zip(path[::2], path[1::2], strict=True)) if path else None
    while len(terms) > 1:
        i, j = sorted(next(pairs)) if pairs else (0, 1)
        second, first = terms.pop(j), terms.pop(i)
        needed = set(output).union(*(labels for labels, _ in terms))
        merged = _contract_pair(first, second, needed)
        if pairs:
            terms.append(merged)
        else:
            terms.insert(0, merged)
    return _finish(terms[0], output, sizes)


def _contract_pair(first: Term, second: Term, needed: set[str]) -> Term:
    """One bmm: labels of both that are needed are the batch, the others of both are summed."""
    labels_a, a = _sum_unneeded(first, needed.union(second[0]))
    labels_b, b = _sum_unneeded(second, needed.union(labels_a))
    batch = [x for x in labels_a if x in labels_b and x in needed]
    summed = [x for x in labels_a if x in labels_b and x not in needed]
    only_a = [x for x in labels_a if x not in labels_b]
    only_b = [x for x in labels_b if x not in labels_a]
    a, b, summed = _sum_broadcast(labels_a, a, labels_b, b, summed)
    sizes = _joint_sizes(labels_a, a, labels_b, b)
    left = _matrices(labels_a, a, batch, only_a, summed, sizes)
    right = _matrices(labels_b, b, batch, summed, only_b, sizes)
    labels = batch + only_a + only_b
    return labels, left.bmm(right).reshape([sizes[x] for x in labels])


def _sum_unneeded(term: Term, needed: set[str]) -> Term:
    """Sum over the labels that nobody else mentions."""
    labels, tensor = term
    dims = [i for i, label in enumerate(labels) if label not in needed]
    if not dims:
        return term
    return [label for label in labels if label in needed], tensor.sum(dims)


def _sum_broadcast(
    labels_a: list[str], a: Any, labels_b: list[str], b: Any, summed: list[str]
) -> tuple[Any, Any, list[str]]:
    """Where one side of a summed label has size 1, sum the other side over it."""
    for label in summed:
        dim_a, dim_b = labels_a.index(label), labels_b.index(label)
        if a.shape[dim_a] == 1 and b.shape[dim_b] != 1:
            b = b.sum(dim_b, keepdim=True)
        elif b.shape[dim_b] == 1 and a.shape[dim_a] != 1:
            a = a.sum(dim_a, keepdim=True)
    return a, b, summed


def _joint_sizes(labels_a: list[str], a: Any, labels_b: list[str], b: Any) -> dict[str, int]:
    sizes = dict(zip(labels_a, a.shape, strict=True))
    for label, size in zip(labels_b, b.shape, strict=True):
        if sizes.get(label, 1) == 1:
            sizes[label] = size
    return sizes


def _matrices(
    labels: list[str],
    tensor: Any,
    batch: list[str],
    rows: list[str],
    columns: list[str],
    sizes: dict[str, int],
) -> Any:
    """The operand as (batch, rows, columns), each a product of labels."""
    order = batch + rows + columns
    tensor = tensor.permute([labels.index(label) for label in order])
    tensor = tensor.expand([sizes[x] for x in batch] + list(tensor.shape[len(batch) :]))
    return tensor.reshape([prod(sizes[x] for x in part) for part in (batch, rows, columns)])


def _finish(term: Term, output: list[str], sizes: dict[str, int]) -> Any:
    """Sum what the output does not name, and order the rest."""
    labels, tensor = _sum_unneeded(term, set(output))
    missing = [label for label in output if label not in labels]
    for label in missing:
        labels, tensor = [*labels, label], tensor.unsqueeze(-1)
    if labels != output:
        tensor = tensor.permute([labels.index(label) for label in output])
    wanted = [sizes.get(label, 1) for label in output]
    return tensor if list(tensor.shape) == wanted else tensor.expand(wanted)
