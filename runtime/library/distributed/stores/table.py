"""What a store does to its keys, wherever they are kept: one function per request, no waiting.

A request is the name of an operation and a list of byte strings, and so is its answer. Nothing in
a key or value is ever interpreted, but for the decimal numbers that `add` counts in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from torchgen_out._runtime.library.distributed import errors

Answer = list[bytes]
MOST_BYTES = 1 << 30
"""What all keys and values of one store may take together."""


class Refused(ValueError):
    """A request that cannot be answered: the sentence goes back to whoever asked."""


class Table:
    """Keys and values, and queues beside them."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.queues: dict[bytes, deque[bytes]] = {}
        self._bytes = 0

    def answer(self, operation: str, arguments: list[bytes]) -> Answer | None:
        """Carry out a request. None: it has to wait for a key.

        **Raises** Refused if there is no such operation, or its arguments do not fit.
        """
        found = _OPERATIONS.get(operation)
        if found is None or (found[0] >= 0 and len(arguments) != found[0]):
            raise Refused(f"no operation {operation!r} of {len(arguments)} arguments")
        return found[1](self, arguments)

    def _put(self, key: bytes, value: bytes) -> None:
        before = self.values.get(key)
        self._grow(len(value) - len(before) if before is not None else len(key) + len(value))
        self.values[key] = value

    def _grow(self, by: int) -> None:
        if self._bytes + by > MOST_BYTES:
            raise Refused(f"the store is full: it takes {MOST_BYTES} bytes")
        self._bytes += by

    def _has(self, key: bytes) -> bool:
        return key in self.values or bool(self.queues.get(key))

    def set(self, arguments: list[bytes]) -> Answer:
        self._put(*arguments)
        return []

    def get(self, arguments: list[bytes]) -> Answer | None:
        value = self.values.get(arguments[0])
        return None if value is None else [value]

    def add(self, arguments: list[bytes]) -> Answer:
        key, amount = arguments
        try:
            total = int(self.values.get(key, b"0")) + int(amount)
        except ValueError:
            raise Refused(f"add: the value of {key!r} is no number") from None
        self._put(key, b"%d" % total)
        return [b"%d" % total]

    def append(self, arguments: list[bytes]) -> Answer:
        key, more = arguments
        self._put(key, self.values.get(key, b"") + more)
        return []

    def check(self, arguments: list[bytes]) -> Answer:
        return [b"%d" % all(map(self._has, arguments))]

    def wait(self, arguments: list[bytes]) -> Answer | None:
        return [] if all(map(self._has, arguments)) else None

    def compare_set(self, arguments: list[bytes]) -> Answer:
        key, expected, desired = arguments
        before = self.values.get(key)
        if before is None and expected:
            return [expected]
        if before is None or before == expected:
            self._put(key, desired)
            return [desired]
        return [before]

    def delete_key(self, arguments: list[bytes]) -> Answer:
        value = self.values.pop(arguments[0], None)
        if value is not None:
            self._grow(-len(arguments[0]) - len(value))
        return [b"%d" % (value is not None)]

    def num_keys(self, arguments: list[bytes]) -> Answer:
        return [b"%d" % len(self.values)]

    def list_keys(self, arguments: list[bytes]) -> Answer:
        return list(self.values)

    def multi_get(self, arguments: list[bytes]) -> Answer | None:
        if not all(key in self.values for key in arguments):
            return None
        return [self.values[key] for key in arguments]

    def multi_set(self, arguments: list[bytes]) -> Answer:
        if len(arguments) % 2:
            raise Refused("multi_set: as many values as keys are needed")
        for key, value in zip(arguments[::2], arguments[1::2], strict=True):
            self._put(key, value)
        return []

    def queue_push(self, arguments: list[bytes]) -> Answer:
        key, value = arguments
        self._grow(len(key) + len(value))
        self.queues.setdefault(key, deque()).append(value)
        return []

    def queue_pop(self, arguments: list[bytes]) -> Answer | None:
        (key,) = arguments
        queue = self.queues.get(key)
        if not queue:
            return None
        value = queue.popleft()
        self._grow(-len(key) - len(value))
        if not queue:
            del self.queues[key]
        return [value]

    def queue_len(self, arguments: list[bytes]) -> Answer:
        return [b"%d" % len(self.queues.get(arguments[0], ()))]

    def ping(self, arguments: list[bytes]) -> Answer:
        return arguments


_Method = Callable[[Table, list[bytes]], "Answer | None"]
_OPERATIONS: dict[str, tuple[int, _Method]] = {
    "set": (2, Table.set),
    "get": (1, Table.get),
    "add": (2, Table.add),
    "append": (2, Table.append),
    "check": (-1, Table.check),
    "wait": (-1, Table.wait),
    "compare_set": (3, Table.compare_set),
    "delete_key": (1, Table.delete_key),
    "num_keys": (0, Table.num_keys),
    "list_keys": (0, Table.list_keys),
    "multi_get": (-1, Table.multi_get),
    "multi_set": (-1, Table.multi_set),
    "queue_push": (2, Table.queue_push),
    "queue_pop": (1, Table.queue_pop),
    "queue_len": (1, Table.queue_len),
    "ping": (-1, Table.ping),
}
"""Name -> how many arguments it has, -1 for any number, and what it does."""
OPERATIONS = tuple(_OPERATIONS)
CHANGES = frozenset(
    {"set", "add", "append", "compare_set", "delete_key", "multi_set", "queue_push", "queue_pop"}
)
"""Operations after which others may go on, and which a file has to remember."""


def timed_out(operation: str, arguments: list[bytes], seconds: float) -> errors.DistStoreError:
    """The keys that were waited for have not come."""
    keys = ", ".join(f"/{key.decode(errors='replace')}" for key in arguments[:8])
    kind = errors.QueueEmptyError if operation == "queue_pop" else errors.DistStoreError
    return kind(f"{operation} timeout after {seconds * 1000:.0f}ms, keys: {keys}")
