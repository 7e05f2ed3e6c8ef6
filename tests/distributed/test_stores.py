"""Stores: one table of requests for every kind, and for PyTorch's; garbage; time-outs; bounds."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import torchgen_out.distributed as dist
from torchgen_out._runtime.library.distributed.stores import tcp_server, wire

SHORT = timedelta(milliseconds=200)


def requests(library: Any, store: Any) -> list[Any]:
    """What a store answers, whatever library it is of."""
    store.set("a", "1")
    found: list[Any] = [store.get("a"), store.add("n", 3), store.add("n", -1), store.get("n")]
    store.append("a", "23")
    found += [store.get("a"), store.check(["a"]), store.check(["a", "missing"])]
    found += [store.compare_set("b", "", "x"), store.compare_set("b", "x", "y")]
    found += [store.compare_set("b", "wrong", "z"), store.delete_key("b"), store.delete_key("b")]
    store.multi_set(["c", "d"], ["\0\n", ""])
    found += [store.multi_get(["c", "d"])]
    store.wait(["c", "d"])
    threading.Timer(0.05, lambda: store.set("late", "here")).start()
    if not isinstance(store, (library.TCPStore, library.PrefixStore)):  # one connection, one asks
        store.wait(["late"])
    for wait in (lambda: store.wait(["never"], SHORT), lambda: store.get("never")):
        store.set_timeout(SHORT)
        with pytest.raises(RuntimeError) as caught:
            wait()
        found.append(type(caught.value).__name__)
    return found


def stores(library: Any, folder: Path) -> Iterator[Any]:
    yield library.HashStore()
    yield library.FileStore(str(folder / f"file{library.__name__}"), 1)
    yield library.TCPStore("127.0.0.1", 0, 1, True)
    yield library.PrefixStore("inner", library.HashStore())


def test_answers(tmp_path: Path) -> None:
    answers = [requests(dist, store) for store in stores(dist, tmp_path)]
    assert answers[0][:4] == [b"1", 3, 2, b"2"]
    if importlib.util.find_spec("torch") is not None:
        import torch.distributed as theirs

        answers += [requests(theirs, store) for store in list(stores(theirs, tmp_path))[::2]]
    for answer in answers[1:]:
        assert answer == answers[0]


def test_queues_and_clones() -> None:
    store = dist.TCPStore("localhost", 0, 1, True)
    other = store.clone()
    threading.Timer(0.05, lambda: other.queue_push("q", "first")).start()
    assert store.queue_pop("q") == b"first"
    with pytest.raises(dist.QueueEmptyError):
        store.queue_pop("q", block=False)
    assert store.queue_len("q") == 0
    shared = dist.TCPStore("localhost", 0, 1, True, multi_tenant=True)
    again = dist.TCPStore(
        "localhost", shared.port, 1, True, multi_tenant=True, wait_for_workers=False
    )
    again.set("k", "v")
    assert shared.get("k") == b"v"


def _talk(port: int, data: bytes) -> bytes:
    """Send bytes; return what comes back before the server hangs up, or says nothing more."""
    with socket.create_connection(("127.0.0.1", port), 5) as end:
        end.settimeout(0.3)
        heard = b""
        try:
            end.sendall(data)
            while more := end.recv(1 << 16):
                heard += more
        except (TimeoutError, ConnectionError):
            pass
        return heard


def test_garbage_is_refused_and_the_store_goes_on() -> None:
    store = dist.TCPStore("127.0.0.1", 0, 1, True)
    hello = wire.GREETING
    head = struct.Struct("<BdII")
    claims = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x80\x04cos\nsystem\n",
        hello + b"\xff" * 64,
        hello + head.pack(0, 1.0, 1 << 31, 1 << 31),
        hello + head.pack(0, float("nan"), 0, 0),
        hello + head.pack(0, 1.0, 2, 8) + struct.pack("<II", 100, 100),
        hello + head.pack(0, 1.0, 1, 5) + struct.pack("<I", 0) + b"x",
    ]
    for claim in claims:
        assert _talk(store.port, claim) in (b"", hello), claim
    assert _talk(store.port, hello + wire.pack_request("add", [b"k", b"x"], 0.1)).startswith(hello)
    store.set("alive", "yes")
    assert store.get("alive") == b"yes"
    with pytest.raises(dist.DistStoreError, match="more than a store takes"):
        store.set("big", b"\0" * (wire.MOST_BYTES + 1))
    assert not hasattr(store, "pickle")


def test_strangers_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_server, "MOST_STRANGERS", 4)
    monkeypatch.setattr(tcp_server, "GREETING_SECONDS", 0.2)
    store = dist.TCPStore("127.0.0.1", 0, 1, True)
    silent = [socket.create_connection(("127.0.0.1", store.port)) for _ in range(8)]
    for end in silent:
        end.settimeout(5)
        assert end.recv(1) == b""  # hung up on: too many, or too slow
        end.close()
    assert store.add("n", 1) == 1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of answers that nobody reads, requests before an answer, requests that come in part."""
    monkeypatch.setattr(tcp_server, "MOST_UNREAD", 1 << 22)
    store, megabyte = dist.TCPStore("127.0.0.1", 0, 1, True), 1 << 20
    store.set("large", b"x" * megabyte)
    part = struct.Struct("<BdII").pack(0, 1.0, 1, 1 << 27) + b"y" * megabyte
    get = [wire.pack_request("get", [key], 9.0) for key in (b"large", b"never")]
    claims = [get[0] * 200, get[1] + b"z" * 32 * megabyte, *[part] * 32]
    claims = [wire.GREETING + claim for claim in claims]
    tracemalloc.start()
    with contextlib.ExitStack() as ends:
        for claim in claims:
            end = ends.enter_context(socket.create_connection(("127.0.0.1", store.port)))
            end.settimeout(0.5)
            with contextlib.suppress(OSError):  # it is hung up on
                end.sendall(claim)
        assert store.add("n", 1) == 1
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * megabyte


