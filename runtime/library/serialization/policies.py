"""What pickles may do: only make data (`WeightsOnly`), or anything (`trusting_unpickler`)."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.library.serialization import errors, module_names, rebuilding
from torchgen_out._runtime.library.serialization.safe_globals import CALLED, KNOWN, added
from torchgen_out.nn.parameter import Parameter

_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # Python 2's names

_SIZED = (list, tuple, dict, OrderedDict, Counter, set, frozenset, str, bytes, bytearray, Size)
_COPIES = 4  # elements, for each byte of the pickle
_FREE_COPIES = 1 << 16


class WeightsOnly:
    """Reaches the names on the list, calls what is meant to be called, sets no attributes.

    refer: what gives the storage that a reference means. nbytes: the pickle's size, which bounds
    what its calls may copy: a few bytes could have a long list copied once more.
    """

    def __init__(self, refer: Callable[[Any], Any], nbytes: int) -> None:
        self.refer = refer
        self._copies_left = _COPIES * nbytes + _FREE_COPIES
        self._added = added()
        self._added_ids = {id(each) for each in self._added.values()}
        self._unfinished: dict[int, tuple[Any, Callable[[Any, Any], None]]] = {}

    def find(self, module: str, name: str) -> Any:
        """Return what a name means.

        **Raises** LoadError for a name that is not on the list.
        """
        place = (_MODULES.get(module, module), name)
        found = KNOWN.get(place, self._added.get(place, self))
        if found is not self:
            return found
        path = errors.shown(f"{module}.{name}" if place[0] != "builtins" else name)
        raise errors.LoadError(
            f"Weights only load failed. Unsupported global: GLOBAL {path} was not an allowed "
            "global by default. Please use "
            f"`torch.serialization.add_safe_globals([{path}])` or the "
            f"`torch.serialization.safe_globals([{path}])` context manager to allowlist this "
            "global if you trust this class/function; or load with weights_only=False, which "
            "runs code from the file."
        )

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Call what a file may call.

        **Raises** LoadError for anything else.
        """
        known = CALLED.get(id(function))
        if known is None:
            if id(function) in self._added_ids:
                return function(*arguments)
            kind = getattr(function, "__name__", None) or type(function).__name__
            raise errors.weights_only(f"The pickle calls {errors.shown(str(kind))}")
        self._copies_left -= sum(len(each) for each in arguments if type(each) in _SIZED)
        if self._copies_left < 0:
            raise errors.damaged("the pickle copies its parts again and again")
        if function is rebuilding.rebuild_as:
            self._check_subclass(arguments)
        try:
            made = known(*arguments)
        except TypeError:  # as many arguments as no release has written
            name = getattr(known, "__name__", type(known).__name__)
            raise errors.damaged(f"{name} is called with {len(arguments)} arguments") from None
        self._expect_state(known, made)
        return made

    def _expect_state(self, function: Any, made: Any) -> None:
        """Old tensors, Variables and parameters get their state after they are made."""
        if type(function) is rebuilding.OldTensor:
            self._unfinished[id(made)] = made, rebuilding.OldTensor.restore
        elif function in (rebuilding.variable, rebuilding.parameter):
            self._unfinished[id(made)] = made, rebuilding.restore_variable

    def _check_subclass(self, arguments: tuple[Any, ...]) -> None:
        cls = arguments[1] if len(arguments) == 4 else None
        if not (cls is torch.Tensor or cls is Parameter or id(cls) in self._added_ids):
            raise errors.wrong_argument("a tensor of a subclass", "an allowed class", cls)

    def create(self, cls: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Make an object of a class: of a plain type, or of one that a user has added."""
        if id(cls) in self._added_ids and isinstance(cls, type):
            return cls.__new__(cls, *arguments, **keywords)
        if keywords:
            raise errors.weights_only("The pickle makes an object with keywords")
        return self.call(cls, arguments)

    def restore(self, instance: Any, state: Any) -> None:
        """Give an object its state, if it is of a type that has one.

        **Raises** LoadError for all others: classes, functions, tensors.
        """
        unfinished = self._unfinished.pop(id(instance), None)
        if unfinished is not None:
            unfinished[1](instance, state)
        elif type(instance) is OrderedDict:
            rebuilding.give_attributes(instance, state)
        elif id(type(instance)) in self._added_ids and not isinstance(instance, torch.Tensor):
            _restore(instance, state)
        else:
            raise errors.weights_only(
                "The pickle sets the state of an object of type "
                f"{errors.shown(type(instance).__name__)}"
            )


def _restore(instance: Any, state: Any) -> None:
    """What pickle does for objects of classes, here of those that the user allows."""
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    for part in (attributes, slots):
        if part is not None and type(part) is not dict:
            raise errors.wrong_argument("an object's state", "a dict", part)
    instance.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(instance, name, value)


def trusting_unpickler(module: Any, file: Any, refer: Callable[[Any], Any], **options: Any) -> Any:
    """An unpickler of `module` that reads anything, and so runs any code; PyTorch means ours."""

    class Unpickler(module.Unpickler):  # type: ignore[misc]
        def find_class(self, module: str, name: str) -> Any:
            known = KNOWN.get((module, name))
            if known is not None and module.partition(".")[0] == "torch":
                return known
            if module == "torch" or module.startswith("torch."):
                return module_names.find(module, name)
            return super().find_class(module, name)

        def persistent_load(self, pid: Any) -> Any:
            return refer(pid)

    return Unpickler(file, **options)
