"""What a tensor inside `vmap` has in place of memory: the tensor of all its samples.

The record is that of any tensor (`runtime.core.tensor`): its sizes and strides are those of one
sample, its key says the layout, its storage is a `BatchedStorage`. Nested maps nest such tensors.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.size import make_size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build

_LAYOUT_BITS = keys.LAYOUT_MASK << keys.LAYOUT_SHIFT
_BATCHED = layouts.batched.index << keys.LAYOUT_SHIFT


class BatchedStorage(Storage):
    """All samples of a tensor inside `vmap`, along dim 0; level: which map it belongs to."""

    __slots__ = ("level", "value")
    is_resizable = False

    def __init__(self, value: Tensor, level: int) -> None:
        self.value = value
        self.level = level

    @property
    def version(self) -> int:
        """How often the samples have been written in place."""
        return self.value._version

    @version.setter
    def version(self, count: int) -> None:
        """The samples count their writes themselves."""

    @property
    def buffer(self) -> Any:
        """There is none of a single sample.

        Raises: RuntimeError, for what would follow the elements of one sample.
        """
        raise errors.one_sample_of_many()

    def check_readable(self) -> None:
        """Raise RuntimeError: there is no memory of a single sample."""
        raise errors.one_sample_of_many()

    def __getitem__(self, index: Any) -> Any:
        raise errors.one_sample_of_many()

    def __reduce__(self) -> Any:
        raise errors.one_sample_of_many()

    def nbytes(self) -> int:
        """Size of all samples in bytes."""
        return int(self.value.nbytes)

    def data_ptr(self) -> int:
        """There is none. Raises: RuntimeError."""
        raise errors.one_sample_of_many()

    def is_shared(self) -> bool:
        """Whether other processes can have the samples, too."""
        return bool(self.value._storage.is_shared())


def batch(value: Tensor, level: int) -> Tensor:
    """One sample, seen by the function that a map runs, of a tensor whose dim 0 counts them.

    It takes part in autograd if all samples do, whose history records it.
    """
    sizes = make_size(value._sizes[1:])
    key = value._key & ~(keys.ZERO_DIM | keys.OVERRIDES | _LAYOUT_BITS) | _BATCHED
    storage = BatchedStorage(value, level)
    return build(key if sizes else key | keys.ZERO_DIM, sizes, value._strides[1:], 0, storage)


def is_batched(value: object) -> bool:
    """Whether it is a tensor that stands for one sample of many."""
    return isinstance(value, Tensor) and value._key & _LAYOUT_BITS == _BATCHED


def samples_of(tensor: Tensor) -> BatchedStorage:
    """The samples of a batched tensor, and their level."""
    storage = tensor._shared
    assert isinstance(storage, BatchedStorage)
    return storage


def level_of(value: Any) -> int:
    """The level of the map whose samples a value is one of; 0 of none."""
    if not isinstance(value, Tensor):
        return 0
    storage = value._shared
    return storage.level if storage.__class__ is BatchedStorage else 0


def any_true(tensor: Tensor) -> bool:
    """Whether any element is true, of all samples: for checks of what was given."""
    elements = whole(tensor)
    return bool(elements if elements.numel() == 1 else elements.any())


def whole(tensor: Tensor) -> Tensor:
    """All samples of a tensor, of all maps, along leading dims; of another it itself."""
    while is_batched(tensor):
        tensor = samples_of(tensor).value
    return tensor


def like_samples(tensor: Tensor, other: object) -> Tensor:
    """A tensor, repeated for every sample that another stands for and it does not."""
    if not isinstance(other, Tensor):
        return tensor
    own, level = level_of(tensor), level_of(other)
    if max(own, level) == 0:
        return tensor
    if own < level:
        storage = samples_of(other)
        spread = tensor.expand(storage.value._sizes[0], *tensor._sizes)
        return batch(like_samples(spread, storage.value), level)
    inner = samples_of(other).value if own == level else other
    return batch(like_samples(samples_of(tensor).value, inner), own)
