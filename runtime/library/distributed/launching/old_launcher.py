"""`python -m torchgen_out.distributed.launch`, the launcher that was before `torchrun`."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed.launching import agent, options

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line as `torchgen_out.distributed.run` does; scripts get `--local-rank=N`."""
    agent.main(arguments, options.parse_old)


public.place_all("distributed.launch", globals())
