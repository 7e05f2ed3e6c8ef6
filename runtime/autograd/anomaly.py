"""Anomaly mode: says which forward line a failing or NaN-producing backward belongs to."""

from __future__ import annotations

import traceback
from typing import Any

from torchgen_out._runtime.autograd.node import Node
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops

is_on = False
checks_nan = True

_TRACEBACK, _PARENT = "traceback_", "parent_"
_creator: list[Node] = []


def is_anomaly_enabled() -> bool:
    """Return whether anomaly mode is on."""
    return is_on


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly mode refuses NaN gradients, or will where it is on."""
    return checks_nan


def set_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode for all threads."""
    global is_on, checks_nan
    is_on = mode
    checks_nan = check_nan


class detect_anomaly:
    """Record forward tracebacks, print the one of a node that fails, and refuse NaN gradients.

    Slow: for debugging only.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
        )

    def __enter__(self) -> None:
        self.before = is_on, checks_nan
        set_enabled(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        set_enabled(*self.before)


class set_detect_anomaly:
    """Switch anomaly mode at once; as a context manager, until its end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = is_on, checks_nan
        set_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_enabled(*self.before)


def remember(node: Node) -> None:
    """Keep the traceback of the call that makes `node`, and the node whose backward makes it."""
    node.metadata[_TRACEBACK] = traceback.format_stack()[:-2]
    if _creator:
        node.metadata[_PARENT] = _creator[-1]


def apply(node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run a node under watch: nodes that it records are its children, failures are reported."""
    _creator.append(node)
    try:
        results = node.apply(*grads)
        if checks_nan:
            refuse_nan(node, results)
    except BaseException:
        report(node)
        raise
    finally:
        _creator.pop()
    return results


def report(node: Node) -> None:
    """Warn with the forward traceback of `node` and of the nodes whose backward made it."""
    stack = node.metadata.get(_TRACEBACK)
    if stack is None:
        warn(
            f"Error detected in {node.name()}. No forward pass information available. "
            "Enable detect anomaly during forward pass for more information.",
        )
        return
    formula = (type(node).__doc__ or "").strip()
    warn(
        f"Error detected in {node.name()}. Its derivative formula:\n    {formula}\n"
        f"Traceback of forward call that caused the error:\n{''.join(stack)}",
    )
    parent = node.metadata.get(_PARENT)
    while parent is not None:
        warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call "
            f"that induced the previous calculation:\n"
            f"{''.join(parent.metadata.get(_TRACEBACK, ['unknown']))}",
        )
        parent = parent.metadata.get(_PARENT)


def refuse_nan(node: Node, grads: Any) -> None:
    """Raise if a gradient that `node` has made holds a NaN."""
    for position, grad in enumerate(grads):
        if grad is not None and bool(ops.isnan(grad).any()):
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {position}th output."
            )


public.place("autograd", detect_anomaly, set_detect_anomaly)
