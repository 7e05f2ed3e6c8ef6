"""Loss scaling: gradients of 16-bit floats kept out of the range where they become zero."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public

__all__ = [
    "GradScaler",
]


class _Stage(enum.Enum):
    """How far a scaler has come with an optimizer since its last `update`."""

    READY, UNSCALED, STEPPED = range(3)


class _Progress:
    """stage, and whether a gradient was not finite, once they were unscaled."""

    def __init__(self) -> None:
        self.stage, self.found_inf = _Stage.READY, False


def _numbers(grad: Any) -> Any:
    """The elements of a gradient; of a sparse one its values, those of one place added."""
    return grad.coalesce().values() if grad.is_sparse else grad


class GradScaler:
    """Multiplies losses by a factor and gradients by its inverse; skips steps that overflowed.

    After a step with a gradient that is not finite the factor shrinks by `backoff_factor`, after
    `growth_interval` steps without it grows by `growth_factor`.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device, self._enabled, self._scale = device, enabled, float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._has_scaled = False
        self._progress: dict[int, _Progress] = defaultdict(_Progress)

    def scale(self, outputs: Any) -> Any:
        """Multiply a loss, or all of a list or tuple, by the factor."""
        if not self._enabled:
            return outputs
        self._has_scaled = True
        if isinstance(outputs, torch.Tensor):
            return outputs * outputs.new_full((), self._scale, dtype=torch.float32)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(each) for each in outputs])
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _check_scaled(self, name: str) -> None:
        """Raise AssertionError if no loss was scaled yet."""
        if not self._has_scaled:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, once between updates."""
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        progress = self._progress[id(optimizer)]
        if progress.stage is _Stage.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.stage is _Stage.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        bad = []
        with torch.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is None:
                        continue
                    if parameter.grad.dtype == torch.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    parameter.grad.mul_(1.0 / self._scale)
                    bad.append(torch.isfinite(_numbers(parameter.grad)).all().logical_not())
        progress.stage = _Stage.UNSCALED
        progress.found_inf = bool(torch.stack(bad).any()) if bad else False

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Take the optimizer's step, unless a gradient is not finite; unscales them first."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        progress = self._progress[id(optimizer)]
        if progress.stage is _Stage.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.stage is _Stage.READY:
            self.unscale_(optimizer)
        progress.stage = _Stage.STEPPED
        return None if progress.found_inf else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Change the factor after all steps of an iteration; or set it."""
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if all(each.stage is _Stage.READY for each in self._progress.values()):
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(any(each.found_inf for each in self._progress.values()))
        self._progress.clear()

    def _adapt(self, found_inf: bool) -> None:
        if found_inf:
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            self._scale, self._growth_tracker = self._scale * self._growth_factor, 0

    def get_scale(self) -> float:
        """Return the factor, 1 if scaling is off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return what the factor grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the factor grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return what the factor shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the factor shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return after how many steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps the factor grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether losses are scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return what a later run needs to go on; nothing if scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken. **Raises** RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._scale, self._growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]


public.place("amp", GradScaler)
