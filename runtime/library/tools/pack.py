"""Write packs: the kernels that operators or a program need, compiled for levels of processors.

For each level the operators are called, or the program is run, by a process whose Numba compiles
for that level, and what it needs is written down; then all of it is compiled, side by side, and
written into one file. A level above this processor's own is compiled from what the own level needs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from torchgen_out._runtime import config
from torchgen_out._runtime.kernels.machine import host, packs, recording
from torchgen_out._runtime.kernels.machine.installed import SUFFIX
from torchgen_out._runtime.library.tools import pack_wheel, recorded

HERE = "torchgen_out._runtime.library.tools"


def main(arguments: list[str] | None = None) -> int:
    """Write what is asked for; the exit status is 1 if something does not compile."""
    options = _parser().parse_args(arguments)
    if options.collect:
        return _collect(Path(options.collect), Path(options.out), options.level[0], options.jobs)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    files = []
    records = sys.stdin.read() if options.samples else ""
    for level in options.level or [*host.levels()[:1]]:
        path = out / f"{options.name}-{level}{SUFFIX}"
        if not _write(level, path, options, records):
            return 1
        files.append(path)
    if not files:
        print("no level of this processor is known: name one with --level", file=sys.stderr)
        return 1
    if options.wheel:
        print(pack_wheel.write(options.name, config.VERSION, files, out))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {HERE}.pack", description=__doc__)
    parser.add_argument("--package", default="torchgen_out")
    parser.add_argument("--name", default="torchgen-out-kernels")
    parser.add_argument("--dtypes", default="float32,float64")
    parser.add_argument("--level", action="append", choices=tuple(host.FEATURES))
    parser.add_argument("--out", default="dist")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--script")
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("--collect", help=argparse.SUPPRESS)
    parser.add_argument("operators", nargs="*")
    return parser


def _write(level: str, path: Path, options: argparse.Namespace, records: str) -> bool:
    """Record what is needed, and compile it into a pack. records: JSON, of operators."""
    recorded_for = level if level in host.levels() else next(iter(host.levels()), "")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**_environment(recorded_for), "TORCHGEN_RECORD": folder}
        if options.script:
            status = recorded.run(options.script, Path(folder), environment)
        else:
            jobs = ["--jobs", str(options.jobs), "--dtypes", options.dtypes]
            samples = ["--samples"] if options.samples else []
            own = [*jobs, *samples, "--package", options.package, *options.operators]
            command = [sys.executable, "-m", f"{HERE}.warm", *own]
            status = subprocess.run(
                command, env=environment, input=records, text=True, check=False
            ).returncode
        if status:
            return False
        collect = ["--collect", folder, "--out", str(path), "--level", level]
        command = [sys.executable, "-m", f"{HERE}.pack", *collect, "--jobs", str(options.jobs)]
        return subprocess.run(command, env=_environment(level), check=False).returncode == 0


def _environment(level: str) -> dict[str, str]:
    """Numba's settings for a level."""
    if not level:
        return dict(os.environ)
    if level not in host.levels():
        return {**os.environ, "TORCHGEN_TARGET": level}
    name = "generic" if level == "aarch64" else level
    chosen = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": host.features_of(level)}
    return {**os.environ, **chosen}


def _collect(folder: Path, path: Path, level: str, jobs: int) -> int:
    """Compile all that was written down, side by side, into a pack."""
    entries, failures = recorded.compile_all(dict(recording.noted(folder)), jobs)
    header = {"system": host.system_of(level), "level": level, "made_by": host.own_platform()}
    path.write_bytes(packs.written(header, entries))
    size = path.stat().st_size / 1e6
    print(f"{path}: {len(entries)} kernels, {size:.1f} MB")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
