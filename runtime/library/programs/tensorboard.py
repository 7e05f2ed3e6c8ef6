"""`torch.utils.tensorboard`: tensorboardX's writer, if it is installed."""

from __future__ import annotations

__all__ = ["FileWriter", "SummaryWriter"]

try:
    from tensorboardX import FileWriter, SummaryWriter
except ImportError as missing:
    raise ImportError(
        "torch.utils.tensorboard writes with tensorboardX, which is not installed: "
        "pip install tensorboardX"
    ) from missing
