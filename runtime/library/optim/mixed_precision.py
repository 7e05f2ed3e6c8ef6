"""What `torch.amp` shows: autocast and the scaling of losses."""

from torchgen_out._runtime.autograd.autocast_mode import (
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from torchgen_out._runtime.library.optim.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
