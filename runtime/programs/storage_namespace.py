"""The names of `torch.storage`, which the generated facade re-exports."""

from runtime.ops.typed_storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
