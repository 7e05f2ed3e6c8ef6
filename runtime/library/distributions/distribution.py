"""What every distribution is: shapes, checks, and what follows from a few formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.parameters import broadcast_all, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A distribution of events of shape `event_shape`, one for each entry of `batch_shape`."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    arg_constraints: ClassVar[dict[str, Any]]
    """What each parameter may be; its `event_dim` says which dims are no batch."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions that are made from now on check arguments, unless told."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected a bool, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _take(self, validate_args: bool | None, **parameters: Any) -> None:
        """Keep parameters of one event dim each, broadcast; the rest of `__init__`."""
        values = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, values, strict=True))
        Distribution.__init__(self, values[0].shape, validate_args=validate_args)

    def _check_parameters(self) -> None:
        for name, constraint in getattr(self, "arg_constraints", {}).items():
            is_unread = name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            )
            if constraints.is_dependent(constraint) or is_unread:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError for what cannot be an event of this distribution."""
        if not torch.is_tensor(value):
            raise ValueError("The value argument to log_prob must be a Tensor")
        expected = self.batch_shape + self.event_shape
        ndim = len(self.event_shape)
        if value.shape[value.dim() - ndim :] != self.event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self.event_shape}."
            )
        pairs = zip(reversed(value.shape), reversed(expected), strict=False)
        if any(1 not in pair and pair[0] != pair[1] for pair in pairs):
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{value.shape} vs {expected}."
            )
        self._check_support(value)

    def _check_support(self, value: Any) -> None:
        support = self.support
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> torch.Size:
        """The shape of one event."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """The set that has all the mass."""
        raise NotImplementedError(f"{type(self).__name__} has no support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Tensor:
        """The likeliest event."""
        raise NotImplementedError(f"{type(self).__name__} has no mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Events without a gradient: shape `sample_shape + batch_shape + event_shape`."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Events that are functions of the parameters, with their gradients."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample_n(self, n: int) -> Tensor:
        """`n` samples of each distribution."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The log of the density, or of the mass, at `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of events up to `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The event below which there is the probability `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Every event, along a new first dim; the batch's dims are 1 unless `expand`."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support")

    def _enumerated(self, values: Any, expand: bool) -> Any:
        """`values`, a list of scalar events, as `enumerate_support` gives them."""
        values = values.reshape((-1,) + (1,) * len(self.batch_shape))
        return values.expand((-1, *self.batch_shape)) if expand else values

    def entropy(self) -> Tensor:
        """The mean of -log_prob, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Tensor:
        """e^entropy."""
        return self.entropy().exp()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions, broadcast to `batch_shape`.

        A subclass with attributes of its own makes the instance, sets them, and passes it on.
        """
        new = self._get_checked_instance(type(self), _instance)
        shape = torch.Size(batch_shape)
        new.__dict__ = {**self.__dict__, **new.__dict__, **self._expanded(shape)}
        new._batch_shape = shape
        return new

    def _expanded(self, shape: Any) -> dict[str, Any]:
        """The tensors among the parameters, with batches of `shape`."""
        expanded = {}
        for name, constraint in self.arg_constraints.items():
            value: Any = self.__dict__.get(name)
            if torch.is_tensor(value):
                event = value.shape[value.dim() - constraint.event_dim :]
                expanded[name] = value.expand(shape + event)
        return expanded

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """The instance that `expand` fills: `_instance`, or a new one without `__init__`."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> torch.Size:
        """The shape of samples."""
        return torch.Size(sample_shape) + self.batch_shape + self.event_shape

    def __repr__(self) -> str:
        names = [name for name in getattr(self, "arg_constraints", {}) if name in self.__dict__]
        values = [(name, getattr(self, name)) for name in names]
        shown = (f"{name}: {_short(value)}" for name, value in values)
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    """A number or a single element as such, a tensor of several as its shape."""
    if torch.is_tensor(value) and value.numel() != 1:
        return str(value.size())
    return f"{value}"
