"""Pruning: parameters with a mask of zeros, which is applied before every forward."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.parameter_sets import parameters_to_vector
from torchgen_out.public_modules import PUBLIC_MODULES


class BasePruningMethod(ABC):
    """A way to choose what becomes zero: a subclass implements `compute_mask`.

    Applied to the parameter `name` of a module it puts `name_orig` and the buffer `name_mask` in
    the parameter's place, and before each forward sets `name` to their product. `PRUNING_TYPE` says
    which elements it may choose among: "unstructured", "structured" (along `dim`) or "global".
    """

    __module__ = "torchgen_out.nn.utils.prune"

    PRUNING_TYPE: str
    _tensor_name: str

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the library's own classes say where users find them."""
        super().__init_subclass__(**options)
        cls.__module__ = PUBLIC_MODULES.get(f"{cls.__module__}.{cls.__qualname__}", cls.__module__)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask for the scores `t`, zero where `default_mask` is and where it prunes."""

    def apply_mask(self, module: Any) -> Any:
        """The parameter with zeros."""
        name = self._tensor_name
        original = getattr(module, f"{name}_orig")
        return getattr(module, f"{name}_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter of a module; what was pruned before stays so.

        **Raises** AssertionError if the scores have another shape than the parameter.
        """
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = [
            (number, hook)
            for number, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        tensor = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        scores = tensor if importance_scores is None else importance_scores
        if earlier:
            mask = (
                getattr(module, f"{name}_mask")
                .detach()
                .clone(memory_format=torch.contiguous_format)
            )
            container = PruningContainer(*(hook for _, hook in earlier))
            container.add_pruning_method(method)
            method = container
        else:
            mask = torch.ones_like(tensor)
        mask = method.compute_mask(scores, default_mask=mask)
        if not earlier:
            module.register_parameter(f"{name}_orig", tensor)
            del module._parameters[name]
        for number, _ in earlier:
            del module._forward_pre_hooks[number]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor with zeros, outside of any module.

        **Raises** AssertionError if the scores have another shape than the tensor.
        """
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Make the parameter, with its zeros, a plain one again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several prunings of one parameter, each among what the earlier ones left."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args:
            for part in method if isinstance(method, PruningContainer) else (method,):
                if not self._pruning_methods:
                    self._tensor_name = part._tensor_name
                self.add_pruning_method(part)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a pruning of the same parameter. **Raises** TypeError or ValueError otherwise."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._pruning_methods and method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of the newest method, among what is not pruned yet."""
        method = self._pruning_methods[-1]
        left = _left(method, t, default_mask)
        mask = default_mask.clone()
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return mask


def _left(method: BasePruningMethod, t: Any, mask: Any) -> Any:
    """The index of the elements that a method may choose among."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    everything: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError("Pruning methods of PRUNING_TYPE 'structured' need a dim")
        dim = method.dim % t.dim()
        kept = mask.sum(dim=[other for other in range(t.dim()) if other != dim]) != 0
        everything[dim] = kept
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(everything)


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes `amount` elements at random: a number, or a fraction."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def _scores(self, t: Any) -> Any:
        return torch.rand_like(t)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            _, places = torch.topk(self._scores(t).reshape(-1), count, largest=False)
            mask.view(-1)[places] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    """Prunes the `amount` elements of the smallest absolute value."""

    def _scores(self, t: Any) -> Any:
        return torch.abs(t)


class RandomStructured(BasePruningMethod):
    """Prunes `amount` of the slices along `dim`, at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _scores(self, t: Any) -> Any:
        return torch.rand(t.shape[self.dim])

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = _count(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        _, pruned = torch.topk(self._scores(t), count, largest=False)
        mask = torch.ones_like(t)
        mask.transpose(0, self.dim)[pruned] = 0
        return mask * default_mask.to(dtype=mask.dtype)


class LnStructured(RandomStructured):
    """Prunes the `amount` slices along `dim` of the smallest n-norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Any) -> Any:
        others = [dim for dim in range(t.dim()) if dim != self.dim % t.dim()]
        return torch.norm(t, p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError("the mask should have the shape of the parameter")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Give a parameter a mask that prunes nothing."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements of the smallest absolute value, or score."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune slices along `dim` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the slices along `dim` of the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune where a mask is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: Any,
    importance_scores: Any = None,
    **kwargs: Any,
) -> None:
    """Prune elements among several parameters together, as if they were one.

    **Raises** TypeError if `parameters` is no iterable, or the method not unstructured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    tensors = [getattr(module, name) for module, name in pairs]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    mask = container.compute_mask(
        parameters_to_vector(
            [scores.get(pair, tensor) for pair, tensor in zip(pairs, tensors, strict=True)]
        ),
        parameters_to_vector(
            [
                getattr(module, f"{name}_mask", torch.ones_like(tensor))
                for (module, name), tensor in zip(pairs, tensors, strict=True)
            ]
        ),
    )
    start = 0
    for (module, name), tensor in zip(pairs, tensors, strict=True):
        part = mask[start : start + tensor.numel()]
        custom_from_mask(module, name, part.view_as(tensor))
        start += tensor.numel()


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter, with its zeros, a plain one again.

    **Raises** ValueError if it is not pruned.
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Whether a module, or one within it, has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_count = isinstance(amount, numbers.Integral)
    size = float(amount)
    if size < 0 or (not is_count and not size <= 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount: Any, size: int) -> int:
    """How many of `size` things to prune. **Raises** ValueError if there are not so many."""
    if isinstance(amount, numbers.Integral):
        count = int(amount)
        if count > size:
            raise ValueError(
                f"amount={amount} should be smaller than the number of parameters to prune={size}"
            )
        return count
    return round(float(amount) * size)
