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
    Known("norm_except_dim", "accepted", "Overflow when", "numbers beside floats, as above"),
    Known("*", "accepted", "c10::(Half|BFloat16) without", "numbers are kept in float32"),
    Known("*", "accepted", "support tensors of type", "computed here in more dtypes"),
    Known("*fft*", "accepted", "MKL FFT error", "of nothing a transform is nothing"),
    Known("*lu_factor*", "accepted", "U.* is zero and using it", "rounding leaves no exact zero"),
    Known("nll_loss", "accepted", "size mismatch", "PyTorch's gradient refuses what it computed"),
    Known("*", "accepted", "not enough values to unpack", "one number in a list is for all dims"),
    Known("lerp*", "accepted", "expected dtype", "the common dtype is computed in"),
    Known("huber_loss", "accepted", "can't be cast", "the loss has the common dtype"),
    Known("celu", "accepted", "alpha cannot be 0", "the formula says what comes of it"),
    Known("diff", "accepted", "start out of range", "differences of no elements are none"),
    Known("native_group_norm", "accepted", "is_contiguous", "any layout is read"),
    Known("masked_logaddexp", "accepted", "iinfo", "PyTorch asks complex numbers for a limit"),
    Known("scatter_reduce*", "accepted", "must match", "PyTorch's gradient wants equal sizes"),
    Known("linalg_cond", "accepted", "modified by an inplace", "PyTorch writes over what it saved"),
    Known("vander", "accepted", "modified by an inplace", "PyTorch writes over what it saved"),
    Known("normal*", "accepted", "must match the size", "PyTorch compares with the given out="),
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
    Known("hardtanh", "refused", "integral input", "a fraction beside integers is refused"),
    Known("lu*", "refused", "U.* is zero and using it", "PyTorch's rounding leaves no exact zero"),
    Known("gather*", "refused", "for index", "PyTorch does not look at an empty index"),
    Known("native_dropout", "refused", "probability", "PyTorch does not look where nothing is"),
    Known("bernoulli_*", "refused", "expanded size", "PyTorch does not look where nothing is"),
    Known("*svd*", "refused", "ComplexHalf", "PyTorch does not look where nothing is"),
    Known("fft_*freq", "refused", "number of samples", "PyTorch gives less than nothing"),
    Known("scaled_dot*", "refused", "probability", "PyTorch takes a negative one for none"),
    Known("scaled_dot*", "refused", "must match", "PyTorch drops heads where nothing is"),
    Known("gradient*", "refused", "exceeds dimension", "coordinates that are not one for each"),
    Known("segment_reduce", "refused", "to sum to data.size", "PyTorch reads behind the data"),
    Known("fractional_max*", "refused", "step sign", "PyTorch takes a kernel of negative size"),
    # What PyTorch has no gradient of
    Known("special_*bessel*", "shape", "2 results, PyTorch: 1", "have gradients"),
    Known("*solve*", "refused", "is singular", "to OpenBLAS a complex NaN is a zero pivot"),
    Known("batch_norm", "refused", "evaluation mode", "PyTorch does not look where nothing is"),
    Known("masked_median", "refused", "nanmedian", "PyTorch drops imaginary parts"),
    # What PyTorch gets wrong
    Known("fft_*freq", "shape", r"n=-1\b", "PyTorch counts less than nothing"),
    Known("fft_ihfft*", "shape", r"\[out short\]", "PyTorch forgets to resize out="),
    Known("grid_sampler_3d", "value", "", "PyTorch reads beside it: other values every time"),
    Known(
        "grid_sampler*", "value", "_mode=(?![0-2],)", "PyTorch leaves results of no mode unwritten"
    ),
    Known("*matrix_exp", "value", "float16", "of 16 bits it is nan in PyTorch"),
    Known("*polynomial*", "value", r"\d{10}", "degrees of which nobody computes the value"),
    Known("logit", "value", "eps=nan", "PyTorch's comparison with nan keeps the number"),
    Known("kl_div", "value", "gradient", "PyTorch's gradient at a target of 0 is nan"),
    Known(
        "slice_scatter", "value", r"/\(1, 1\)", "PyTorch writes into a copy that overlaps itself"
    ),
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
