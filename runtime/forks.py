"""What has to happen when the process forks, on systems where a process can."""

from __future__ import annotations

import os
from collections.abc import Callable

_at_fork = getattr(os, "register_at_fork", None)


def at_fork(
    *,
    before: Callable[[], object] | None = None,
    after_in_parent: Callable[[], object] | None = None,
    after_in_child: Callable[[], object] | None = None,
) -> None:
    """Call the functions around every fork, as `os.register_at_fork`; Windows has no forks."""
    if _at_fork is not None:
        given = {
            "before": before,
            "after_in_parent": after_in_parent,
            "after_in_child": after_in_child,
        }
        _at_fork(**{when: function for when, function in given.items() if function is not None})
