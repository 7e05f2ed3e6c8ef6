"""Errors of devices and backends: which there are, and what they compute."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.errors.dtype_names import scalar_type_name


def unknown_device_type(text: str, known: Sequence[str]) -> RuntimeError:
    """A device string starts with no known device type."""
    return RuntimeError(
        f"Expected one of {', '.join(known)} device type at start of device string: {text}"
    )


def invalid_device_string(text: str) -> RuntimeError:
    """A device string is not `type` or `type:index`."""
    return RuntimeError(f"Invalid device string: '{text}'")


def same_device_expected(device_a: object, device_b: object) -> RuntimeError:
    """Two operands of one operator live on different devices."""
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{device_a} and {device_b}!"
    )


def absent_device(device_type: str) -> NotImplementedError:
    """A tensor shall live on a device that PyTorch knows and this library has no backend for."""
    return NotImplementedError(
        f"torchgen_out is not linked with support for {device_type} devices: tensors live on "
        "'cpu', on 'cuda' where there is a GPU, and on 'meta'"
    )


def absent_dtype(dtype: object) -> NotImplementedError:
    """A tensor shall have a dtype that PyTorch knows and nothing here computes in."""
    return NotImplementedError(
        f"{dtype} is not provided by torchgen_out: no operator computes in it"
    )


def no_accelerator() -> RuntimeError:
    """A device is needed, and there is none."""
    return RuntimeError("Cannot access accelerator device when none is available.")


def no_backend(device_type: str) -> NotImplementedError:
    """No backend is registered for a device type."""
    return NotImplementedError(
        f"device type '{device_type}' has no backend; import the package that brings it, or "
        "register one with torch.utils.backend_registration.register_backend"
    )


def makes_ranges_on_host(backend: str) -> NotImplementedError:
    """A backend that does not make ranges is asked for one."""
    return NotImplementedError(f"{backend} makes ranges on the host")


def no_kernel(operator: str, backend: str) -> NotImplementedError:
    """An operator has no kernel for a backend."""
    return NotImplementedError(
        f"no {backend} kernel for '{operator}'; add it to native_functions.yaml under dispatch"
    )


def no_kernel_of_device(operator: str, device_type: str) -> NotImplementedError:
    """A backend from outside neither computes an operator nor leaves it to the host."""
    return NotImplementedError(
        f"'{operator}' is not implemented for device type '{device_type}': its backend has no "
        "kernel for it, and does not name it in `host_operators`"
    )


def dtype_not_on_device(dtype: object, device_type: str, has: list[str]) -> TypeError:
    """A tensor shall have a dtype that its device does not have."""
    return TypeError(
        f"'{device_type}' tensors cannot be {dtype}; they are {', '.join(sorted(has))}"
    )


def not_a_backend(given: object) -> TypeError:
    """What is registered for a device type lacks something of the protocol."""
    return TypeError(
        f"register_backend(): expected a Backend, got {type(given).__name__}; derive it from "
        "torch.utils.backend_registration.OwnMemory or Backend"
    )


def device_type_taken(name: str) -> RuntimeError:
    """A backend shall be registered for a device type of the library itself."""
    return RuntimeError(f"register_backend(): '{name}' is served by the library itself")


def private_type_renamed(name: str) -> RuntimeError:
    """The device type privateuseone shall have a second name."""
    return RuntimeError(
        "torch.register_privateuse1_backend() has already been set! Current backend: " + name
    )


def private_type_unnamed() -> RuntimeError:
    """Methods are named after a device type that has no name."""
    return RuntimeError(
        "generate_methods_for_privateuse1_backend: name the device type first, by "
        "torch.utils.rename_privateuse1_backend"
    )


def no_such_device(device: object, count: int) -> RuntimeError:
    """A tensor shall lie on a device beyond the last."""
    return RuntimeError(
        f"there is no device '{device}': there {'is' if count == 1 else 'are'} {count}"
    )


_refusals: dict[str, str] = {}
"""What users are told of dtypes that an operator does not compute in, where there is a reason."""


def refuse(operator: str, sentence: str) -> None:
    """Let `dtype_not_supported` say this of an operator, as a RuntimeError."""
    _refusals[operator] = sentence


def has_refusal(operator: str) -> bool:
    """Whether there is such a sentence: then every operand must be of an accepted dtype."""
    return operator in _refusals


def dtype_not_supported(operator: str, dtype: object, accepted: object) -> RuntimeError:
    """An operator does not compute in a dtype: a NotImplementedError, unless it says why."""
    refusal = _refusals.get(operator)
    if refusal is not None:
        return RuntimeError(f"{refusal}. Got: {scalar_type_name(dtype)}")
    return NotImplementedError(
        f"\"{operator}\" not implemented for '{scalar_type_name(dtype)}'; it computes in {accepted}"
    )


def no_meta(operator: str) -> NotImplementedError:
    """The shape of a result depends on data that a meta tensor does not have."""
    return NotImplementedError(
        f"{operator}: the result's shape depends on the data, which tensors on 'meta' do not have"
    )


def wrong_shape_answer(operator: str, outputs: int, got: object) -> TypeError:
    """A hand-written shape function does not say what its results are."""
    wanted = "(sizes, dtype)" if outputs == 1 else f"{outputs} times (sizes, dtype)"
    return TypeError(f"{operator}: the shape function must return {wanted}, not {got!r}")


def wrong_kernel_result(operator: str, got: object) -> TypeError:
    """A hand-written kernel that allocates its result returned none."""
    return TypeError(
        f"{operator}: a kernel of `meta: dynamic` must return its array, not {type(got).__name__}"
    )


def no_data_on_meta() -> NotImplementedError:
    """The elements of a meta tensor were asked for."""
    return NotImplementedError("Cannot copy out of meta tensor; no data!")
