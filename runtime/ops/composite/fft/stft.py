"""Short-time Fourier transforms: windowed frames of a signal, and the signal out of frames."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import batched, deprecation
from torchgen_out._runtime.dispatch import ops


def _refuse(name: str, expected: str, got: object) -> RuntimeError:
    return RuntimeError(f"{name}(): expected {expected}, but got {got}")


def _lengths(name: str, n_fft: int, hop: int | None, win: int | None) -> tuple[int, int]:
    """The hop and the window's length, with their defaults."""
    hop = n_fft // 4 if hop is None else hop
    win = n_fft if win is None else win
    if hop <= 0:
        raise _refuse(name, "hop_length > 0", f"hop_length={hop}")
    if not 0 < win <= n_fft:
        raise _refuse(name, "0 < win_length <= n_fft", f"win_length={win}")
    return hop, win


def _window(name: str, window: Any, win: int, n_fft: int, like: Any) -> Any:
    """The window in the middle of n_fft points; None where it is all ones."""
    if window is not None and (window.ndim != 1 or window.shape[0] != win):
        raise _refuse(name, f"a 1D window tensor of size equal to win_length={win}",
                      f"window with size {list(window.shape)}")  # fmt: skip
    if win == n_fft:
        return window
    if window is None:
        window = like.new_ones((win,))
    left = (n_fft - win) // 2
    return ops.constant_pad_nd(window, [left, n_fft - win - left])


def stft(
    self: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The transforms of overlapping frames, frequencies before frames."""
    if window is None:
        deprecation.no_window("stft")
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    _check_signal(self)
    is_complex = self.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs; "
                "return_complex=True is the better choice"
            )
        return_complex = True
    signal = self if self.ndim == 2 else self.unsqueeze(0)
    hop, win = _lengths("stft", n_fft, hop_length, win_length)
    if center:
        signal = _centered(signal, n_fft // 2, pad_mode)
    elif align_to_window:
        left = (n_fft - win) // 2
        signal = ops.constant_pad_nd(signal, [left, n_fft - win - left])
    if not 0 < n_fft <= signal.shape[-1]:
        raise _refuse("stft", f"0 < n_fft <= {signal.shape[-1]}", f"n_fft={n_fft}")
    window = _window("stft", window, win, n_fft, signal)
    frames = signal.unfold(-1, n_fft, hop)
    result = _transform(frames if window is None else frames * window, normalized, onesided)
    result = result.transpose(1, 2)
    result = result if self.ndim == 2 else result.squeeze(0)
    return result if return_complex else ops.view_as_real(result)


def _check_signal(signal: Any) -> None:
    if signal.dtype.kind not in "fc":
        raise _refuse("stft", "a tensor of floating point or complex values", signal.dtype)
    if signal.ndim not in (1, 2):
        raise _refuse("stft", "a 1D or 2D tensor", f"{signal.ndim}D")


def _centered(signal: Any, count: int, pad_mode: str) -> Any:
    """Frames begin half a frame before the signal."""
    padded = ops.pad(signal.unsqueeze(0), [count, count], mode=pad_mode)
    return padded.squeeze(0)


def _transform(frames: Any, normalized: bool, onesided: bool | None) -> Any:
    norm = "ortho" if normalized else None
    if frames.dtype.is_complex:
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        return ops.fft_fft(frames, norm=norm)
    if onesided is None or onesided:
        return ops.fft_rfft(frames, norm=norm)
    return ops.fft_fft(frames, norm=norm)


def istft(
    self: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal whose frames, windowed twice and added up, come closest."""
    if window is None:
        deprecation.no_window("istft")
    onesided = _check_frames(self, n_fft, onesided, return_complex)
    if window is not None and window.dtype.is_complex and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    hop, win = _lengths("istft", n_fft, hop_length, win_length)
    spectra = (self if self.ndim == 3 else self.unsqueeze(0)).transpose(1, 2)
    if window is None:
        window = (spectra if return_complex else spectra.real).new_ones((win,))
    window = _window("istft", window, win, n_fft, spectra)
    frames = _inverse(spectra, n_fft, normalized, onesided, return_complex)
    count = frames.shape[1]
    total = n_fft + hop * (count - 1)
    signal = _overlapped(frames * window, total, n_fft, hop)
    squares = (window * window).expand((1, count, n_fft))
    envelope = _overlapped(squares, total, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - (n_fft // 2 if center else 0)
    if start or end != total:
        signal, envelope = signal[:, start:end], envelope[:, start:end]
    if envelope.numel() and batched.any_true(envelope.detach().abs() < 1e-11):
        raise RuntimeError("istft(): window overlap add min: the window leaves gaps in the signal")
    signal = signal / envelope
    if length is not None and end > total:
        signal = ops.constant_pad_nd(signal, [0, end - total])
    return signal if self.ndim == 3 else signal.squeeze(0)


def _check_frames(spectra: Any, n_fft: int, onesided: bool | None, return_complex: bool) -> bool:
    """Whether the spectra are halves."""
    if not spectra.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if spectra.ndim not in (2, 3) or not spectra.numel():
        raise _refuse("istft", "a tensor with 2 or 3 dimensions and elements", spectra.shape)
    if onesided is None:
        onesided = spectra.shape[-2] != n_fft
    if onesided and return_complex:
        raise RuntimeError("istft(): complex output needs onesided=False")
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if spectra.shape[-2] != wanted:
        raise _refuse("istft", f"{wanted} frequencies in the last dim but one", spectra.shape[-2])
    return onesided


def _inverse(
    spectra: Any, n_fft: int, normalized: bool, onesided: bool, return_complex: bool
) -> Any:
    norm = "ortho" if normalized else None
    if return_complex:
        return ops.fft_ifft(spectra, norm=norm)
    half = spectra if onesided else spectra[..., : n_fft // 2 + 1]
    return ops.fft_irfft(half, n_fft, norm=norm)


def _overlapped(frames: Any, total: int, size: int, step: int) -> Any:
    """Frames added up where they overlap."""
    return ops.unfold_backward(frames, (frames.shape[0], total), 1, size, step)
