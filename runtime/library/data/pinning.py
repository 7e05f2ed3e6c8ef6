"""Batches in page-locked memory, from which a device copies faster."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.data.collate import like_mapping, like_sequence
from torchgen_out._runtime.library.data.failure import Failure
from torchgen_out._runtime.library.data.worker import Answer
from torchgen_out._runtime.library.data.worker_pool import Crew


def is_wanted(pin_memory: bool, pin_memory_device: str) -> bool:
    """Whether batches are to be pinned and there is a device for which."""
    if pin_memory_device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device, "
            f"ignore pin_memory_device='{pin_memory_device}'.",
        )
    if not pin_memory:
        return False
    if torch.cuda.is_available():
        return True
    warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned "
        "memory won't be used.",
    )
    return False


def pinned(sample: Any) -> Any:
    """The same batch in page-locked memory, at any depth."""
    if isinstance(sample, (str, bytes)):
        return sample
    if hasattr(sample, "pin_memory"):
        return sample.pin_memory()
    if isinstance(sample, Mapping):
        return like_mapping(sample, {key: pinned(item) for key, item in sample.items()})
    if isinstance(sample, Sequence):
        return like_sequence(sample, [pinned(item) for item in sample])
    return sample


class PinningThread:
    """Hears a crew and pins what it brings, while the loader's user is busy with the last batch."""

    POLL = 0.1  # seconds between two looks whether to stop

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._stopped = threading.Event()
        self._answers: queue.SimpleQueue[Answer | RuntimeError] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._live, args=(torch.cuda.current_device(),), name="pinning", daemon=True
        )
        self._thread.start()

    def _live(self, device: int) -> None:
        torch.cuda.set_device(device)
        while not self._stopped.is_set():
            try:
                answer = self._crew.receive(self.POLL)
            except RuntimeError as death:
                self._answers.put(death)
                return
            if answer is not None:
                self._answers.put(Answer(answer.epoch, answer.number, self._pin(answer.content)))

    def _pin(self, content: Any) -> Any:
        if isinstance(content, Failure):
            return content
        try:
            return pinned(content)
        except Exception as error:
            return Failure(error, "in pin memory thread")

    def receive(self, timeout: float | None = None) -> Answer | None:
        """Return the next answer; None after `timeout` seconds.

        **Raises** RuntimeError if a worker has died.
        """
        try:
            answer = self._answers.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(answer, RuntimeError):
            raise answer
        return answer

    def close(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._thread.join()
