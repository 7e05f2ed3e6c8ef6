"""How a node's slots are spelled: filled at the call, read in backward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..model.expression import Save
from ..model.plan import Keep, NodePlan, Slot, Writes
from ..record import record

_PARTS = {
    Save.DTYPE: "{}.dtype",
    Save.DEVICE: "{}.device",
    Save.LAYOUT: "{}.layout",
    Save.NDIM: "{}.ndim",
    Save.NUMEL: "{}.numel()",
    Save.SIZES: "{}._sizes",
    Save.STRIDES: "{}._strides",
    Save.STORAGE_OFFSET: "{}._offset",
    Save.VALUE: "{}",
}


@record
class Assignment:
    """`target = value`."""

    target: str
    value: str


@record
class Block:
    """Assignments that are made together: always, or under a condition."""

    condition: str
    """Empty for always."""
    assignments: tuple[Assignment, ...]


def slot(saved: Slot) -> str:
    """The name of a slot."""
    return f"saved_{saved.value.local}"


def load(saved: Slot, local: Mapping[str, str]) -> Assignment:
    """Reading a slot in backward."""
    value = f"node.{slot(saved)}"
    if saved.keep is Keep.TENSORS:
        value = f"unpack_all({value}, node)"
    elif saved.keep.is_tensor:
        value = f"unpack({value}, node)"
    return Assignment(local.get(saved.value.local, saved.value.local), value)


def saves(plan: NodePlan, saved: Iterable[Slot], local: Mapping[str, str]) -> tuple[Block, ...]:
    """Filling slots at the call: what the same gradients need in one block."""
    blocks: dict[str, list[Assignment]] = {}
    for each in saved:
        condition = " or ".join(f"needs_{name}" for name in each.needed_by)
        filled = Assignment(f"node.{slot(each)}", _kept(plan, each, local))
        blocks.setdefault(condition, []).append(filled)
    return tuple(Block(condition, tuple(made)) for condition, made in blocks.items())


def keeps_written(plan: NodePlan) -> bool:
    """Whether the call keeps an argument that one of its variants is about to write to."""
    is_kept = any(each.keep is Keep.WRITTEN for each in plan.saved)
    return is_kept and plan.writes is Writes.IN_PLACE


def _kept(plan: NodePlan, saved: Slot, local: Mapping[str, str]) -> str:
    value = saved.value
    if value.is_result:
        several = len(plan.operator.schema.returns) > 1
        source = f"result[{value.result_index}]" if several else "result"
    else:
        source = local[value.name]
    match saved.keep:
        case Keep.TENSOR:
            return f"save({source})"
        case Keep.OPERAND:
            return f"save_operand({source})"
        case Keep.WRITTEN:
            return f"{'save_original' if plan.writes is Writes.ALWAYS else 'keep'}({source})"
        case Keep.TENSORS:
            return f"save_all({source})"
        case Keep.RESULT:
            return f"save_result({source}, {value.result_index})"
    part = _PARTS[value.what]
    argument = None if value.is_result else plan.operator.schema.argument(value.name)
    if argument is not None and argument.type.is_tensor_list and value.what is not Save.VALUE:
        return f"[{part.format('each')} for each in {source}]"
    return part.format(source)
