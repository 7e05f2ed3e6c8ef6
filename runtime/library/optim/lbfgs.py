"""L-BFGS: steps from the history of gradients, with an optional line search."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.optim.line_search import Point, strong_wolfe
from torchgen_out._runtime.library.optim.optimizer import Optimizer, check_at_least_zero

_KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
"""What a step leaves to the next, in the order of PyTorch's state."""


class LBFGS(Optimizer):
    """The quasi-Newton method with limited memory; `step` needs a closure, and calls it often.

    **Source** Nocedal and Wright, Numerical Optimization, algorithm 7.4.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_at_least_zero(lr=lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Any]:
        params: list[Any] = self.param_groups[0]["params"]
        return params

    # -- all parameters as one vector ---------------------------------------------------------

    def _gradient(self) -> Any:
        parts = [
            torch.zeros_like(_flat(parameter)) if parameter.grad is None else _flat(parameter.grad)
            for parameter in self._params
        ]
        return torch.cat(parts)

    def _move(self, step: float, direction: Any) -> None:
        start = 0
        for parameter in self._params:
            real = torch.view_as_real(parameter) if parameter.is_complex() else parameter
            count = real.numel()
            real.add_(direction[start : start + count].view_as(real), alpha=step)
            start += count

    # -- stepping -----------------------------------------------------------------------------

    def step(self, closure: Any = None) -> Any:
        """Take up to `max_iter` steps; return the loss before the first.

        **Raises** TypeError without a closure.
        """
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        with torch.no_grad():
            return self._step(torch.enable_grad()(closure))

    def _step(self, closure: Any) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, evaluations = float(first), 1
        state["func_evals"] += 1
        gradient = self._gradient()
        converged = float(gradient.abs().max()) <= group["tolerance_grad"]
        for iteration in range(1, group["max_iter"] + 1):
            if converged:
                break
            state["n_iter"] += 1
            direction = self._direction(state, gradient, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            rate = group["lr"].item() if torch.is_tensor(group["lr"]) else group["lr"]
            if state["n_iter"] == 1:
                rate *= min(1.0, 1.0 / float(gradient.abs().sum()))
            state["d"], state["t"] = direction, rate
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if group["line_search_fn"] is not None:
                start = Point(0.0, loss, gradient, slope)
                left = group["max_eval"] - evaluations
                found, used = self._search(closure, start, rate, direction, left)
                rate, loss, gradient = found.step, found.loss, found.gradient
                self._move(rate, direction)
            else:
                self._move(rate, direction)
                if iteration != group["max_iter"]:
                    loss, used = float(closure()), 1
                    gradient = self._gradient()
            state["t"] = rate
            evaluations += used
            state["func_evals"] += used
            converged = (
                evaluations >= group["max_eval"]
                or float(gradient.abs().max()) <= group["tolerance_grad"]
                or float(direction.abs().max()) * rate <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            )
        for name in _KEPT:
            if name in state:
                state[name] = state.pop(name)
        return first

    def _direction(self, state: dict[str, Any], gradient: Any, history_size: int) -> Any:
        """Minus the inverse Hessian's estimate times the gradient, by two loops over the past."""
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return gradient.neg()
        changes, steps, factors = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient - state["prev_flat_grad"]
        step = state["d"] * state["t"]
        curvature = change.dot(step)
        if float(curvature) > 1e-10:
            if len(changes) == history_size:
                for past in (changes, steps, factors):
                    past.pop(0)
            changes.append(change)
            steps.append(step)
            factors.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        direction, weights = gradient.neg(), state.setdefault("al", [None] * history_size)
        for i in reversed(range(len(steps))):
            weights[i] = steps[i].dot(direction) * factors[i]
            direction -= weights[i] * changes[i]
        direction = direction * state["H_diag"]
        for i, (step, change, factor) in enumerate(zip(steps, changes, factors, strict=True)):
            direction += (weights[i] - change.dot(direction) * factor) * step
        return direction

    def _search(
        self, closure: Any, start: Point, rate: float, direction: Any, most: int
    ) -> tuple[Point, int]:
        kept = [parameter.clone() for parameter in self._params]

        def evaluate(step: float) -> Point:
            self._move(step, direction)
            loss, gradient = float(closure()), self._gradient()
            for parameter, before in zip(self._params, kept, strict=True):
                parameter.copy_(before)
            return Point(step, loss, gradient, float(gradient.dot(direction)))

        largest = float(direction.abs().max())
        return strong_wolfe(evaluate, start, rate, largest, most=most)


def _flat(tensor: Any) -> Any:
    """The numbers of a tensor in one row, real and imaginary parts side by side."""
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1)
