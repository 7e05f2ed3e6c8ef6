"""Type promotion against PyTorch, exhaustively: every pair, and every triple of ranked operands."""

import itertools

import pytest

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")

NUMBERS = (True, 1, 1.5, 2j)


def theirs(dtype):
    return getattr(torch, dtype.name)


def compare(ours, expected):
    assert ours.name == str(expected).removeprefix("torch.")


def answer(function, *args):
    """The name of the dtype that a function tells, or how it refuses."""
    try:
        return str(function(*args))
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("a", dtypes.ALL, ids=str)
def test_promote_types_and_can_cast(a):
    for b in dtypes.ALL:
        both = theirs(a), theirs(b)
        assert answer(promotion.promote_types, a, b) == answer(torch.promote_types, *both)
        assert promotion.can_cast(a, b) == torch.can_cast(*both)


@pytest.fixture(scope="module")
def operands():
    """One (entry, PyTorch operand) per dtype and rank, and one per Python number."""
    found = []
    for dtype in dtypes.ALL:
        found.append(((dtype, promotion.DIMENSIONED), torch.ones(1, dtype=theirs(dtype))))
        found.append(((dtype, promotion.ZERO_DIM), torch.ones((), dtype=theirs(dtype))))
    for number in NUMBERS:
        found.append(((promotion.number_dtype(number), promotion.NUMBER), number))
    return found


def same_answer(ours, expected):
    """Whether dtypes are the same; a refusal names the dtypes in the order of the operands."""
    return ours == expected or (ours.startswith("Promotion for ") and expected[:20] == ours[:20])


@pytest.mark.parametrize("default", ["float32", "float64", "float16", "bfloat16"])
def test_result_type_of_pairs(operands, default):
    dtypes.set_default_dtype(dtypes.by_name(default))
    torch.set_default_dtype(getattr(torch, default))
    try:
        for (ours_a, theirs_a), (ours_b, theirs_b) in itertools.product(operands, operands):
            if isinstance(theirs_a, complex | float):
                ours_a = (promotion.number_dtype(theirs_a), promotion.NUMBER)
            if isinstance(theirs_b, complex | float):
                ours_b = (promotion.number_dtype(theirs_b), promotion.NUMBER)
            expected = answer(torch.result_type, theirs_a, theirs_b)
            assert same_answer(answer(promotion.result_type, [ours_a, ours_b]), expected)
    finally:
        dtypes.set_default_dtype(dtypes.float32)
        torch.set_default_dtype(torch.float32)


def test_result_type_of_triples(operands):
    """where(condition, a, b) does not promote its condition; addcmul promotes three tensors."""
    tensors = [each for each in operands if isinstance(each[1], torch.Tensor)]
    tensors = [each for each in tensors if each[0][0] not in (dtypes.bool, dtypes.int16)]
    for (a, x), (b, y), (c, z) in itertools.combinations_with_replacement(tensors, 3):
        try:
            expected = torch.addcmul(x, y, z).dtype
        except RuntimeError:  # no kernel for this dtype: promotion is not in question
            continue
        compare(promotion.result_type([a, b, c]), expected)


@pytest.mark.parametrize(
    ("kind", "operator"),
    [
        ("default", torch.add),
        ("int_to_float", torch.true_divide),
        ("always_bool", torch.eq),
    ],
)
def test_rules(operands, kind, operator):
    for (a, x), (b, y) in itertools.product(operands, operands):
        if not isinstance(x, torch.Tensor):
            continue
        try:
            expected = operator(x, y).dtype
        except RuntimeError:
            continue
        compare(promotion.result_dtype(kind, [a, b]), expected)


def test_rules_of_one_operand():
    for dtype in dtypes.ALL:
        entry = [(dtype, promotion.DIMENSIONED)]
        sample = torch.ones(2, dtype=theirs(dtype))
        if dtype is not dtypes.bool and dtype.is_promoted:
            compare(promotion.result_dtype("complex_to_float", entry), sample.abs().dtype)
        if dtype is not dtypes.complex32 and dtype.itemsize > 1:  # what PyTorch's CPU lacks
            compare(promotion.result_dtype("int_to_float", entry), sample.exp().dtype)
        total = promotion.result_dtype("bool_to_long", entry)
        assert total is (dtypes.int64 if dtype is dtypes.bool else dtype)


def test_complex_compute_dtype():
    entry = [(dtypes.complex128, promotion.DIMENSIONED)]
    types = promotion.element_types("complex_to_float", entry)
    assert types == (dtypes.complex128, dtypes.float64)
