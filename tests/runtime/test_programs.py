"""What programs written for PyTorch ask of a library: its name, its version, what it has not."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import io
import json
import pkgutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import torchgen_out as torch
from codegen.emit import package
from codegen.model.surface import AbsentModule
from codegen.project import LIBRARY

SURFACE = LIBRARY.read().surface
INNER = ("operators", "kernels", "nodes", "functions", "as_torch", "_runtime", "codegen")
"""Modules that are for the library itself."""
NEEDS_PACKAGES = ("utils.tensorboard",)


def public_modules() -> Iterator[ModuleType]:
    """Every module of the package that users import."""
    yield torch
    for found in pkgutil.walk_packages(torch.__path__, "torchgen_out."):
        name = found.name.removeprefix("torchgen_out.")
        if not any(
            name == each or name.startswith(f"{each}.") for each in (*INNER, *NEEDS_PACKAGES)
        ):
            yield importlib.import_module(found.name)


def test_public_classes_stand_where_users_find_them() -> None:
    """No class says that it stands in a hand-written module, and each is where it says."""
    seen, wrong = 0, []
    for module in public_modules():
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if not inspect.isclass(value) or name.startswith("_"):
                continue
            place = value.__module__
            if place.startswith("torchgen_out._runtime."):
                wrong.append(f"{module.__name__}.{name}: {place}")
            elif place.startswith("torchgen_out"):
                seen += 1
                if not _stands(value):
                    wrong.append(f"{module.__name__}.{name}: not at {place}.{value.__qualname__}")
    assert seen > 300
    assert not wrong, "\n".join(sorted(set(wrong)))


def _stands(cls: type) -> bool:
    """Whether a class is where it says, as pickling asks."""
    if importlib.util.find_spec(cls.__module__) is None:
        return False
    found: object = importlib.import_module(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls


@pytest.mark.parametrize("name", package.lazy_modules(SURFACE))
def test_modules_load_when_they_are_named(name: str) -> None:
    assert getattr(torch, name) is not None


@pytest.mark.parametrize("name", list(SURFACE.at_top()))
def test_names_load_when_they_are_asked_for(name: str) -> None:
    getattr(torch, name)


@pytest.mark.parametrize("module", SURFACE.absent, ids=lambda module: module.path)
def test_absent_names_say_what_to_do(module: AbsentModule) -> None:
    found = importlib.import_module(f"torchgen_out.{module.path}")
    for name in (*module.classes, *module.functions):
        with pytest.raises(NotImplementedError, match=rf"{name} is not provided by torchgen_out: "):
            getattr(found, name)(1, 2)
    for name in module.classes:
        derived = type(name, (getattr(found, name),), {})
        assert not isinstance(1, derived)
    for name in module.marks:
        mark = getattr(found, name)
        assert mark(test_names_load_when_they_are_asked_for) is not None
        assert mark("option")(len) is len
    for name, value in module.answers:
        assert repr(getattr(found, name)()) == value


def test_missing_names() -> None:
    with pytest.raises(AttributeError, match="'nothing': it is not provided by torchgen_out"):
        torch.nothing  # noqa: B018
    assert not hasattr(torch, "nothing") and getattr(torch, "nothing", 3) == 3


def test_absent_devices_can_be_named() -> None:
    device = torch.device("mps:1")
    assert (str(device), device.type, device.index) == ("mps:1", "mps", 1)
    assert not torch.is_autocast_enabled("mps")
    assert not torch.ones(1).is_mps
    for make in (
        lambda: torch.ones(1, device="xpu"),
        lambda: torch.empty(1).to("mps"),
        lambda: torch.tensor([1], device="xla"),
        lambda: torch.nn.Linear(1, 1, device="mps"),
    ):
        with pytest.raises(NotImplementedError, match="not linked with support for"):
            make()
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.device("toaster")


def test_what_a_compiler_would_do() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.compile(len) is len and torch.jit.script(len) is len
        assert torch.compile(mode="max-autotune")(len) is len
        assert torch.nn.ReLU().compile(mode="max-autotune") is None
    assert not torch.jit.is_scripting() and not torch.compiler.is_compiling()
    assert torch.jit.isinstance([1], list[int]) and not torch.jit.isinstance([1], dict[str, int])


def test_operators_by_overload() -> None:
    x = torch.ones(2)
    assert torch.ops.aten.add.Tensor(x, x).tolist() == [2.0, 2.0]
    assert torch.ops.aten.mul.Scalar(x, 3).tolist() == [3.0, 3.0]
    assert "dim" in torch.ops.aten.max.overloads()
    assert str(torch.ops.aten.add.Tensor) == "aten.add.Tensor"
    with pytest.raises(AttributeError, match="has no overload name 'Tenser'"):
        torch.ops.aten.add.Tenser  # noqa: B018
    assert not hasattr(torch.ops.torchvision, "nms")
    with pytest.raises(OSError, match=r"could not load some\.so"):
        torch.ops.load_library("some.so")


def test_operators_of_python_functions() -> None:
    @torch.library.custom_op("tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
        return x * by

    def remember(ctx, inputs, output):
        ctx.by = inputs[1]

    scaled.register_autograd(lambda ctx, grad: (grad * ctx.by * 10, None), setup_context=remember)
    x = torch.ones(2, requires_grad=True)
    torch.ops.tests.scaled(x, 3.0).sum().backward()
    assert x.grad.tolist() == [30.0, 30.0] and scaled(x, 2.0).tolist() == [2.0, 2.0]
    assert str(torch.ops.tests.scaled) == "tests.scaled"
    with pytest.raises(ValueError, match="namespace::name"):
        torch.library.custom_op("scaled", len, mutates_args=())


def test_operators_with_a_kernel_for_each_type_of_device() -> None:
    @torch.library.custom_op("tests::tripled", mutates_args=(), device_types="cuda")
    def tripled(x: torch.Tensor) -> torch.Tensor:
        raise AssertionError("no tensor is on a GPU")

    with pytest.raises(NotImplementedError, match="Could not run 'tests::tripled' with arguments"):
        tripled(torch.ones(2))
    tripled.register_kernel("cpu")(lambda x: x * 3)
    torch.library.register_fake("tests::tripled", lambda x: torch.empty_like(x))
    assert tripled(torch.ones(2)).tolist() == [3.0, 3.0]
    assert tripled(torch.ones(2, device="meta")).shape == (2,)
    result = tripled(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        result.sum().backward()
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        tripled(3)


def test_functions_that_are_no_operators() -> None:
    def untyped(x):
        return x

    def without_result(x: torch.Tensor):
        return x

    def shared(x: torch.Tensor) -> torch.Tensor:
        return x.view(-1)

    for function, reason in (
        (untyped, "Parameter x must have"),
        (without_result, "No return type"),
    ):
        with pytest.raises(ValueError, match=reason):
            torch.library.custom_op("tests::refused", function, mutates_args=())
    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        torch.library.custom_op("tests::shared", shared, mutates_args=())(torch.ones(2))


@pytest.mark.parametrize(
    "module",
    [
        "torchgen_out._runtime.library.nn.containers",
        "torch.nn.modules.container",
        "torchgen_out.nn",
    ],
)
def test_whole_modules_by_all_their_names(module: str) -> None:
    buffer = io.BytesIO()
    torch.save(torch.nn.Sequential(), buffer, _use_new_zipfile_serialization=False)
    name = b"torch.nn.modules.container"  # files have PyTorch's names
    assert b"c" + name + b"\n" in buffer.getvalue()
    text = _renamed(buffer.getvalue(), name, module.encode())
    loaded = torch.load(io.BytesIO(text), weights_only=False)
    assert type(loaded) is torch.nn.Sequential


def _renamed(file: bytes, before: bytes, after: bytes) -> bytes:
    """A pickle of protocol 2 names a class by lines of text."""
    return file.replace(b"c" + before + b"\n", b"c" + after + b"\n")


PROFILE_COLUMNS = (
    "cpu_time_total self_cpu_time_total cpu_time cpu_memory_usage self_cpu_memory_usage "
    "cuda_time_total self_cuda_time_total device_time_total self_device_memory_usage count"
)


@pytest.mark.parametrize("column", PROFILE_COLUMNS.split())
def test_profiles_are_sorted_by_every_column(column: str) -> None:
    with torch.autograd.profiler.profile() as record:
        torch.ones(2).exp().add_(1)
    assert "aten::exp" in record.key_averages().table(sort_by=column, row_limit=-1)
    assert getattr(record.total_average(), column) >= 0


def test_a_profile_tells_its_whole_and_takes_metadata(tmp_path: Path) -> None:
    with torch.profiler.profile() as record:
        record.add_metadata("run", "first")
        record.add_metadata_json("settings", '{"rate": 1}')
        torch.ones(2).exp()
        record.toggle_collection_dynamic(False, [torch.profiler.ProfilerActivity.CPU])
        torch.ones(2).sin()
        record.toggle_collection_dynamic(True, [torch.profiler.ProfilerActivity.CPU])
        torch.ones(2).cos()
    names = [each.name for each in record.events()]
    assert "aten::exp" in names
    assert "aten::cos" in names
    assert "aten::sin" not in names
    record.export_chrome_trace(str(tmp_path / "trace.json"))
    written = json.loads((tmp_path / "trace.json").read_text())
    assert written["run"] == "first"
    assert written["settings"] == {"rate": 1}
    assert len(written["traceEvents"]) == len(names) == record.events().total_average().count


def test_profile_counts_calls_and_leaves_no_trace() -> None:
    x = torch.ones(4)
    with torch.profiler.profile() as record, torch.profiler.record_function("mine"):
        for _ in range(3):
            x + x
    counts = {each.key: each.count for each in record.key_averages()}
    assert counts == {"aten::add": 3, "mine": 1}
    before = len(record.events())
    x + x
    assert len(record.events()) == before
    steps = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [steps(i).name for i in range(5)] == [
        "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE",
    ]  # fmt: skip


def test_models_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("SIZE = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "import beside\n"
        "def numbers(count):\n    'Some numbers.'\n    return list(range(count * beside.SIZE))\n"
    )
    assert torch.hub.load(tmp_path, "numbers", 1, source="local") == [0, 1, 2]
    assert torch.hub.list(tmp_path) == ["numbers"]
    assert torch.hub.help(tmp_path, "numbers") == "Some numbers."
    with pytest.raises(RuntimeError, match="Cannot find callable letters"):
        torch.hub.load(tmp_path, "letters", source="local")
    with pytest.raises(NotImplementedError, match="clone some/where"):
        torch.hub.load("some/where", "numbers")


def test_weights_from_a_url(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(2)}, tmp_path / "w.pt")
    url = (tmp_path / "w.pt").as_uri()
    loaded = torch.hub.load_state_dict_from_url(url, tmp_path / "kept")
    assert loaded["w"].tolist() == [1.0, 1.0]
    (tmp_path / "w.pt").unlink()
    assert torch.utils.model_zoo.load_url(url, tmp_path / "kept")["w"].tolist() == [1.0, 1.0]
    torch.save(1, tmp_path / "w-abc.pt")
    with pytest.raises(RuntimeError, match='expected "abc"'):
        torch.hub.load_state_dict_from_url(
            (tmp_path / "w-abc.pt").as_uri(), tmp_path / "kept", check_hash=True
        )
    assert sorted(each.name for each in (tmp_path / "kept").iterdir()) == ["w.pt"]


PROGRAM = """
import importlib.metadata, importlib.util, multiprocessing, pickle, sys
import torch
import torch.nn as nn
import torch.utils._pytree
import torchgen_out

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return torch.tensor(float(index))

