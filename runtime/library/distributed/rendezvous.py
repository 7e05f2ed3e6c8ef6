"""How processes meet: a URL to a store, a rank and a number of ranks (`env://`, `tcp://`, `file://`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlparse

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import environment
from torchgen_out._runtime.library.distributed.stores.local import FileStore
from torchgen_out._runtime.library.distributed.stores.store import PrefixStore, Store
from torchgen_out._runtime.library.distributed.stores.tcp_store import TCPStore

__all__ = ["register_rendezvous_handler", "rendezvous"]

Meeting = tuple[Store, int, int]
_TIMEOUT = timedelta(seconds=300)
_handlers: dict[str, Callable[..., Iterator[Meeting]]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Iterator[Meeting]]) -> None:
    """Let URLs of a scheme be handled: `handler(url, timeout=...)` yields (store, rank, size).

    **Raises** RuntimeError if the scheme has a handler.
    """
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// is already registered")
    _handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator[Meeting]:
    """Yield store, rank and number of ranks for a URL. rank, world_size: as if the URL said them.

    **Raises** ValueError if they remain unknown; RuntimeError for an unknown scheme.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    parsed = urlparse(url)
    if parsed.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {parsed.scheme}://")
    given = [f"rank={rank}"] if rank != -1 else []
    given += [f"world_size={world_size}"] if world_size != -1 else []
    query = "&".join([*([parsed.query] if parsed.query else []), *given])
    return _handlers[parsed.scheme](parsed._replace(query=query).geturl(), **kwargs)


def _query(url: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlparse(url).query).items()}


def _missing(url: str, what: str) -> ValueError:
    scheme = urlparse(url).scheme
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {what}")


def _asked(url: str, name: str) -> int:
    """A number that must stand in the URL."""
    query = _query(url)
    if name not in query:
        raise _missing(url, f"{name.replace('_', ' ')} parameter missing")
    return int(query[name])


def _by_file(url: str, **kwargs: Any) -> Iterator[Meeting]:
    parsed = urlparse(url)
    path = parsed.netloc + parsed.path
    if not path:
        raise _missing(url, "path missing")
    rank, size = _asked(url, "rank"), _asked(url, "world_size")
    yield FileStore(path, size), rank, size
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _by_tcp(url: str, timeout: timedelta = _TIMEOUT, **kwargs: Any) -> Iterator[Meeting]:
    parsed = urlparse(url)
    if parsed.port is None or not parsed.hostname:
        raise _missing(url, "host or port number missing")
    rank, size = _asked(url, "rank"), _asked(url, "world_size")
    yield TCPStore(parsed.hostname, parsed.port, size, rank == 0, timeout), rank, size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _by_environment(url: str, timeout: timedelta = _TIMEOUT, **kwargs: Any) -> Iterator[Meeting]:
    """By the variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, or what stands for them.

    A launcher that keeps the store itself sets TORCHELASTIC_USE_AGENT_STORE.
    """
    query = _query(url)

    def known(name: str, found: Any) -> Any:
        value = query.get(name.lower(), found)
        if value is None:
            raise _missing(url, f"environment variable {name} expected, but not set")
        return value

    rank = int(known("RANK", environment.number("RANK")))
    size = int(known("WORLD_SIZE", environment.number("WORLD_SIZE")))
    host = str(known("MASTER_ADDR", environment.master_address()))
    port = int(known("MASTER_PORT", environment.master_port()))
    agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    is_master = rank == 0 and not agents
    store: Store = TCPStore(host, port, None if agents else size, is_master, timeout)
    if agents:  # what an earlier attempt has left is not met
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = PrefixStore(f"attempt:{attempt}", store)
    yield store, rank, size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


register_rendezvous_handler("file", _by_file)
register_rendezvous_handler("tcp", _by_tcp)
register_rendezvous_handler("env", _by_environment)
public.place_all("distributed.rendezvous", globals())
