"""A pickle machine of our own: protocols 0 to 5, where every instruction says what it may touch.

Python's unpickler lets a pickle set attributes (BUILD), items and elements of whatever object it
has got hold of, and call every object it has reached. Here the instructions that make plain values
make them; those that change something change lists, dicts and sets only; and names, calls and
states are questions to a `Policy`.
"""

from __future__ import annotations

import codecs
import pickle
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, Protocol

from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.keys import check_key
from torchgen_out._runtime.library.serialization.source import ByteReader

_MAPPINGS = (dict, OrderedDict, Counter, defaultdict)
_MAX_INDEX = 1 << 32
_MAX_DIGITS = 4300  # of an int in decimal: longer ones take Python quadratic time


class Policy(Protocol):
    """What a pickle may reach."""

    def find(self, module: str, name: str) -> Any:
        """What a name means."""

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """The result of a call (REDUCE)."""

    def create(self, cls: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A new object of a class (NEWOBJ, NEWOBJ_EX)."""

    def restore(self, instance: Any, state: Any) -> None:
        """Give an object its state (BUILD)."""

    def refer(self, reference: Any) -> Any:
        """What a reference to outside of the pickle means."""


class PickleMachine:
    """Runs one pickle after another from a reader.

    encoding: of the byte strings that Python 2 wrote; "bytes" leaves them as bytes.
    """

    def __init__(
        self, reader: ByteReader, policy: Policy, encoding: str = "utf-8", errors: str = "strict"
    ) -> None:
        self.reader, self.policy = reader, policy
        self.encoding, self.decoding_errors = encoding, errors
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """Run a pickle to its end and return what it made.

        **Raises** LoadError if it is damaged or wants more than the policy grants.
        """
        self.stack, self.marks, self.memo = [], [], {}
        read, table = self.reader.read, _INSTRUCTIONS
        while True:
            code = read(1)
            if code == pickle.STOP:
                return self._pop()
            instruction = table.get(code)
            if instruction is None:
                raise errors.damaged(f"{code!r} is no instruction of a pickle")
            instruction(self)

    # -- the stack --------------------------------------------------------------------------

    def _pop(self) -> Any:
        if not self.stack:
            raise errors.damaged("the pickle takes from an empty stack")
        return self.stack.pop()

    def _top(self) -> Any:
        if not self.stack:
            raise errors.damaged("the pickle takes from an empty stack")
        return self.stack[-1]

    def _pop_mark(self) -> list[Any]:
        if not self.marks:
            raise errors.damaged("the pickle closes what it has not opened")
        items = self.stack
        self.stack = self.marks.pop()
        return items

    def _mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def _drop(self) -> None:
        if self.stack or not self.marks:
            self._pop()
        else:
            self._pop_mark()

    def _drop_mark(self) -> None:
        self._pop_mark()

    def _duplicate(self) -> None:
        self.stack.append(self._top())

    # -- reading ----------------------------------------------------------------------------

    def _number(self, size: int, signed: bool = False) -> int:
        return int.from_bytes(self.reader.read(size), "little", signed=signed)

    def _counted(self, size: int) -> bytes:
        """Bytes behind their number, which takes `size` bytes."""
        count = self._number(size)
        return self.reader.read(count) if count else b""

    def _line(self) -> bytes:
        return self.reader.readline()[:-1]

    def _text(self, data: bytes, encoding: str = "utf-8", handling: str = "surrogatepass") -> str:
        try:
            return data.decode(encoding, handling)
        except UnicodeDecodeError:
            raise errors.damaged(f"a string of the pickle is not {encoding}") from None

    def _old_string(self, data: bytes) -> Any:
        """What Python 2 called a string."""
        if self.encoding == "bytes":
            return data
        try:
            return data.decode(self.encoding, self.decoding_errors)
        except UnicodeDecodeError:
            raise errors.damaged(
                f"a byte string of Python 2 is not {self.encoding}; if the file is whole, load "
                'it with encoding="latin1" or encoding="bytes"'
            ) from None

    def _decimal(self, line: bytes) -> int:
        try:
            if len(line) > _MAX_DIGITS:
                raise ValueError
            return int(line)
        except ValueError:
            raise errors.damaged("a line of the pickle is no number") from None

    def _push_line_int(self) -> None:
        line = self._line()
        truth = {b"00": False, b"01": True}.get(line)
        self.stack.append(self._decimal(line) if truth is None else truth)

    def _push_line_long(self) -> None:
        self.stack.append(self._decimal(self._line().removesuffix(b"L")))

    def _push_line_float(self) -> None:
        try:
            self.stack.append(float(self._line()))
        except ValueError:
            raise errors.damaged("a line of the pickle is no number") from None

    def _push_float(self) -> None:
        self.stack.append(struct.unpack(">d", self.reader.read(8))[0])

    def _push_long(self, size: int) -> None:
        self.stack.append(int.from_bytes(self._counted(size), "little", signed=True))

    def _push_line_string(self) -> None:
        quoted = self._line()
        if len(quoted) < 2 or quoted[:1] != quoted[-1:] or quoted[:1] not in (b"'", b'"'):
            raise errors.damaged("a string of the pickle is not in quotation marks")
        try:
            plain = codecs.escape_decode(quoted[1:-1])[0]
        except ValueError:
            raise errors.damaged("a string of the pickle has a wrong escape") from None
        self.stack.append(self._old_string(plain))

    def _push_line_text(self) -> None:
        self.stack.append(self._text(self._line(), "raw-unicode-escape", "strict"))

    # -- the memo ---------------------------------------------------------------------------

    def _put(self, index: int) -> None:
        """The memo is a dict: an index costs no more than an entry, however large it is."""
        if not 0 <= index < _MAX_INDEX:
            raise errors.damaged("an index of the pickle's memo is out of range")
        self.memo[index] = self._top()

    def _get(self, index: int) -> None:
        if index not in self.memo:
            raise errors.damaged(f"entry {index} of the pickle's memo has not been written")
        self.stack.append(self.memo[index])

    def _memoize(self) -> None:
        self._put(len(self.memo))

    # -- containers -------------------------------------------------------------------------

    def _push_tuple(self, count: int) -> None:
        if len(self.stack) < count:
            raise errors.damaged("the pickle takes from an empty stack")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def _push_items(self, make: Callable[[Any], Any]) -> None:
        items = self._pop_mark()
        self.stack.append(make(items))

    def _frozen(self) -> None:
        items = self._pop_mark()
        for item in items:
            check_key(item)
        self.stack.append(frozenset(items))

    def _target(self, types: tuple[type, ...]) -> Any:
        """The object that is changed: of just the types that the instruction is for."""
        target = self._top()
        if type(target) not in types:
            raise errors.weights_only(
                f"The pickle sets items of an object of type {type(target).__name__}, which "
                "only lists, dicts and sets allow"
            )
        return target

    def _append(self) -> None:
        item = self._pop()
        self._target((list,)).append(item)

    def _extend(self) -> None:
        items = self._pop_mark()
        self._target((list,)).extend(items)

    def _add(self) -> None:
        items = self._pop_mark()
        for item in items:
            check_key(item)
        self._target((set,)).update(items)

    def _set_item(self) -> None:
        value, key = self._pop(), self._pop()
        self._set_items_of(self._target(_MAPPINGS), [key, value])

    def _set_items(self) -> None:
        items = self._pop_mark()
        self._set_items_of(self._target(_MAPPINGS), items)

    def _push_dict(self) -> None:
        items = self._pop_mark()
        self.stack.append({})
        self._set_items_of(self.stack[-1], items)

    def _set_items_of(self, target: Any, items: list[Any]) -> None:
        if len(items) % 2:
            raise errors.damaged("a key of a dict has no value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            check_key(key)
            target[key] = value

    # -- names, calls, states ---------------------------------------------------------------

    def _find_line(self) -> Any:
        module, name = self._text(self._line()), self._text(self._line())
        return self.policy.find(module, name)

    def _push_global(self) -> None:
        self.stack.append(self._find_line())

    def _push_stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            raise errors.damaged("a name in the pickle is no string")
        self.stack.append(self.policy.find(module, name))

    def _arguments(self) -> tuple[Any, ...]:
        arguments = self._pop()
        if type(arguments) is not tuple:
            raise errors.wrong_argument("a call in the pickle", "a tuple", arguments)
        return arguments

    def _reduce(self) -> None:
        arguments = self._arguments()
        function = self._pop()
        self.stack.append(self.policy.call(function, arguments))

    def _new(self) -> None:
        arguments = self._arguments()
        cls = self._pop()
        self.stack.append(self.policy.create(cls, arguments, {}))

    def _new_with_keywords(self) -> None:
        keywords = self._pop()
        arguments = self._arguments()
        cls = self._pop()
        if type(keywords) is not dict or not all(type(name) is str for name in keywords):
            raise errors.wrong_argument("a call in the pickle", "a dict of keywords", keywords)
        self.stack.append(self.policy.create(cls, arguments, keywords))

    def _instance(self) -> None:
        """The old instructions for objects: the class by name, what it is called with marked."""
        arguments = tuple(self._pop_mark())
        self.stack.append(self.policy.call(self._find_line(), arguments))

    def _object(self) -> None:
        items = self._pop_mark()
        if not items:
            raise errors.damaged("an object in the pickle has no class")
        self.stack.append(self.policy.call(items[0], tuple(items[1:])))

    def _build(self) -> None:
        state = self._pop()
        self.policy.restore(self._top(), state)

    def _push_reference(self) -> None:
        self.stack.append(self.policy.refer(self._pop()))

    def _push_line_reference(self) -> None:
        self.stack.append(self.policy.refer(self._text(self._line())))

    def _protocol(self) -> None:
        version = self._number(1)
        if version > 5:
            raise errors.damaged(f"pickle protocol {version} is not known; 0 to 5 are")

    def _frame(self) -> None:
        self._number(8)  # how much to read ahead, which the reader decides for itself

    def _refuse(self) -> None:
        raise errors.weights_only("The pickle refers to a registry or to buffers of its writer")


def _push(make: Callable[[PickleMachine], Any]) -> Callable[[PickleMachine], None]:
    return lambda machine: machine.stack.append(make(machine))


_INSTRUCTIONS: dict[bytes, Callable[[PickleMachine], None]] = {
    # values
    pickle.NONE: _push(lambda _: None),
    pickle.NEWTRUE: _push(lambda _: True),
    pickle.NEWFALSE: _push(lambda _: False),
    pickle.INT: PickleMachine._push_line_int,
    pickle.LONG: PickleMachine._push_line_long,
    pickle.BININT: _push(lambda m: m._number(4, signed=True)),
    pickle.BININT1: _push(lambda m: m._number(1)),
    pickle.BININT2: _push(lambda m: m._number(2)),
    pickle.LONG1: lambda m: m._push_long(1),
    pickle.LONG4: lambda m: m._push_long(4),
    pickle.FLOAT: PickleMachine._push_line_float,
    pickle.BINFLOAT: PickleMachine._push_float,
    pickle.STRING: PickleMachine._push_line_string,
    pickle.BINSTRING: _push(lambda m: m._old_string(m._counted(4))),
    pickle.SHORT_BINSTRING: _push(lambda m: m._old_string(m._counted(1))),
    pickle.UNICODE: PickleMachine._push_line_text,
    pickle.SHORT_BINUNICODE: _push(lambda m: m._text(m._counted(1))),
    pickle.BINUNICODE: _push(lambda m: m._text(m._counted(4))),
    pickle.BINUNICODE8: _push(lambda m: m._text(m._counted(8))),
    pickle.SHORT_BINBYTES: _push(lambda m: m._counted(1)),
    pickle.BINBYTES: _push(lambda m: m._counted(4)),
    pickle.BINBYTES8: _push(lambda m: m._counted(8)),
    pickle.BYTEARRAY8: _push(lambda m: bytearray(m._counted(8))),
    # containers
    pickle.EMPTY_TUPLE: _push(lambda _: ()),
    pickle.EMPTY_LIST: _push(lambda _: []),
    pickle.EMPTY_DICT: _push(lambda _: {}),
    pickle.EMPTY_SET: _push(lambda _: set()),
    pickle.TUPLE: lambda m: m._push_items(tuple),
    pickle.TUPLE1: lambda m: m._push_tuple(1),
    pickle.TUPLE2: lambda m: m._push_tuple(2),
    pickle.TUPLE3: lambda m: m._push_tuple(3),
    pickle.LIST: lambda m: m._push_items(list),
    pickle.DICT: PickleMachine._push_dict,
    pickle.FROZENSET: PickleMachine._frozen,
    pickle.APPEND: PickleMachine._append,
    pickle.APPENDS: PickleMachine._extend,
    pickle.ADDITEMS: PickleMachine._add,
    pickle.SETITEM: PickleMachine._set_item,
    pickle.SETITEMS: PickleMachine._set_items,
    # stack and memo
    pickle.MARK: PickleMachine._mark,
    pickle.POP: PickleMachine._drop,
    pickle.POP_MARK: PickleMachine._drop_mark,
    pickle.DUP: PickleMachine._duplicate,
    pickle.PUT: lambda m: m._put(m._decimal(m._line())),
    pickle.BINPUT: lambda m: m._put(m._number(1)),
    pickle.LONG_BINPUT: lambda m: m._put(m._number(4)),
    pickle.MEMOIZE: PickleMachine._memoize,
    pickle.GET: lambda m: m._get(m._decimal(m._line())),
    pickle.BINGET: lambda m: m._get(m._number(1)),
    pickle.LONG_BINGET: lambda m: m._get(m._number(4)),
    # names, calls, states
    pickle.GLOBAL: PickleMachine._push_global,
    pickle.STACK_GLOBAL: PickleMachine._push_stack_global,
    pickle.REDUCE: PickleMachine._reduce,
    pickle.NEWOBJ: PickleMachine._new,
    pickle.NEWOBJ_EX: PickleMachine._new_with_keywords,
    pickle.INST: PickleMachine._instance,
    pickle.OBJ: PickleMachine._object,
    pickle.BUILD: PickleMachine._build,
    pickle.BINPERSID: PickleMachine._push_reference,
    pickle.PERSID: PickleMachine._push_line_reference,
    pickle.EXT1: PickleMachine._refuse,
    pickle.EXT2: PickleMachine._refuse,
    pickle.EXT4: PickleMachine._refuse,
    pickle.NEXT_BUFFER: PickleMachine._refuse,
    pickle.READONLY_BUFFER: PickleMachine._refuse,
    # framing
    pickle.PROTO: PickleMachine._protocol,
    pickle.FRAME: PickleMachine._frame,
}