def ask(queue):
    import torch as again
    queue.put((again.__name__, again.nn.Linear.__module__))

if __name__ == "__main__":
    assert sys.argv[1:] == ["an", "argument"], sys.argv
    assert torch is torchgen_out and nn is torchgen_out.nn and torch.nn is nn
    assert torch.utils._pytree is torchgen_out.utils._pytree
    assert not [n for n in sys.modules if n.startswith("torch.")
                and sys.modules[n] is not sys.modules["torchgen_out" + n[5:]]]
    assert str(type(torch.ones(1))) == "<class 'torch.Tensor'>"
    assert nn.Linear.__module__ == "torch.nn.modules.linear"
    assert torch.optim.SGD.__module__ == "torch.optim.sgd"
    assert importlib.metadata.version("torch") == torch.__version__
    assert importlib.util.find_spec("torch.no_such_module") is None
    assert isinstance(pickle.loads(pickle.dumps(nn.Linear(1, 1))), nn.Linear)
    loader = torch.utils.data.DataLoader(Numbers(), 2, num_workers=1,
                                         multiprocessing_context="spawn")
    assert [each.tolist() for each in loader] == [[0.0, 1.0], [2.0, 3.0]]
    context = multiprocessing.get_context("forkserver")
    queue = context.Queue()
    child = context.Process(target=ask, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == ("torch", "torch.nn.modules.linear")
    child.join()
    print("well")
"""


def test_a_program_runs_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    (tmp_path / "module.py").write_text("import torch, sys\nprint(torch.__name__, sys.argv[1:])\n")
    for how, told in (
        ([str(path)], "well\n"),
        (["-m", "module"], "torch ['an', 'argument']\n"),
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "torchgen_out.as_torch", *how, "an", "argument"],
            capture_output=True, text=True, check=False, cwd=tmp_path if how[0] == "-m" else None,
        )  # fmt: skip
        assert (ended.returncode, ended.stdout) == (0, told), ended.stderr


def test_pytorch_must_not_be_imported_before(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("")
    ended = subprocess.run(
        [sys.executable, "-c",
         f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
         "import torch\nimport torchgen_out.as_torch"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "RuntimeError: PyTorch is imported already, from " in ended.stderr
