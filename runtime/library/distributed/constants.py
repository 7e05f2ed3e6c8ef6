"""How long calls between processes may take if nobody says otherwise."""

from datetime import timedelta

default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout = timedelta(minutes=10)

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]
