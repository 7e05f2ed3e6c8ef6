"""The names of `torch.storage`, which the generated facade re-exports."""

from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
