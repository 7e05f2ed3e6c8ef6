"""What PyTorch's `distributed.fsdp` has besides `fully_shard`: names that say what to do."""

from __future__ import annotations

from torchgen_out._runtime.library.programs import absent

_REMEDY = "fully_shard deals out a module's parameters; it takes no policies"

BackwardPrefetch = absent.kind("torch.distributed.fsdp.BackwardPrefetch", _REMEDY)
CPUOffload = absent.kind("torch.distributed.fsdp.CPUOffload", _REMEDY)
CPUOffloadPolicy = absent.kind("torch.distributed.fsdp.CPUOffloadPolicy", _REMEDY)
FullStateDictConfig = absent.kind("torch.distributed.fsdp.FullStateDictConfig", _REMEDY)
FullyShardedDataParallel = absent.kind("torch.distributed.fsdp.FullyShardedDataParallel", _REMEDY)
MixedPrecision = absent.kind("torch.distributed.fsdp.MixedPrecision", _REMEDY)
MixedPrecisionPolicy = absent.kind("torch.distributed.fsdp.MixedPrecisionPolicy", _REMEDY)
OffloadPolicy = absent.kind("torch.distributed.fsdp.OffloadPolicy", _REMEDY)
OptimStateKeyType = absent.kind("torch.distributed.fsdp.OptimStateKeyType", _REMEDY)
ShardingStrategy = absent.kind("torch.distributed.fsdp.ShardingStrategy", _REMEDY)
StateDictType = absent.kind("torch.distributed.fsdp.StateDictType", _REMEDY)
