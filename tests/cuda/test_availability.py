"""What users see on a machine without CUDA, and what they are told."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import torchgen_out as torch
from tests.cuda.recording_driver import RecordingDriver
from torchgen_out._runtime.backends.cuda import availability, driver

pytestmark = pytest.mark.usefixtures("no_gpu")
DRIVER_ANSWER = availability.driver_answer.__wrapped__


def test_scripts_choose_the_cpu():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert torch.ones(2, device=device).device.type == "cpu"
    assert torch.cuda.device_count() == 0
    assert not torch.cuda.is_bf16_supported()
    assert not torch.cuda.is_initialized()


def test_asking_loads_no_package():
    code = (
        "import sys, torchgen_out as torch; torch.cuda.is_available();"
        "torch.backends.cudnn.enabled;"
        "assert not {'numba', 'numba.cuda', 'cuda.core'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_seeding_needs_no_device():
    torch.cuda.manual_seed(3)
    torch.cuda.manual_seed_all(3)
    torch.cuda.seed()
    torch.cuda.seed_all()
    assert torch.cuda.get_rng_state_all() == []


def test_blocks_that_change_nothing():
    x = torch.ones(2)
    with torch.cuda.device(-1), torch.cuda.device(None), torch.cuda.device_of(x):
        torch.cuda.set_device(-1)
    with torch.cuda.stream(None):
        assert not torch.cuda.Event(enable_timing=True).cuda_event


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.rand(2, device="cuda:0"),
        lambda: torch.tensor([1.0], device="cuda"),
        lambda: torch.ones(2).cuda(1),
        lambda: torch.ones(2).to("cuda"),
        lambda: torch.nn.Linear(2, 2).cuda(),
        lambda: torch.cuda.FloatTensor(2),
        lambda: torch.cuda.current_device(),
        lambda: torch.cuda.set_device(0),
        lambda: torch.cuda.device(0).__enter__(),
        lambda: torch.cuda.init(),
        lambda: torch.cuda.synchronize(),
        lambda: torch.cuda.Stream(),
        lambda: torch.cuda.current_stream(),
        lambda: torch.cuda.Event().record(),
        lambda: torch.cuda.get_device_name(0),
        lambda: torch.cuda.get_device_properties("cuda"),
        lambda: torch.cuda.mem_get_info(),
        lambda: torch.cuda.get_rng_state(),
    ],
)
def test_using_a_device_says_what_is_missing(call):
    with pytest.raises(RuntimeError, match=r"^CUDA is not available: .*no NVIDIA driver") as found:
        call()
    assert "https://www.nvidia.com/drivers" in str(found.value)


@pytest.mark.parametrize(
    ("answer", "phrase"),
    [
        ((None, 0), "Found no NVIDIA driver on your system"),
        ((0, 0), "no CUDA GPUs are available"),
        ((100, 0), "no CUDA GPUs are available"),
        ((35, 0), "driver on your system is too old"),
        ((34, 0), "the toolkit's stub"),
        ((803, 0), "of different versions"),
        ((999, 0), r"does not start \(error 999\)"),
    ],
)
def test_every_state_of_the_driver_is_explained(monkeypatch, answer, phrase):
    monkeypatch.setattr(availability, "driver_answer", lambda: answer)
    with pytest.raises(RuntimeError, match=phrase):
        torch.ones(1, device="cuda")


class Answering:
    """A driver's library that says its version and shows two devices."""

    def __init__(self, version: int) -> None:
        self.version = version

    def cuInit(self, flags):
        return 0

    def cuDriverGetVersion(self, address):
        address._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, address):
        address._obj.value = 2
        return 0


@pytest.mark.parametrize(("version", "answer"), [(12090, (35, 0)), (13000, (0, 2))])
def test_the_driver_must_know_cuda_13(monkeypatch, version, answer):
    monkeypatch.setattr(availability, "_is_begun", False)
    monkeypatch.setattr(availability.ctypes, "CDLL", lambda name: Answering(version))
    assert DRIVER_ANSWER() == answer and availability._is_begun


def test_forked_children_are_told(monkeypatch):
    monkeypatch.setattr(availability, "_is_begun", True)
    monkeypatch.setattr(availability, "_missing_packages", lambda: "")
    monkeypatch.setattr(availability, "driver_answer", lambda: (0, 1))
    monkeypatch.setattr(driver, "_driver", RecordingDriver())
    event = torch.cuda.Event()
    event.record()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            del event
            torch.ones(1, device="cuda")
        except RuntimeError as error:
            said = str(error)
        os._exit(0 if "in forked subprocess" in said and not torch.cuda.is_available() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert torch.cuda.is_available()


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(availability, "driver_answer", lambda: (0, 1))
    monkeypatch.setattr(availability, "_is_installed", lambda module: module != "cuda.core")
    availability._missing_packages.cache_clear()
    try:
        missing = r"\(cuda-core\): pip install 'torchgen-out\[cuda\]'"
        with pytest.raises(RuntimeError, match=missing):
            torch.ones(1, device="cuda")
    finally:
        availability._missing_packages.cache_clear()


def test_with_all_there_it_is_available(monkeypatch):
    monkeypatch.setattr(availability, "driver_answer", lambda: (0, 3))
    monkeypatch.setattr(availability, "_missing_packages", lambda: "")
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 3


def test_old_types_are_known_without_a_device():
    assert not isinstance(torch.ones(2), torch.cuda.FloatTensor)
    assert torch.cuda.FloatTensor.__name__ == "FloatTensor"
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError)
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.synchronize("cpu")
