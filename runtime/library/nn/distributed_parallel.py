"""`DistributedDataParallel`: one module in several processes, trained as if it were one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.module import Module

_MEGABYTE = 1 << 20


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over the ranks of a group, while the backward runs.

    All ranks begin with the parameters and buffers of rank 0, and get its buffers before each
    forward (`broadcast_buffers`). bucket_cap_mb: how many megabytes of gradients travel together,
    25 if not given. find_unused_parameters: look, after each forward, which parameters it has
    not used. gradient_as_bucket_view: gradients are views of the buckets, which saves a
    copy. static_graph: the same parameters are used in the same way in each iteration.
    device_ids, output_device: one device at most; the module must be there.
    **Raises** RuntimeError without parameters that require gradients; DistBackendError if modules
    differ by rank; ValueError without a process group.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
    ) -> None:
        super().__init__()
        dist = torch.distributed
        _refuse(delay_all_reduce_named_params, "delay_all_reduce_named_params")
        _refuse(mixed_precision, "mixed_precision")
        _refuse(device_mesh, "device_mesh")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        self.process_group = process_group or dist._get_default_group()
        self.module, self.dim = module, dim
        self.device_ids, self.output_device = device_ids, output_device
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.parameters_to_ignore = ignored
        parameters = [p for n, p in module.named_parameters() if n not in ignored]
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        if not trained:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        self._buffers_shared = [b for n, b in module.named_buffers() if n not in ignored]
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = True
        self._join: Any = None
        if init_sync:
            dist._verify_params_across_processes(self.process_group, parameters)
            dist._broadcast_coalesced(self.process_group, [*parameters, *self._buffers_shared])
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * _MEGABYTE)
        self.reducer = dist.Reducer(
            trained,
            self.process_group,
            self.bucket_bytes_cap,
            find_unused_parameters,
            gradient_as_bucket_view,
            static_graph,
            dist._sparse_parameters(module),
        )

    # -- forward ----------------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module; prepare for the backward."""
        synchronizes = torch.is_grad_enabled() and self.require_backward_grad_sync
        if torch.is_grad_enabled() and self._join is not None:
            self._count_ranks(synchronizes)
        if self.broadcast_buffers and self.require_forward_param_sync and self._buffers_shared:
            torch.distributed._broadcast_coalesced(
                self.process_group, self._buffers_shared, src=self._source_of_buffers()
            )
        output = self.module(*inputs, **kwargs)
        if synchronizes:
            self.reducer.prepare(output)
        else:
            self.reducer.expects = False
        return output

    @property
    def require_forward_param_sync(self) -> bool:
        """Whether this forward gets the buffers of rank 0."""
        return self.require_backward_grad_sync

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let gradients add up on each rank; the next backward outside sends them."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Let hook(state, bucket) reduce gradients: it returns the future of a flat tensor.

        **Raises** TypeError for what cannot be called; RuntimeError if there is a hook.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        self.reducer.set_hook(state, hook)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in ("process_group", "reducer"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__init__(  # type: ignore[misc]
            self.module,
            broadcast_buffers=self.broadcast_buffers,
            find_unused_parameters=self.find_unused_parameters,
            gradient_as_bucket_view=self.gradient_as_bucket_view,
            static_graph=self.static_graph,
        )

    # -- uneven inputs ----------------------------------------------------------------------------

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Any:
        """Within this context, ranks that have no more inputs take part in the others' steps.

        divide_by_initial_world_size: sums are divided by all ranks; or by those with inputs.
        throw_on_early_termination: all ranks raise RuntimeError as soon as one has no more.
        """
        return torch.distributed.algorithms.join.Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs: Any) -> Any:
        """Return what a rank without inputs does."""
        return torch.distributed.algorithms.join.ReplicaHook(self, **kwargs)

    @property
    def join_device(self) -> Any:
        """Where flags of joining travel."""
        return torch.device("cpu")

    @property
    def join_process_group(self) -> Any:
        """Among whom."""
        return self.process_group

    def _count_ranks(self, synchronizes: bool) -> None:
        """Tell ranks without inputs what they have to take part in."""
        dist = torch.distributed
        dist.algorithms.join.Join.notify_join_context(self)
        told = torch.tensor([1.0, float(synchronizes)])
        dist.all_reduce(told, group=self.process_group)
        if not self._join.divides_by_all:
            self.reducer.divisor = int(told[0])

    def _source_of_buffers(self) -> int:
        """The group's rank whose buffers count: the last one that has inputs."""
        if self._join is None:
            return 0
        group = self.process_group
        told = torch.tensor([group.rank()])
        torch.distributed.all_reduce(told, torch.distributed.ReduceOp.MAX, group=group)
        return int(told)


def _refuse(given: Any, name: str) -> None:
    if given is not None:
        raise NotImplementedError(f"DistributedDataParallel: {name} is not provided")
