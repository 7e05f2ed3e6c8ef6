"""Selective checkpointing: keep what some operators gave, and compute the rest again.

Policies see calls below autograd, as PyTorch's dispatch modes do: from the first policy of a
process on, operators ask whether one watches. What is kept is given in backward in place of the
call, whose node is recorded as usual. Calls that write in place are not seen, and run again.
"""

from __future__ import annotations

import enum
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch import tables
from torchgen_out._runtime.dispatch.operator import Call, Operator, wrap_calls
from torchgen_out._runtime.library.programs import aten, pytree, pytree_maps

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]

SAC_IGNORED_OPS = {aten.aten.detach.default}
"""Operators that no policy is asked about: first and second call differ in them."""


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's result.

    PREFER and MUST mean the same where nothing is compiled, and CPU_OFFLOAD means RECOMPUTE.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVE = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy is told besides the call. op_output: what it gave; is_recompute: False."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


Policy = Callable[..., Any]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """Make the two contexts for `checkpoint`'s `context_fn`: of the first call and of the second.

    policy_fn_or_list: policy(context, operator, *args, **kwargs), which returns a
    `CheckpointPolicy`, or whether to save; or a list of operators, `torch.ops.aten.mm.default`, to
    save. allow_cache_entry_mutation: do not look whether what is kept was written to meanwhile.
    **Raises** ValueError for what is no overload in a list, TypeError for what is neither.
    """
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        saved = policy_fn_or_list
        for op in saved:
            if not isinstance(op, aten.OpOverload):
                raise _overload_expected(op)
        policy = lambda context, op, *args, **kwargs: op in saved  # noqa: E731
    elif not callable(policy):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    if wrap_calls(_watched):
        tables.forget_calls()
    kept: _Kept = defaultdict(list)
    return _First(policy, kept), _Second(kept, allow_cache_entry_mutation)


def _overload_expected(op: Any) -> ValueError:
    hint = ""
    if isinstance(op, aten.OpOverloadPacket):
        hint = (
            "Please update the OpOverloadPacket to a specific OpOverload."
            "For example, if you have `torch.ops.aten.mm`, change it to "
            "`torch.ops.aten.mm.default`."
        )
    return ValueError(
        f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}"
    )


# -- calls --------------------------------------------------------------------------------------


class _State(threading.local):
    """What watches the calls of a thread."""

    watcher: Any = None


_state = _State()


def _watched(operator: Operator, signature: tuple[Any, ...], call: Call) -> Call:
    """The call as the watcher of the thread has it; those that record come here below it."""
    if any(map(signatures.has_grad, signature)):
        return call
    op = _overload(operator.base_name, operator.name.partition(".")[2])
    if op is None or op in SAC_IGNORED_OPS:
        return call
    is_linear = op is aten.aten.linear.default

    def watched_call(*args: Any) -> Any:
        watcher = _state.watcher
        if watcher is None:
            return call(*args)
        _state.watcher = None  # what the call consists of is part of it
        try:
            return watcher.result(_product(args) if is_linear else op, call, args)
        finally:
            _state.watcher = watcher

    return watched_call


def _overload(name: str, overload: str) -> Any:
    """`torch.ops.aten.name.overload`; the default for an overload that has another name there.

    None for what is derived, and has no public name.
    """
    packet = getattr(aten.aten, name, None)
    if packet is None:
        return None
    return getattr(packet, overload if overload in packet.overloads() else "default")


def _product(args: tuple[Any, ...]) -> Any:
    """What policies know `linear` as, which PyTorch makes of a product."""
    return aten.aten.mm.default if args[2] is None else aten.aten.addmm.default


class _Watcher:
    """A context in which calls are watched. counts: how often each operator was called."""

    outer: Any

    def __init__(self, kept: _Kept) -> None:
        self.kept = kept
        self.counts: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self.counts.clear()
        self.outer, _state.watcher = _state.watcher, self
        return self

    def __exit__(self, *raised: object) -> None:
        _state.watcher = self.outer


class _Entry:
    """What is kept of a call: its result, until it is taken."""

    def __init__(self, value: Any) -> None:
        self.is_used = False
        self.value = pytree_maps.tree_map_only(Tensor, Tensor.detach, value)
        self.versions = self._versions()

    def _versions(self) -> list[int]:
        return [e._version for e in pytree.tree_leaves(self.value) if isinstance(e, Tensor)]

    def take(self, may_be_written: bool) -> Any:
        """The result, once."""
        if self.is_used:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once "
                "on any region computed under selective activation checkpoint."
            )
        if not may_be_written and self.versions != self._versions():
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        self.is_used = True
        value, self.value = self.value, None
        return pytree_maps.tree_map_only(Tensor, Tensor.detach, value)


_Kept = dict[Any, list[_Entry | None]]


class _First(_Watcher):
    """Ask the policy about each call."""

    def __init__(self, policy: Any, kept: _Kept) -> None:
        super().__init__(kept)
        self.policy = policy

    def result(self, op: Any, call: Call, args: tuple[Any, ...]) -> Any:
        """Call, and keep what the policy wants kept."""
        found = call(*args)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=found)
        policy = self.policy(context, op, *args)
        is_kept = policy is True or policy in _SAVE
        self.kept[op].append(_Entry(found) if is_kept else None)
        return found


class _Second(_Watcher):
    """Give what was kept."""

    def __init__(self, kept: _Kept, may_be_written: bool) -> None:
        super().__init__(kept)
        self.may_be_written = may_be_written

    def result(self, op: Any, call: Call, args: tuple[Any, ...]) -> Any:
        """The result that the first call of this number gave, or that of the call."""
        count, entries = self.counts[op], self.kept.get(op, ())
        self.counts[op] += 1
        if count >= len(entries):
            raise RuntimeError(
                f"{op} invocation index {count} encountered during backward but not found in "
                "storage. This can happen if the operations in the checkpointed region are "
                "nondeterministic or depend on global state that changed between forward and "
                "backward."
            )
        entry = entries[count]
        return call(*args) if entry is None else entry.take(self.may_be_written)


public.place_all("utils.checkpoint", globals())
