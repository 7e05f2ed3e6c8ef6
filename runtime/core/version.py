"""Which PyTorch the library answers for, in the words in which programs ask."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from torchgen_out._runtime import config
from torchgen_out._runtime.core import public

__all__ = ["TorchVersion", "__version__", "cuda", "debug", "git_version", "hip", "torchgen", "xpu"]

_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>\d*))?"
    r"(?P<post>-(?P<post_implicit>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
_PRE = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc"}
_BEFORE, _AFTER = -1, 1


def _key(text: str) -> tuple[Any, ...] | None:
    """Return what orders versions; None for a text that is none. **Source** PEP 440."""
    match = _VERSION.fullmatch(text.strip().lower())
    if match is None:
        return None
    part = match.groupdict()
    release = [int(each) for each in part["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    pre: tuple[Any, ...] = (_AFTER,)
    if part["pre"]:
        pre = (0, _PRE.get(part["pre"], part["pre"]), int(part["pre_number"] or 0))
    elif part["dev"] and not part["post"]:
        pre = (_BEFORE,)
    post = int(part["post_implicit"] or part["post_number"] or 0) if part["post"] else _BEFORE
    dev = (0, int(part["dev_number"] or 0)) if part["dev"] else (_AFTER, 0)
    local = tuple(
        (1, int(each), "") if each.isdigit() else (0, 0, each)
        for each in re.split(r"[-_.]", part["local"] or "")
        if each
    )
    return int(part["epoch"] or 0), tuple(release), pre, post, dev, local


class TorchVersion(str):
    """A version that compares with texts, tuples of numbers and `packaging`'s versions.

    **Example**

        >>> TorchVersion("2.13.0+torchgen") > "2.9"
        True
        >>> TorchVersion("2.13.0+torchgen") >= (2, 14)
        False
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def _pair(self, other: Any) -> tuple[Any, Any]:
        """Return what stands for both: their order as versions, or as texts if one is none."""
        if isinstance(other, Iterable) and not isinstance(other, str):
            other = ".".join(str(each) for each in other)
        own, their = _key(self), _key(str(other))
        return (str(self), str(other)) if own is None or their is None else (own, their)

    def __lt__(self, other: Any) -> bool:
        own, their = self._pair(other)
        return bool(own < their)

    def __le__(self, other: Any) -> bool:
        own, their = self._pair(other)
        return bool(own <= their)

    def __eq__(self, other: object) -> bool:
        own, their = self._pair(other)
        return bool(own == their)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __gt__(self, other: Any) -> bool:
        own, their = self._pair(other)
        return bool(own > their)

    def __ge__(self, other: Any) -> bool:
        own, their = self._pair(other)
        return bool(own >= their)


__version__ = TorchVersion("2.13.0+torchgen")
"""The PyTorch whose names and behaviour the library has; `torchgen` is its own version."""
torchgen = config.VERSION
debug = False
cuda: str | None = None
"""The CUDA that a PyTorch was built for: nothing of this library is built for one."""
hip: str | None = None
xpu: str | None = None
git_version = "Unknown"


public.place_all("torch_version", globals())
