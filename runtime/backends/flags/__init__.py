"""Switches and facts of numerical libraries, as users find them in `torch.backends`.

Each module holds the switches of one library as plain names; what computes with the library reads
them here. The public module is this very module, so that `torch.backends.cudnn.benchmark = True`
sets what is read.
"""

__all__: list[str] = []
