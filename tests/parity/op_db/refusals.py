"""Error inputs: what PyTorch refuses, by an error of the same class."""

from __future__ import annotations

from collections.abc import Iterator

import torchgen_out
from tests.parity.op_db import forward
from tests.parity.op_db.attempt import attempts
from tests.parity.op_db.catalogue import Entry
from tests.parity.op_db.comparison import Fault
from tests.parity.op_db.transfer import Unavailable


def error_faults(entry: Entry) -> Iterator[Fault]:
    """PyTorch's error inputs for the entry."""
    if entry.info.error_inputs_func is None:
        return
    for i, wrong in enumerate(entry.info.error_inputs("cpu")):
        try:
            ours, theirs = attempts(entry.function(torchgen_out), entry.info.op, wrong.sample_input)
        except Unavailable:
            continue  # a layout or dtype that this library does not have
        is_meant = not isinstance(theirs.error, AttributeError)
        if theirs.error is not None and is_meant and "descriptor" not in str(theirs.error):
            # (What C or Python say of a method without a tensor is about them.)
            faults = forward.refusal_faults("error", ours, theirs)
            yield from (Fault(check, f"error input {i}: {text}") for check, text in faults)
