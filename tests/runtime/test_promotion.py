"""Promotion by the rules' own words; `tests/parity` compares every case with PyTorch."""

import pytest

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core.promotion import DIMENSIONED, NUMBER, ZERO_DIM


def test_promote_types():
    assert promotion.promote_types(dtypes.uint8, dtypes.int8) is dtypes.int16
    assert promotion.promote_types(dtypes.float16, dtypes.bfloat16) is dtypes.float32
    assert promotion.promote_types(dtypes.int64, dtypes.float16) is dtypes.float16
    assert promotion.promote_types(dtypes.float64, dtypes.complex64) is dtypes.complex128
    promoted = [each for each in dtypes.ALL if each.is_promoted]
    for a in promoted:
        assert promotion.promote_types(a, a) is a
        assert promotion.promote_types(a, dtypes.bool) is a
        for b in promoted:
            assert promotion.promote_types(a, b) is promotion.promote_types(b, a)


def test_lower_ranks_lift_the_category_only():
    tensor = (dtypes.float16, DIMENSIONED)
    assert promotion.result_type([tensor, (dtypes.float64, ZERO_DIM)]) is dtypes.float16
    assert promotion.result_type([tensor, (dtypes.float64, NUMBER)]) is dtypes.float16
    integers = (dtypes.int32, DIMENSIONED)
    assert promotion.result_type([integers, (dtypes.float64, ZERO_DIM)]) is dtypes.float64
    assert promotion.result_type([integers, (dtypes.int64, NUMBER)]) is dtypes.int32
    assert promotion.result_type([integers, (dtypes.complex64, NUMBER)]) is dtypes.complex64
    with pytest.raises(ValueError, match="at least one operand"):
        promotion.result_type([])


def test_rules():
    integers = [(dtypes.int32, DIMENSIONED)]
    assert promotion.result_dtype("default", integers) is dtypes.int32
    assert promotion.result_dtype("int_to_float", integers) is dtypes.float32
    assert promotion.element_types("always_bool", integers) == (dtypes.int32, dtypes.bool)
    booleans = [(dtypes.bool, DIMENSIONED)]
    assert promotion.result_dtype("bool_to_long", booleans) is dtypes.int64
    with pytest.raises(ValueError, match="expected one of default"):
        promotion.result_dtype("no_such_rule", integers)


def test_check_out():
    promotion.check_out(dtypes.float64, dtypes.float32)
    with pytest.raises(RuntimeError, match=r"torch\.float32 can't be cast .* torch\.int64"):
        promotion.check_out(dtypes.float32, dtypes.int64)
