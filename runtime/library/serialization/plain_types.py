"""The plain types that a pickle may call, each with a function that checks what it is given."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.keys import check_key

_CODECS = ("latin1", "latin-1", "latin_1", "iso-8859-1", "utf-8", "utf8", "ascii")


def encode(text: Any = "", codec: Any = "latin1") -> bytes:
    """Bytes as protocols 0 to 2 write them: text, and the codec that gives the bytes back."""
    if type(text) is not str or type(codec) is not str or codec not in _CODECS:
        raise errors.wrong_argument("_codecs.encode", "text in latin1 or utf-8", text)
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        raise errors.damaged("a string does not have the encoding that it claims") from None


def _bytes(*given: Any) -> bytes:
    if len(given) == 1 and type(given[0]) is bytes:
        return given[0]
    return encode(*given)


def _bytearray(*given: Any) -> bytearray:
    """Never of a number: nine bytes of a file would allocate any amount."""
    return bytearray(_bytes(*given))


def _elements(of: str, given: tuple[Any, ...]) -> Any:
    if not given:
        return ()
    if len(given) != 1 or type(given[0]) not in (list, tuple, set, frozenset):
        raise errors.wrong_argument(of, "a list", given[0])
    return given[0]


def _hashable(of: str, given: tuple[Any, ...]) -> Any:
    elements = _elements(of, given)
    for element in elements:
        check_key(element)
    return elements


def _pairs(of: str, given: tuple[Any, ...]) -> Any:
    """Keys and values: a dict, or as Python 2 wrote them a list of lists."""
    if given and type(given[0]) in (dict, OrderedDict, Counter) and len(given) == 1:
        return given[0]
    pairs = _elements(of, given)
    for pair in pairs:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise errors.wrong_argument(of, "pairs", pair)
        check_key(pair[0])
    return pairs


def _defaultdict(*given: Any) -> Any:
    """What makes the missing values is one of the plain types."""
    factory = given[0] if given else None
    if factory is not None and not any(factory is each for each in (list, dict, set, int, float)):
        raise errors.weights_only("The pickle gives a defaultdict a function to call")
    return defaultdict(factory, _pairs("defaultdict", given[1:]))


def _number(of: Any) -> Callable[..., Any]:
    def make(*given: Any) -> Any:
        if len(given) > 2 or any(type(each) not in (int, float) for each in given):
            raise errors.wrong_argument(of.__name__, "numbers", given)
        try:
            return of(*given)
        except (TypeError, ValueError, OverflowError) as error:
            raise errors.damaged(f"{of.__name__}: {error}") from None

    return make


def _slice(*given: Any) -> slice:
    if not 1 <= len(given) <= 3 or any(type(each) not in (int, type(None)) for each in given):
        raise errors.wrong_argument("slice", "ints", given)
    return slice(*given)


def _size(*given: Any) -> Size:
    sizes = _elements("torch.Size", given)
    if any(type(each) is not int for each in sizes):
        raise errors.wrong_argument("torch.Size", "ints", sizes)
    return Size(sizes)


def _device(*given: Any) -> devices.device:
    if not 1 <= len(given) <= 2 or type(given[0]) is not str:
        raise errors.wrong_argument("torch.device", "a str and an int", given)
    try:
        return devices.device(*given)
    except (RuntimeError, TypeError):
        shown = errors.shown(given[0])
        raise errors.damaged(f"'{shown}' is no device that this library knows") from None


def layout(name: Any) -> layouts.layout:
    """A layout by PyTorch's name of it, "torch.strided"."""
    known = {f"torch.{each.name}": each for each in layouts.BY_INDEX}
    if type(name) is not str or name not in known:
        raise errors.wrong_argument("a layout", "the name of one", name)
    return known[name]


CONSTRUCTORS: dict[Any, Callable[..., Any]] = {
    OrderedDict: lambda *given: OrderedDict(_pairs("OrderedDict", given)),
    Counter: lambda *given: Counter(dict(_pairs("Counter", given))),
    defaultdict: _defaultdict,
    dict: lambda *given: dict(_pairs("dict", given)),
    list: lambda *given: list(_elements("list", given)),
    set: lambda *given: set(_hashable("set", given)),
    frozenset: lambda *given: frozenset(_hashable("frozenset", given)),
    bytes: _bytes,
    bytearray: _bytearray,
    complex: _number(complex),
    int: _number(int),
    float: _number(float),
    slice: _slice,
    Size: _size,
    devices.device: _device,
}
"""A type that names in files mean -> what a call of it does."""
