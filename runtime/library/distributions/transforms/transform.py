"""What a change of variables is: a map, its inverse, and the log of its volume's change."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.library.distributions.constraints import Constraint


class Transform:
    """A differentiable map of `domain` to `codomain`.

    A subclass writes `_call`, `_inverse` and `log_abs_det_jacobian`. With `cache_size=1` the last
    pair is kept, so that the inverse of a value just computed is exact and free.
    """

    bijective = False
    domain: Constraint
    codomain: Constraint

    _fields: tuple[str, ...] = ()
    """The attributes that make two transforms equal, and that `repr` shows."""

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """How many of the last dims the map takes together."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Any:
        """The inverse map."""
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """The sign of the slope, of a map of single numbers that keeps or turns their order."""
        raise NotImplementedError(f"{type(self).__name__} keeps no order")

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same map with another cache."""
        if self._cache_size == cache_size:
            return self
        new = type(self).__new__(type(self))
        new.__dict__ = {**self.__dict__}
        Transform.__init__(new, cache_size)
        return new

    def __call__(self, x: Any) -> Any:
        """y = f(x)."""
        if self._cache_size and self._cached_x_y[0] is x:
            return self._cached_x_y[1]
        y = self._call(x)
        if self._cache_size:
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        """x, where f(x) = y."""
        if self._cache_size and self._cached_x_y[1] is y:
            return self._cached_x_y[0]
        x = self._inverse(y)
        if self._cache_size:
            self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _call")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |det dy/dx|, of the batch's shape."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Any) -> Any:
        """The shape of f(x) for an x of `shape`."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for an f(x) of `shape`."""
        return shape

    def __eq__(self, other: object) -> bool:
        if not self._fields:
            return self is other or (type(self) is type(other) and _is_plain(self))
        return type(self) is type(other) and all(
            _is_same(getattr(self, name), getattr(other, name)) for name in self._fields
        )

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _is_plain(transform: Transform) -> bool:
    """Whether nothing but the type says what a map does."""
    return set(transform.__dict__) <= {"_cache_size", "_cached_x_y"}


def _is_same(a: Any, b: Any) -> bool:
    same = a == b
    return bool(same if isinstance(same, bool) else same.all())


class _InverseTransform(Transform):
    """A map backwards."""

    _fields = ("_inv",)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether no two values meet."""
        return self._inv.bijective

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        """Where the map is from."""
        return self._inv.codomain

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        """Where the map leads."""
        return self._inv.domain

    @property
    def inv(self) -> Transform:
        return self._inv

    @property
    def sign(self) -> Any:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)
