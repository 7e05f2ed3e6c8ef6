"""Compiled code is data: checked before it is used, found in packs, called without Numba."""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchgen_out._runtime.kernels import build, native
from torchgen_out._runtime.kernels.machine import (
    callers,
    compiling,
    host,
    images,
    installed,
    library,
    packs,
    progress,
    recording,
    symbols,
)
from torchgen_out._runtime.library.tools import pack_wheel, recorded

HEADER = {"system": host.system(), "level": next(iter(host.levels()), "")}
ENTRY = packs.Entry(
    {"key": "k", "kinds": [], "returns": [], "errors": {}},
    images.Image(bytes(range(64)), {"torchgen_run": 8}, ((0, "exp"), (16, "log")), (24,)),
)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Packs are looked for anew."""
    installed.usable.cache_clear()
    yield
    installed.usable.cache_clear()


def sample(count: int = 3) -> bytes:
    """A pack of some entries."""
    content = packs.encoded(ENTRY)
    return packs.written(HEADER, {packs.key_hash(f"k{i}"): content for i in range(count)})


def test_entries_come_back() -> None:
    pack = packs.Pack(sample())
    assert pack.header == HEADER and pack.count == 3 and len(pack.keys()) == 3
    for i in range(3):
        content = pack.find(packs.key_hash(f"k{i}"))
        assert content is not None and packs.decoded(content) == ENTRY
    assert pack.find(packs.key_hash("k3")) is None


def test_no_damage_is_believed() -> None:
    """Every byte changed, and every length cut: an error, nothing, or the very entry."""
    whole = sample(1)
    key = packs.key_hash("k0")
    damaged = [whole[:n] for n in range(len(whole))]
    damaged += [whole[:i] + bytes([whole[i] ^ 0x5A]) + whole[i + 1 :] for i in range(len(whole))]
    for content in damaged:
        with pytest.raises(packs.Damaged):
            assert packs.Pack(content).find(key) is not None
            raise AssertionError("it was believed")


@pytest.mark.parametrize(
    "wrong", [{"slots": [[60, "exp"]]}, {"entries": {"f": 99}}, {"absolute": [-1]}, {"size": 3}, {}]
)
def test_numbers_that_do_not_fit_the_bytes_are_refused(wrong: dict[str, Any]) -> None:
    content = packs.encoded(ENTRY)
    (size,) = struct.unpack_from("<I", content)
    about = {**json.loads(content[4 : 4 + size]), **wrong} if wrong else []
    head = json.dumps(about).encode()
    with pytest.raises(packs.Damaged):
        packs.decoded(len(head).to_bytes(4, "little") + head + content[4 + size :])


def test_what_is_foreign_damaged_or_unsafe_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    entries = {packs.key_hash("k0"): packs.encoded(ENTRY)}
    headers = {
        "other_abi": {**HEADER, "system": host.system().replace("1", "0", 1)},
        "other_level": {**HEADER, "level": "x86-64-v9"},
        "other_machine": {**HEADER, "system": host.system_of("riscv64")},
    }
    for name, header in headers.items():
        (tmp_path / f"{name}.pack").write_bytes(packs.written(header, entries))
    (tmp_path / "damaged.pack").write_bytes(b"no pack")
    (tmp_path / "empty.pack").write_bytes(b"")
    unsafe = tmp_path / "unsafe.pack"
    unsafe.write_bytes(sample())
    unsafe.chmod(0o666)
    (tmp_path / "good.pack").write_bytes(sample())
    monkeypatch.setenv("TORCHGEN_PACKS", str(tmp_path))
    with caplog.at_level("INFO", "torchgen_out.kernels"):
        assert [found.path.name for found in installed.usable()] == ["good.pack"]
    for name in (*headers, "damaged", "empty", "unsafe"):
        assert sum(f"{name}.pack" in line for line in caplog.messages) == 1
    assert installed.find("k0") == packs.encoded(ENTRY)
    installed.usable.cache_clear()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert installed.find("k0") is None


WORK = """
import os, sys
import torchgen_out as torch
x = torch.linspace(0, 1, 24).view(4, 6).requires_grad_()
y = torch.nn.functional.softplus(x * 3) @ torch.eye(6) + x[0]
(y.sum() + y[:, ::2].exp().mean()).backward()
assert torch.argmax(y.detach(), 1).tolist() == [5] * 4
child = os.fork() if len(sys.argv) > 1 else None
if child == 0:
    assert (y.detach() + 1).sum() > 0
    os._exit('numba' in sys.modules)
