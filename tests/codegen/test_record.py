"""Records are what frozen dataclasses with slots are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from codegen.record import record

frozen = dataclasses.dataclass(frozen=True, slots=True)


def of_kind(make: Callable[[type], Any], name: str) -> Any:
    """The same class, made by the one or the other."""

    class Each:
        first: int
        second: tuple[int, ...] = ()
        apart: str = field(default="", compare=False, repr=False)
        names: dict[str, int] = field(default_factory=dict, kw_only=True)
        total: int = field(init=False, repr=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.first + sum(self.second))

    Each.__name__ = Each.__qualname__ = name
    return make(Each)


Record = of_kind(record, "Record")
Twin = of_kind(frozen, "Record")


@record
class Base:
    one: int


@record
class Derived(Base):
    two: int = 2


@record
class Named:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name.lower() == self.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


def test_what_is_told_and_taken_is_a_dataclasses() -> None:
    for make in (lambda T: T(1), lambda T: T(1, (2, 3), "x", names={"a": 1}), lambda T: T(first=4)):
        own, twin = make(Record), make(Twin)
        assert repr(own) == repr(twin)
        assert dataclasses.astuple(own) == dataclasses.astuple(twin)
        changed = dataclasses.replace(own, first=9)
        assert (changed.first, changed.second, changed.total) == (
            9,
            own.second,
            9 + sum(own.second),
        )
    assert [f.name for f in dataclasses.fields(Record)] == [
        f.name for f in dataclasses.fields(Twin)
    ]
    for wrong in ((), (1, (), "", {}), (1, 2, 3, 4, 5)):
        for T in (Record, Twin):
            with pytest.raises(TypeError):
                T(*wrong)


def test_equality_and_hashes_are_of_the_fields_that_are_compared() -> None:
    assert Record(1, (2,), "here") == Record(1, (2,), "there")
    assert Record(1) != Record(2)
    assert Record(1) != Twin(1)
    assert Derived(1) == Derived(1, 2) != Derived(1, 3)
    assert Base(1) != Derived(1)
    assert len({Derived(1), Derived(1, 2), Derived(2)}) == 2
    assert Named("a") == Named("A")
    assert len({Named("a"), Named("A")}) == 1


def test_a_field_is_set_once() -> None:
    each = Derived(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        each.two = 3  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del each.one
    with pytest.raises(AttributeError):
        object.__setattr__(each, "other", 1)
    assert not hasattr(each, "__dict__")


def test_copies_are_equal() -> None:
    each = Derived(1, 7)
    for made in (pickle.loads(pickle.dumps(each)), copy.copy(each), copy.deepcopy(each)):
        assert made == each
        assert made is not each
