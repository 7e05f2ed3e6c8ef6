"""`Store`: keys and values that all processes of a job see; what every kind of store offers.

A kind of store carries out requests (`_request`); the methods that users call are written once.
A store from outside may override the methods themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from torchgen_out._runtime.core import public

Seconds = timedelta | float


def encode(value: str | bytes) -> bytes:
    """The bytes of a key or value. **Raises** TypeError for anything but str and bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"keys and values of a store are str or bytes, not {type(value).__name__}")


def seconds_of(timeout: Seconds) -> float:
    """A time-out in seconds."""
    return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)


class Store:
    """Keys and values that all processes see. Values are bytes; nothing in them is executed."""

    def __init__(self) -> None:
        self._timeout = timedelta(seconds=300)

    def _request(self, operation: str, arguments: list[bytes], timeout: float) -> list[bytes]:
        """Carry out a request; wait at most `timeout` seconds for the keys that it needs."""
        raise NotImplementedError(f"{type(self).__name__} does not override {operation!r}")

    def _ask(self, operation: str, *arguments: str | bytes) -> list[bytes]:
        timeout = self._timeout.total_seconds()
        return self._request(operation, [encode(each) for each in arguments], timeout)

    @property
    def timeout(self) -> timedelta:
        """How long requests wait for keys."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Let requests wait for keys so long."""
        self._timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Let a key have a value."""
        self._ask("set", key, value)

    def get(self, key: str) -> bytes:
        """Return the value of a key; wait until it has one. **Raises** DistStoreError."""
        return self._ask("get", key)[0]

    def add(self, key: str, amount: int) -> int:
        """Add to the number that a key counts, 0 at first; return the sum."""
        return int(self._ask("add", key, b"%d" % amount)[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Put bytes behind those that the key has."""
        self._ask("append", key, value)

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all keys have values."""
        return self._ask("check", *keys) == [b"1"]

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Replace an expected value (an empty one: none); return what the key has then."""
        return self._ask("compare_set", key, expected_value, desired_value)[0]

    def delete_key(self, key: str) -> bool:
        """Forget a key; return whether it had a value."""
        return self._ask("delete_key", key) == [b"1"]

    def num_keys(self) -> int:
        """Return how many keys have values."""
        return int(self._ask("num_keys")[0])

    def list_keys(self) -> list[str]:
        """Return the keys that have values."""
        return [key.decode(errors="replace") for key in self._ask("list_keys")]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Return the values of several keys; wait until all have one."""
        return self._ask("multi_get", *keys)

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Let several keys have values."""
        pairs = zip(keys, values, strict=True)
        self._ask("multi_set", *[each for pair in pairs for each in pair])

    def wait(self, keys: Sequence[str], timeout: Seconds | None = None) -> None:
        """Wait until all keys have values. **Raises** DistStoreError after the time-out."""
        seconds = seconds_of(self._timeout if timeout is None else timeout)
        self._request("wait", [encode(key) for key in keys], seconds)

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of a key's queue."""
        self._ask("queue_push", key, value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of a key's queue; wait for one, or raise QueueEmptyError."""
        timeout = self._timeout.total_seconds() if block else 0.0
        return self._request("queue_pop", [encode(key)], timeout)[0]

    def queue_len(self, key: str) -> int:
        """Return how many values a key's queue has."""
        return int(self._ask("queue_len", key)[0])

    def has_extended_api(self) -> bool:
        """Return whether `append`, `multi_get` and `multi_set` work."""
        return True

    def clone(self) -> Store:
        """Return a store over the same keys, for another thread."""
        return self


class PrefixStore(Store):
    """A store within another: all its keys begin with `prefix/`.

    It calls the other's methods, so that stores from outside work below it, too.
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self._prefix, self._store = prefix, store

    @property
    def underlying_store(self) -> Store:
        """The store below."""
        return self._store

    @property
    def timeout(self) -> timedelta:
        return self._store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        self._store.set_timeout(timeout)

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: str | bytes) -> None:
        self._store.set(self._key(key), value)

    def get(self, key: str) -> bytes:
        return self._store.get(self._key(key))

    def add(self, key: str, amount: int) -> int:
        return self._store.add(self._key(key), amount)

    def append(self, key: str, value: str | bytes) -> None:
        self._store.append(self._key(key), value)

    def check(self, keys: Sequence[str]) -> bool:
        return self._store.check([self._key(key) for key in keys])

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        return self._store.compare_set(self._key(key), expected_value, desired_value)

    def delete_key(self, key: str) -> bool:
        return self._store.delete_key(self._key(key))

    def num_keys(self) -> int:
        return self._store.num_keys()

    def list_keys(self) -> list[str]:
        own = f"{self._prefix}/"
        return [key[len(own) :] for key in self._store.list_keys() if key.startswith(own)]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        return self._store.multi_get([self._key(key) for key in keys])

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        self._store.multi_set([self._key(key) for key in keys], values)

    def wait(self, keys: Sequence[str], timeout: Seconds | None = None) -> None:
        own = [self._key(key) for key in keys]
        self._store.wait(own) if timeout is None else self._store.wait(own, timeout)

    def queue_push(self, key: str, value: str | bytes) -> None:
        self._store.queue_push(self._key(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        return self._store.queue_pop(self._key(key), block)

    def queue_len(self, key: str) -> int:
        return self._store.queue_len(self._key(key))

    def clone(self) -> PrefixStore:
        return PrefixStore(self._prefix, self._store.clone())


def is_store(candidate: Any) -> bool:
    """Return whether an object can serve as a store."""
    return isinstance(candidate, Store)


public.place("distributed", Store, PrefixStore)