def _refusals(folder: Path, sockets: contextlib.ExitStack) -> dict[str, Callable[[], Any]]:
    master = dist.TCPStore("127.0.0.1", 0, 1, True)
    silent = sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
    other = sockets.enter_context(socket.create_server(("127.0.0.1", 0)))

    def of_another_version() -> None:
        end, _ = other.accept()
        end.recv(100)
        end.sendall(wire.GREETING[:-1] + b"\7")
        time.sleep(0.2)
        end.close()

    threading.Thread(target=of_another_version, daemon=True).start()
    free = socket.create_server(("127.0.0.1", 0))
    nobody = free.getsockname()[1]
    free.close()
    (folder / "garbage").write_bytes(b"\xffno store" * 10)

    def connect(port: int) -> Any:
        return dist.TCPStore("127.0.0.1", port, 2, False, SHORT)

    return {
        "failed to listen": lambda: dist.TCPStore("127.0.0.1", master.port, 1, True),
        "timed out": lambda: connect(nobody),
        "is no store": lambda: connect(silent.getsockname()[1]),
        "version 7": lambda: connect(other.getsockname()[1]),
        "1/3 clients joined": lambda: dist.TCPStore("127.0.0.1", 0, 3, True, SHORT),
        "garbage is no store": lambda: dist.FileStore(str(folder / "garbage"), 1),
    }


def test_refusals(tmp_path: Path) -> None:
    with contextlib.ExitStack() as sockets:
        for told, call in _refusals(tmp_path, sockets).items():
            with pytest.raises(dist.DistError, match=told):
                call()


def test_a_store_listens_where_it_is_told_to() -> None:
    store = dist.TCPStore("localhost", 0, 1, True)
    assert store._server is not None
    assert store._server._listener.getsockname()[0] in ("127.0.0.1", "::1")


def test_environments() -> None:
    from torchgen_out._runtime.library.distributed import environment as told

    slurm = {
        "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1",
        "SLURM_NODELIST": "gpu-[07-09,12],login", "SLURM_JOB_ID": "12345",
    }  # fmt: skip
    mpich = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
    launched = {**slurm, "RANK": "5", "WORLD_SIZE": "6", "MASTER_ADDR": "h", "MASTER_PORT": "7"}
    starter = os.getppid() if os.path.isdir("/proc") else 14500
    expected = {
        "slurm": (3, 8, 1, "gpu-07", 17345),
        "mpich": (1, 2, 1, "127.0.0.1", 15000 + starter % 10000),
        "launched": (5, 6, 1, "h", 7),
        "none": (None, None, None, None, None),
    }
    given = {"slurm": slurm, "mpich": mpich, "launched": launched, "none": {}}
    for name, variables in given.items():
        numbers = [told.number(each, variables) for each in ("RANK", "WORLD_SIZE", "LOCAL_RANK")]
        where = told.master_address(variables), told.master_port(variables)
        assert (*numbers, *where) == expected[name], name
    with pytest.raises(ValueError, match="not a number"):
        told.number("RANK", {"RANK": "two"})
