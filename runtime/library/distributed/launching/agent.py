"""The launcher: keeps the job's store, starts this machine's processes, and starts them again.

All machines' launchers meet in the store. A failure anywhere ends the attempt everywhere; what a
launcher tells the others is the number of the attempt, and nothing that is executed.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from types import FrameType

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.launching import options, workers
from torchgen_out._runtime.library.distributed.launching.options import LaunchConfig
from torchgen_out._runtime.library.distributed.launching.workers import Failure, Worker
from torchgen_out._runtime.library.distributed.stores.store import PrefixStore, Store
from torchgen_out._runtime.library.distributed.stores.tcp_store import TCPStore

__all__ = ["ChildFailedError", "SignalException", "launch", "main"]

_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")


class SignalException(Exception):
    """The launcher has got a signal, and has passed it on."""

    def __init__(self, number: int) -> None:
        super().__init__(f"got signal {signal.Signals(number).name}")
        self.sigval = number


class ChildFailedError(RuntimeError):
    """A process has failed in the last attempt; the message has the first failure's traceback."""

    def __init__(self, name: str, failures: Sequence[Failure]) -> None:
        self.name, self.failures = name, list(failures)
        first, *others = sorted(failures, key=lambda failure: failure.time)
        parts = [f"{name} FAILED", "Root cause (first observed failure):", first.told()]
        if others:
            parts += [
                "Other failures:",
                *[other.told().split("\n  traceback")[0] for other in others],
            ]
        super().__init__("\n".join(parts))


class _Machine:
    """This machine among those of the job."""

    def __init__(self, config: LaunchConfig) -> None:
        self.config = config
        self.raw = _meet(config)
        self.store: Store = PrefixStore(f"launch:{config.run_id}", self.raw)
        self.rank = config.node_rank
        if self.rank is None:
            self.rank = self.store.add("machines", 1) - 1
        counts = f"processes/{self.rank}"
        self.store.set(counts, str(config.processes))
        told = self.store.multi_get([f"processes/{rank}" for rank in range(config.nodes)])
        self.counts = [int(each) for each in told]
        self.first = sum(self.counts[: self.rank])

    def variables(self, local_rank: int, attempt: int) -> dict[str, str]:
        """What a process is told."""
        config, total = self.config, sum(self.counts)
        rank = str(self.first + local_rank)
        return {
            "LOCAL_RANK": str(local_rank),
            "RANK": rank,
            "GROUP_RANK": str(self.rank),
            "ROLE_RANK": rank,
            "ROLE_NAME": config.role,
            "LOCAL_WORLD_SIZE": str(config.processes),
            "WORLD_SIZE": str(total),
            "GROUP_WORLD_SIZE": str(config.nodes),
            "ROLE_WORLD_SIZE": str(total),
            "MASTER_ADDR": config.host,
            "MASTER_PORT": str(self.raw.port),
            "TORCHELASTIC_RESTART_COUNT": str(attempt),
            "TORCHELASTIC_MAX_RESTARTS": str(config.max_restarts),
            "TORCHELASTIC_RUN_ID": config.run_id,
            "TORCHELASTIC_USE_AGENT_STORE": "True",
            "OMP_NUM_THREADS": workers.threads_each(config.processes),
        }

    def attempt_number(self) -> int:
        """The attempt that all machines are in."""
        return self.store.add("attempt", 0)

    def end_attempt(self, attempt: int) -> None:
        """Tell all machines that an attempt has failed."""
        self.store.compare_set("attempt", str(attempt), str(attempt + 1))

    def finish(self) -> None:
        """Wait until all machines have finished: one of them has the store."""
        if self.store.add("finished", 1) == self.config.nodes:
            self.store.set("all finished", "1")
        with contextlib.suppress(errors.DistError):
            self.store.wait(["all finished"])


def _is_here(host: str) -> bool:
    """Whether a host name is this machine."""
    try:
        address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(address[0], socket.SOCK_STREAM) as probe:
            probe.bind(address[4])
        return True
    except OSError:
        return False


