"""Datasets, samplers and the DataLoader; PyTorch's `torch.utils.data`."""

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.data.dataloader import (
    DataLoader,
    default_collate,
    default_convert,
    get_worker_info,
)
from torchgen_out._runtime.library.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from torchgen_out._runtime.library.data.distributed import DistributedSampler
from torchgen_out._runtime.library.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

public.place_package("utils.data", globals())