if child:
    assert os.waitpid(child, 0)[1] == 0
from torchgen_out._runtime.kernels import build
left = [name for name in ("numba", "llvmlite") if name in sys.modules]
print(round(float(x.grad.sum()), 3), *build.cache_counts(), *left)
"""


def start(*arguments: str, **environment: Any) -> subprocess.Popen[str]:
    """A process that does some work."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    command = [sys.executable, "-c", WORK, *arguments]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[str]:
    out = process.communicate()[0].split()
    assert process.returncode == 0
    return out


def test_with_a_pack_nothing_is_compiled_nor_numba_imported(tmp_path: Path) -> None:
    """Nor in a forked child, nor in two processes at once; and a wheel brings it."""
    noted, site, empty = tmp_path / "noted", tmp_path / "site", tmp_path / "empty"
    noted.mkdir()
    forks = ["fork"] if hasattr(os, "fork") else []
    first = said(start(*forks, TORCHGEN_RECORD=noted))
    requests = list(recording.noted(noted))
    entries = {packs.key_hash(key): library.entry_of(key, request) for key, request in requests}
    pack = tmp_path / f"mine{installed.SUFFIX}"
    pack.write_bytes(packs.written(HEADER, entries))
    wheel = pack_wheel.write("my-kernels", "1.0", [pack], tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
        names = set(archive.namelist())
    assert f"torchgen_packs/{pack.name}" in names and "my_kernels-1.0.dist-info/RECORD" in names
    places = os.pathsep.join([str(site), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    alike = {"TORCHGEN_CACHE_DIR": empty, "PYTHONPATH": places}
    both = [start(*forks, **alike), start(**alike)]
    count = sum(map(int, first[1:3]))
    assert [said(each) for each in both] == [[first[0], str(count), "0"]] * 2
    assert not list(empty.rglob("*.kernel"))


OUTSIDE = {
    "functions": """\
- func: packed_swash(Tensor self) -> Tensor
  variants: function
  dtypes: floating
  promotion: int_to_float
  pointwise: "self * tanh(self) + 0.25"
  samples: {self: [-3, 3]}
  doc: |
    An activation.
""",
    "derivatives": "- name: packed_swash\n  self: auto\n",
}
USE_OUTSIDE = """
import sys
import torchgen_out as torch
import packed_ops
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
packed_ops.packed_swash(x).backward(torch.tensor([1.0, 1.0, 1.0]))
from torchgen_out._runtime.kernels.build import cache_counts
print(cache_counts(), bool(x.grad.sum), "llvmlite" in sys.modules)
"""


def test_a_package_outside_the_tree_ships_its_own(tmp_path: Path) -> None:
    """Its kernels are in a pack of its own, beside it where it is installed."""
    command = [sys.executable, "-m", "codegen", "pack", "--dtypes", "float32", "--jobs", "1"]
    for name, text in OUTSIDE.items():
        (tmp_path / f"{name}.yaml").write_text(text)
        command += [f"--{name}", str(tmp_path / f"{name}.yaml")]
    command += ["--out", str(tmp_path / "packed_ops")]
    subprocess.run([*command, "--folder", str(tmp_path / installed.FOLDER)], check=True)
    places = os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    environment = {
        **os.environ,
        "PYTHONPATH": places,
        "TORCHGEN_CACHE_DIR": str(tmp_path / "empty"),
    }
    use = [sys.executable, "-c", USE_OUTSIDE]
    found = subprocess.run(use, env=environment, check=True, capture_output=True, text=True)
    assert found.stdout.split() == ["(2,", "0)", "True", "False"]


def test_what_a_program_needs_is_noted_and_compiled_before_it_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program, kept = tmp_path / "program.py", tmp_path / "kept"
    program.write_text("import torchgen_out as torch\nassert (torch.ones(3) + 1).sum() == 6\n")
    monkeypatch.setattr(recorded, "kept_folder", lambda script: kept)
    for expected in (r"(\d+) kernels, \1 of them new", r"(\d+) kernels, 0 of them new"):
        assert recorded.warm(str(program), 2) == 0
        assert re.fullmatch(expected, capfd.readouterr().out.strip())
    assert [path.name for path in kept.iterdir()] == ["all.jsonl"]
    (kept / "all.jsonl").chmod(0o666)  # others may have written what would be compiled
    assert recorded.warm("-c pass", 2) == 0
    assert capfd.readouterr().out.startswith("0 kernels")


# Calls.

KERNELS = (
    build.HEADER.format(title="What callers may do.")
    + """
@entry
def kernel(x, factor):
    if factor < 0:
        raise ValueError("factor must not be negative")
    for i in range(x.size):
        x.flat[i] *= factor
    return x.size, x.size * 2


@entry
def numbers(a, b, c, d):
    return a + b[0] + b[1] + (1 if c else 0) + d
"""
)


def test_a_call_finds_the_types_and_what_does_not_fit_is_refused() -> None:
    functions = build.load_text("probe", KERNELS)
    x = np.arange(12.0).reshape(3, 4)
    assert functions.kernel(x, 2.0) == (12, 24)
    assert functions.kernel(x[:, ::2], 2.0) == (6, 12)
    assert x.tolist()[1] == [16, 10, 24, 14]
    assert functions.kernel(x.astype(np.float32), np.float32(3)) == (12, 24)
    odd = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert functions.kernel(odd, 1.0) == (3, 6)
    with pytest.raises(ValueError, match="must not be negative"):
        functions.kernel(x, -1.0)
    assert functions.numbers(1, (2, 3), True, 0.5) == 7.5
    assert functions.numbers(np.int16(1), (2, 3), False, 2j) == 6 + 2j
    with pytest.raises(OverflowError):
        functions.numbers(1 << 70, (2, 3), True, 0.5)
    with pytest.raises(AttributeError, match="no function absent"):
        _ = functions.absent
    entry = build.entry_point("probe", KERNELS, ("float64[2C]", float))
    for wrong in ((x,), (x[0], 1.0), (None, 1.0), (x.astype(np.float32), 1.0)):
        with pytest.raises(TypeError, match=r"kernel for \(float64\[\], float64\)"):
            entry(*wrong)
    with pytest.raises(TypeError):
        entry(x, "2")
    called = native.native_call(entry)
    assert called is not None and called.kinds[0].words == 9


def test_a_text_that_does_not_compile_says_why() -> None:
    text = build.HEADER.format(title="no such") + "@entry\ndef kernel(x):\n    return absent(x)\n"
    with pytest.raises(compiling.CannotCompile, match="absent"):
        build.entry_point("wrong", text, (int,))


def test_a_compiler_that_was_killed_is_replaced() -> None:
    def text(number: int) -> str:
        head = build.HEADER.format(title=f"{os.getpid()} {number}")
        return f"{head}@entry\ndef kernel(x):\n    return x + {number}\n"

    if not compiling._idle:
        assert build.entry_point("probe", text(1), (int,))(1) == 2
    for process in compiling._idle:
        process.process.kill()
    assert build.entry_point("probe", text(2), (int,))(1) == 3


LARGE = """
import numpy as np
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.machine import compiling
ballast = np.ones(compiling.MOST_MEMORY + (1 << 20), np.uint8)
seen = set()
for number in range(2):
    text = build.HEADER.format(title=number)
    text += f"@entry\\ndef kernel(x):\\n    return x + {number}\\n"
    assert build.entry_point("probe", text, (int,))(1) == 1 + number
    seen |= {process.process.pid for process in compiling._all}
assert len(seen) == 1, seen
"""


def test_a_large_process_keeps_its_compiler(tmp_path: Path) -> None:
    """Linux counts the parent's memory as a child's highest: it must not end after each kernel."""
    environment = {**os.environ, "TORCHGEN_CACHE_DIR": str(tmp_path), "TORCHGEN_COMPILER": ""}
    subprocess.run([sys.executable, "-c", LARGE], check=True, env=environment)


def test_what_numba_alone_can_do_is_left_to_it() -> None:
    text = (
        build.HEADER.format(title="nested tuples")
        + "@entry\ndef kernel(x):\n    return x, (x, x)\n"
    )
    assert build.entry_point("probe", text, (int,))(7) == (7, (7, 7))


def test_an_unknown_function_is_told() -> None:
    with pytest.raises(symbols.Unknown, match="no_such_function"):
        symbols.address_of("no_such_function")


def test_machine_code_is_never_writable_and_executable() -> None:
    build.entry_point("probe", KERNELS, ("float64[2C]", float))
    lines = Path("/proc/self/maps").read_text().splitlines() if os.path.exists("/proc") else []
    own = native.native_call(build.entry_point("probe", KERNELS, ("float64[2C]", float)))
    assert own is not None
    for line in lines:
        first, last = (int(each, 16) for each in line.split()[0].split("-"))
        if first <= own.address < last:
            assert line.split()[1] == "r-xp"


@pytest.mark.parametrize("machine", ["x86-64", "aarch64"])
def test_links_of_both_machines(machine: str) -> None:
    """A call, a constant and a table of another object's address lead where they should."""
    binding = pytest.importorskip("llvmlite.binding")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple(f"{machine.replace('-', '_')}-unknown-linux-gnu")
    maker = target.create_target_machine(opt=2, reloc="pic", codemodel="small")
    module = binding.parse_assembly(LINKED)
    image = images.link(maker.emit_object(module), ("run",))
    assert [name for _, name in image.slots] == ["outer"]
    ((slot, _),) = image.slots
    assert slot % 8 == 0 and image.code[slot : slot + 8] == bytes(8)
    if machine == "aarch64":
        stub = slot + 8
        page, load, _ = struct.unpack_from("<III", image.code, stub)
        high = ((page >> 5 & 0x7FFFF) << 2 | page >> 29 & 3) << 12
        assert high + (load >> 10 & 0xFFF) * 8 == slot - (stub & ~0xFFF)
    else:
        at = image.code.index(b"\xff\x25", slot)
        assert at + 6 + struct.unpack_from("<i", image.code, at + 2)[0] == slot
    with pytest.raises(images.Unlinkable):
        images.link(b"MZ" + bytes(64), ("run",))


LINKED = """
@table = private constant [4 x double] [double 1.0, double 2.0, double 3.0, double 4.0]
declare double @outer(double)
define double @run(i64 %i) {
  %place = getelementptr double, ptr @table, i64 %i
  %value = load double, ptr %place
  %result = call double @outer(double %value)
  %twice = fmul double %result, 2.5
  ret double %twice
}
"""


# Waiting.


class Terminal:
    """What a terminal is shown."""

    def __init__(self) -> None:
        self.shown = ""

    def write(self, text: str) -> None:
        self.shown += text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


def test_whoever_waits_is_told_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setitem(progress._state, "ended", 0.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with caplog.at_level("INFO", "torchgen_out.kernels"):
        with progress.waiting_for("quick"):
            pass
        assert not terminal.shown and "compiled quick" in caplog.text
    monkeypatch.setenv("TORCHGEN_QUIET", "1")
    slow(terminal, "")
    monkeypatch.setenv("TORCHGEN_QUIET", "0")
    slow(terminal, "compiles slow")
    assert terminal.shown.endswith(progress.ERASE)


def slow(terminal: Terminal, expected: str) -> None:
    """Wait for longer than one's patience."""
    import time

    with progress.waiting_for("slow"):
        end = time.monotonic() + 2
        while time.monotonic() < end and not (expected and expected in terminal.shown):
            time.sleep(0.02)
            if not expected and time.monotonic() > end - 1.8:
                break
    assert expected in terminal.shown and bool(expected) == bool(terminal.shown)


def test_files_are_safe() -> None:
    own = os.stat_result([stat.S_IFREG | 0o644, 0, 0, 1, os.geteuid(), 0, 1, 0, 0, 0])
    assert packs.is_safe(own)
    assert not packs.is_safe(os.stat_result([stat.S_IFREG | 0o664, *own[1:]]))
    assert callers.work_here()


SOAK = """
import sys
import torchgen_out as torch
torch.set_num_threads(1)
def use(i):
    digits = i % 11, i // 11 % 13, i // 143 % 17, i // 2431 % 19, 0, i // 46189
    a = torch.ones([1 + digit for digit in digits])
    b = a + 1
    return (b * b.sum(2, keepdim=True)).transpose(0, 1).reshape(-1)[:3]
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
use(0), use(1), use(3000)
before, count = held(), int(sys.argv[1])
for i in range(count):
    use(i)
torch.cpu.empty_cache()  # large freed buffers, which have a bound of their own
print(held() - before)
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="what a process holds is unknown"
)
@pytest.mark.parametrize(
    "count", [pytest.param(6_000), pytest.param(1_000_000, marks=pytest.mark.slow)]
)
def test_ever_new_shapes_leave_little_behind(count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SOAK, str(count)], stdout=subprocess.PIPE, text=True, check=True
    )
    assert float(done.stdout) < 50