def _meet(config: LaunchConfig) -> TCPStore:
    """The job's store: kept by the first machine, or by whoever is first at its address."""
    timeout = timedelta(seconds=config.timeout)
    keeps = config.node_rank == 0 or (config.node_rank is None and _is_here(config.host))
    if keeps:
        try:
            return TCPStore(config.host, config.port, None, True, timeout, False)
        except errors.DistNetworkError:
            if config.node_rank is not None or config.port == 0:
                raise
    return TCPStore(config.host, config.port, None, False, timeout, False)


@contextlib.contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    def got(number: int, frame: FrameType | None) -> None:
        raise SignalException(number)

    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, got) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def launch(config: LaunchConfig) -> None:
    """Run a job to its end. **Raises** ChildFailedError after the last attempt has failed."""
    with contextlib.ExitStack() as stack:
        if config.log_dir is None:
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix="torchgen_run_"))
            folder = Path(made)
        else:
            base = Path(config.log_dir)
            base.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{config.run_id}_", dir=base))
        stack.enter_context(_signals_as_exceptions())
        machine = _Machine(config)
        _run_attempts(machine, folder)
        machine.finish()


def _run_attempts(machine: _Machine, folder: Path) -> None:
    config = machine.config
    machine.store.compare_set("attempt", "", "0")
    while True:
        attempt = machine.attempt_number()
        started: list[Worker] = []
        try:
            for local_rank in range(config.processes):
                place = folder / f"attempt_{attempt}" / str(local_rank)
                variables = machine.variables(local_rank, attempt)
                started.append(Worker(config, local_rank, variables, place))
            failed = _watch(machine, started, attempt)
        except SignalException as caught:
            workers.end(started, caught.sigval, config.grace)
            raise
        except BaseException:
            workers.end(started, signal.SIGTERM, 1)
            raise
        if not failed and all(worker.poll() == 0 for worker in started):
            return
        workers.end(started, signal.SIGTERM, config.grace)
        failures = [worker.failure() for worker in failed]
        if attempt >= config.max_restarts:
            raise ChildFailedError(config.command[0], failures or [_elsewhere(machine)])
        _tell(f"attempt {attempt} has failed, {config.max_restarts - attempt} restarts are left")


def _elsewhere(machine: _Machine) -> Failure:
    message = "a process on another machine has failed"
    return Failure(-1, -1, 0, 1, time.time(), message, "")


def _watch(machine: _Machine, started: list[Worker], attempt: int) -> list[Worker]:
    """Wait for the end of all processes, or of the attempt; return those that have failed."""
    looked = time.monotonic()
    while True:
        codes = [worker.poll() for worker in started]
        if any(codes):
            time.sleep(machine.config.interval)  # others may be about to say why, too
            machine.end_attempt(attempt)
            return [worker for worker in started if worker.poll()]
        if all(code == 0 for code in codes):
            return []
        time.sleep(machine.config.interval)
        if machine.config.nodes > 1 and time.monotonic() - looked > 0.5:
            looked = time.monotonic()
            if machine.attempt_number() != attempt:
                return []


def _tell(text: str) -> None:
    print(f"torchgen_out.distributed.run: {text}", file=sys.stderr, flush=True)


def main(
    arguments: Sequence[str] | None = None,
    parse: Callable[[Sequence[str]], LaunchConfig] = options.parse,
) -> None:
    """Run a command line. Ends the process with 1 after a failure, 128 + n after signal n."""
    try:
        config = parse(sys.argv[1:] if arguments is None else arguments)
    except ValueError as error:
        sys.exit(f"torchgen_out.distributed.run: {error}")
    try:
        launch(config)
    except SignalException as caught:
        _tell(str(caught))
        sys.exit(128 + caught.sigval)
    except ChildFailedError as error:
        _tell(str(error))
        sys.exit(1)
    except errors.DistError as error:
        sys.exit(f"torchgen_out.distributed.run: {error}")


public.place_all("distributed.run", globals())
