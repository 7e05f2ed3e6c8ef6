"""The launcher's options: those of `torchrun`, with dashes or underscores."""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torchgen_out as torch
from torchgen_out._runtime.library.distributed.environment import DEFAULT_PORT
from torchgen_out._runtime.library.multiprocessing.processors import processors


@dataclass
class LaunchConfig:
    """What shall be started, and how."""

    command: list[str]
    """What a process runs after the interpreter; or all of it, without Python."""
    processes: int = 1
    nodes: int = 1
    node_rank: int | None = None
    """None: the first node that comes is the first."""
    host: str = "127.0.0.1"
    port: int = 0
    run_id: str = "none"
    role: str = "default"
    max_restarts: int = 0
    interval: float = 0.1
    timeout: float = 900.0
    grace: float = 30.0
    """Seconds between the signal that ends a process and the one that kills it."""
    log_dir: str | None = None
    redirects: dict[int, int] = field(default_factory=dict)
    """By local rank, -1 for all: 1 for what is printed, 2 for errors, 3 for both: into files."""
    tee: dict[int, int] = field(default_factory=dict)
    """The same: into files and to the console."""
    shown: set[int] | None = None
    """Local ranks whose output is shown; None: all."""
    uses_python: bool = True
    is_module: bool = False
    run_path: bool = False
    tells_local_rank: bool = False
    """Whether a script gets its local rank as an argument, too."""


def _parser(name: str = "run") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m torchgen_out.distributed.{name}",
        description="Start the processes of a training, and start them again when one fails.",
        allow_abbrev=False,
    )

    def add(*names: str, **rest: object) -> None:
        twins = [n.replace("-", "_").replace("__", "--", 1) for n in names if n.count("-") > 2]
        parser.add_argument(*names, *twins, **rest)  # type: ignore[arg-type]

    add("--nnodes", default="1", help="machines; MIN:MAX must be the same number twice")
    add("--nproc-per-node", default="1", help="a number, or auto, cpu, gpu")
    add("--rdzv-backend", default="static", choices=("static", "c10d"), help="who meets where")
    add("--rdzv-endpoint", default="", help="HOST[:PORT] of the store")
    add("--rdzv-id", default="none", help="the job's name")
    add("--rdzv-conf", default="", help="timeout=SECONDS")
    parser.add_argument("--standalone", action="store_true", help="one machine, a free port")
    add("--max-restarts", type=int, default=0, help="how often all are started again")
    add("--monitor-interval", type=float, default=0.1, help="seconds between looks")
    add("--start-method", default="spawn", choices=("spawn", "fork", "forkserver"))
    add("--role", default="default")
    parser.add_argument("-m", "--module", action="store_true", help="as `python -m` does")
    add("--no-python", action="store_true", help="run a program that is no Python script")
    add("--run-path", action="store_true", help="run the script by runpy")
    add("--log-dir", default=None, help="folder for log files")
    add("-r", "--redirects", default="0", help="1, 2, 3 or RANK:1,RANK:2: into files")
    add("-t", "--tee", default="0", help="the same, and to the console")
    add("--local-ranks-filter", default="", help="whose output is shown: 0,1")
    add("--node-rank", type=int, default=None)
    add("--master-addr", default=None)
    add("--master-port", type=int, default=None)
    add("--local-addr", default=None)
    add("--shutdown-timeout", type=float, default=30.0, help="seconds until a kill")
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return parser


def _process_count(given: str) -> int:
    if given.isdigit() and int(given) > 0:
        return int(given)
    gpus = torch.cuda.device_count()
    if given == "cpu" or (given == "auto" and not gpus):
        return processors()
    if given in ("gpu", "auto") and gpus:
        return gpus
    raise ValueError(f"--nproc-per-node: {given!r} is no number of processes here")


def _by_rank(given: str) -> dict[int, int]:
    """Where the output of ranks goes: "3" or "0:1,1:3"."""
    try:
        pairs = [each.split(":") for each in given.split(",")]
        found = {int(p[0]) if len(p) == 2 else -1: int(p[-1]) for p in pairs}
    except ValueError:
        found = {-1: -1}
    if not set(found.values()) <= {0, 1, 2, 3}:
        raise ValueError(f"{given!r} does not say where output goes: expected 0 to 3, or RANK:0-3")
    return found


def _nodes(given: str) -> int:
    least, _, most = given.partition(":")
    if most and most != least:
        raise ValueError(
            f"--nnodes={given}: a number of machines that changes while a job runs is not "
            "provided; give one number"
        )
    return int(least)


def _meeting(options: argparse.Namespace, nodes: int) -> tuple[str, int]:
    """Host and port of the store; port 0 for a free one."""
    if options.standalone or (nodes == 1 and not options.rdzv_endpoint and not options.master_addr):
        return "127.0.0.1", options.master_port or 0
    endpoint = options.rdzv_endpoint if options.rdzv_endpoint else options.master_addr
    if not endpoint:
        raise ValueError(f"--nnodes={nodes} needs --rdzv-endpoint or --master-addr")
    host, colon, port = endpoint.rpartition(":")
    if colon and port.isdigit():
        return host.strip("[]"), int(port)
    return endpoint, options.master_port or DEFAULT_PORT


def parse_old(arguments: Sequence[str]) -> LaunchConfig:
    """Read the command line of the launcher that was before `torchrun`, as `parse` does.

    A script gets `--local-rank=N`, except after `--use-env`.
    """
    parser = _parser("launch")
    parser.add_argument(
        "--use-env", "--use_env", action="store_true", help="no --local-rank=N for the script"
    )
    options = parser.parse_args(arguments)
    return replace(_config(options), tells_local_rank=not options.use_env)


def parse(arguments: Sequence[str]) -> LaunchConfig:
    """Read the command line. **Raises** ValueError, or SystemExit as argparse does."""
    return _config(_parser().parse_args(arguments))


def _config(options: argparse.Namespace) -> LaunchConfig:
    if options.module and options.no_python:
        raise ValueError("Don't use both the '--no-python' flag and the '--module' flag together.")
    nodes = 1 if options.standalone else _nodes(options.nnodes)
    host, port = _meeting(options, nodes)
    settings = dict(each.split("=", 1) for each in options.rdzv_conf.split(",") if "=" in each)
    shown = options.local_ranks_filter
    run_id = options.rdzv_id
    if options.standalone or run_id == "none":
        run_id = uuid.uuid4().hex if options.standalone else "none"
    return LaunchConfig(
        command=[options.training_script, *options.training_script_args],
        processes=_process_count(options.nproc_per_node),
        nodes=nodes,
        node_rank=0 if nodes == 1 else options.node_rank,
        host=host,
        port=port,
        run_id=run_id,
        role=options.role,
        max_restarts=options.max_restarts,
        interval=options.monitor_interval,
        timeout=float(settings.get("timeout", 900)),
        grace=options.shutdown_timeout,
        log_dir=options.log_dir,
        redirects=_by_rank(options.redirects),
        tee=_by_rank(options.tee),
        shown={int(each) for each in shown.split(",")} if shown else None,
        uses_python=not options.no_python,
        is_module=options.module,
        run_path=options.run_path,
    )
