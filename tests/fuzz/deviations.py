"""What random calls are known to answer otherwise than PyTorch, each with its reason."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import NamedTuple


class Known(NamedTuple):
    """Operators by pattern, the kind of difference, and a text that it or the call contains."""

    operators: str
    kind: str
    text: str
    reason: str


REPEATED = "more than one element of the written-to tensor"

KNOWN: tuple[Known, ...] = (
    # What PyTorch refuses
    Known("*", "accepted", "not implemented for '", "computed here in more dtypes"),
    Known("*", "accepted", r"Found dtype \w+ but expected", "out= takes what the result casts to"),
    Known("*", "accepted", "only supports? bool tensor for result", "out= is cast to"),
    Known("*", "accepted", "does not support non-boolean outputs", "out= is cast to"),
    Known("*", "accepted", "int too big to convert", "numbers beside floats may be of any size"),
    Known("*", "accepted", "failed to converge", "values that are no numbers give nan"),
    Known("*", "accepted", "view size is not compatible", "PyTorch views what must be copied"),
    Known("*", "accepted", r"\[out self\]", "PyTorch resizes what it has still to read"),
    Known("isin*", "accepted", "Unsupported input type", "bools are compared, too"),
    Known("softshrink", "accepted", "lambda must be", "any lambd has a value"),
    Known("hardtanh", "accepted", "min_val cannot be greater", "the formula says what comes of it"),
    Known("fft_*shift", "accepted", "shifts", "a number is shifted to itself"),
    Known("norm_except_dim", "accepted", "tensor has no dimensions", "of a number it is itself"),
    Known("where.*", "accepted", "must be Tensor, not", "out= takes numbers, too"),
    Known("poisson", "accepted", "invalid Poisson rate", "a rate of nan gives nan"),
    Known("unravel_index", "accepted", "ZeroDivisionError", "places among no elements"),
    # What PyTorch computes
    Known("polygamma", "refused", "must be int, not Tensor", "known gap: the method's order"),
    Known("*", "refused", REPEATED, "writes into expanded tensors, docs/deviations.md"),
    Known("lu_unpack", "refused", "LU_pivots of shape", "PyTorch reads behind the pivots"),
    Known("take_along_dim", "refused", "out of bounds", "PyTorch cuts the index to 32 bits"),
    Known("linalg_eig*", "refused", "infs or NaNs", "PyTorch looks at the first matrix only"),
    Known("cholesky*", "refused", "square", "PyTorch takes matrices without elements as square"),
    Known("prod.*", "refused", "can't be cast", "PyTorch computes in the dtype of out="),
    Known("*", "refused", "result type .* can't be cast", "out= of a dtype that loses values"),
    # What PyTorch has no gradient of
    Known("special_*bessel*", "shape", "2 results, PyTorch: 1", "have gradients"),
    # What PyTorch gets wrong
    Known("grid_sampler_3d", "value", "", "PyTorch reads beside it: other values every time"),
    Known("linalg_lu_factor_ex", "refused", "pivoting", "PyTorch looks at empty ones first"),
    Known("soft_margin_loss", "accepted", "doesn't match the broadcast", "operands broadcast"),
    Known(
        "corrcoef", "value", "", "the variance of equal numbers is 0, in PyTorch a rounding error"
    ),
    Known("scaled_dot_product_attention", "accepted", "Dimension", "masks of one dim broadcast"),
    Known("fold", "refused", "expected size", "PyTorch's count of blocks overflows"),
    Known("*_copy*", "accepted", r"\[out", "out= of several results is resized"),
    Known("*_copy*", "shape", r"\[out", "PyTorch returns nothing when given several out="),
    Known("*median*", "value", "", "PyTorch reads expanded tensors as if they were dense"),
    Known("fft_*freq", "value", r"\[out stepped\]", "PyTorch leaves steps of out= unwritten"),
    Known("fft_*freq", "memory", r"\[out stepped\]", "PyTorch leaves steps of out= unwritten"),
)


def reason_for(operator: str, kind: str, what: str, call: str) -> str | None:
    """Why a difference is none, or None."""
    for known in KNOWN:
        if (
            fnmatchcase(operator, known.operators)
            and kind == known.kind
            and (re.search(known.text, what) or re.search(known.text, call))
        ):
            return known.reason
    return None
