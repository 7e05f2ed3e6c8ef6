"""`torch.distributed`: processes that train together, on one machine or on many.

Backends carry what they say: `gloo` is the library's own (shared memory within a machine, sockets
between machines), `mpi` stands on mpi4py, `nccl` on nccl4py, and others register from outside.
Nothing that comes from another rank is executed, but in the functions for Python objects.
"""

from torchgen_out._runtime.library.distributed.backend_names import (
    Backend,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_ucc_available,
    is_xccl_available,
)
from torchgen_out._runtime.library.distributed.carrying import (
    name_of as _get_process_group_name,
)
from torchgen_out._runtime.library.distributed.collectives import (
    _all_gather_base,
    _reduce_scatter_base,
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
    scatter,
)
from torchgen_out._runtime.library.distributed.constants import (
    default_pg_timeout,
)
from torchgen_out._runtime.library.distributed.debug import (
    DebugLevel,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from torchgen_out._runtime.library.distributed.device_mesh import (
    DeviceMesh,
    init_device_mesh,
)
from torchgen_out._runtime.library.distributed.errors import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    QueueEmptyError,
)
from torchgen_out._runtime.library.distributed.gloo.process_group import (
    ProcessGroupGloo,
)
from torchgen_out._runtime.library.distributed.objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from torchgen_out._runtime.library.distributed.options import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from torchgen_out._runtime.library.distributed.point_to_point import (
    P2POp,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    send,
)
from torchgen_out._runtime.library.distributed.process_group import (
    ProcessGroup,
)
from torchgen_out._runtime.library.distributed.reduce_op import (
    ReduceOp,
    supports_complex,
)
from torchgen_out._runtime.library.distributed.reducer import (
    GradBucket,
    Reducer,
    _broadcast_coalesced,
    _compute_bucket_assignment_by_size,
    _verify_params_across_processes,
)
from torchgen_out._runtime.library.distributed.rendezvous import (
    register_rendezvous_handler,
    rendezvous,
)
from torchgen_out._runtime.library.distributed.sparse_gradients import (
    _sparse_parameters,
)
from torchgen_out._runtime.library.distributed.stores.local import (
    FileStore,
    HashStore,
)
from torchgen_out._runtime.library.distributed.stores.store import (
    PrefixStore,
    Store,
)
from torchgen_out._runtime.library.distributed.stores.tcp_store import (
    TCPStore,
)
from torchgen_out._runtime.library.distributed.work import (
    Work,
)
from torchgen_out._runtime.library.distributed.world import (
    GroupMember,
    _get_default_group,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_initialized,
    is_torchelastic_launched,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    shrink_group,
    split_group,
)
from torchgen_out._runtime.library.distributed.world import (
    by_name as _resolve_process_group,
)

__all__ = [
    "AllToAllOptions",
    "AllgatherOptions",
    "AllreduceCoalescedOptions",
    "AllreduceOptions",
    "Backend",
    "BarrierOptions",
    "BroadcastOptions",
    "DebugLevel",
    "DeviceMesh",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GatherOptions",
    "GradBucket",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "ProcessGroupGloo",
    "QueueEmptyError",
    "ReduceOp",
    "ReduceOptions",
    "ReduceScatterOptions",
    "Reducer",
    "ScatterOptions",
    "Store",
    "TCPStore",
    "Work",
    "_all_gather_base",
    "_broadcast_coalesced",
    "_compute_bucket_assignment_by_size",
    "_get_default_group",
    "_get_process_group_name",
    "_reduce_scatter_base",
    "_resolve_process_group",
    "_sparse_parameters",
    "_verify_params_across_processes",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_debug_level",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_device_mesh",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "register_rendezvous_handler",
    "rendezvous",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "set_debug_level",
    "set_debug_level_from_env",
    "shrink_group",
    "split_group",
    "supports_complex",
]
