"""einsum beside PyTorch's by random equations: dtypes, sizes that broadcast, values, refusals."""

from __future__ import annotations

import random
from typing import Any

import pytest

import torchgen_out as torch

reference = pytest.importorskip("torch")

LABELS = "ijk"
DTYPES = ("int8", "uint8", "int64", "float32")


def nested(sizes: list[int], rng: random.Random) -> Any:
    """Lists of small whole numbers: every dtype holds their products."""
    return [nested(sizes[1:], rng) for _ in range(sizes[0])] if sizes else rng.randint(0, 2)


def random_case(rng: random.Random) -> tuple[str, list[Any], list[str]]:
    """An equation, its operands as lists and their dtypes, which mostly agree."""
    terms = ["".join(rng.sample(LABELS, rng.randint(1, 3))) for _ in range(rng.choice((1, 2, 3)))]
    seen = sorted(set("".join(terms)))
    output = "".join(rng.sample(seen, rng.randint(0, len(seen))))
    size = {label: rng.choice((1, 2, 3)) for label in LABELS}
    shapes = [[rng.choice((1, size[x], size[x], size[x])) for x in term] for term in terms]
    one = rng.choice(DTYPES)
    dtypes = [one if rng.random() < 0.8 else rng.choice(DTYPES) for _ in terms]
    return f"{','.join(terms)}->{output}", [nested(shape, rng) for shape in shapes], dtypes


def answer(library: Any, equation: str, data: list[Any], dtypes: list[str]) -> Any:
    """What einsum gives: dtype, sizes and values, or its refusal."""
    pairs = zip(data, dtypes, strict=True)
    operands = [library.tensor(values, dtype=getattr(library, dtype)) for values, dtype in pairs]
    try:
        result = library.einsum(equation, *operands)
    except RuntimeError:
        return RuntimeError
    return str(result.dtype), tuple(result.shape), result.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_random_equations(seed: int) -> None:
    rng = random.Random(seed)
    refused = 0
    for _ in range(60):
        case = random_case(rng)
        expected = answer(reference, *case)
        refused += expected is RuntimeError
        assert answer(torch, *case) == expected, case
    assert 0 < refused < 40


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "bool"])
@pytest.mark.parametrize("equation", ["ij,k->k", "ij,k->", "ij,jk->ik", "ij,ij->ij", "ij->i"])
def test_whole_numbers_are_summed_in_int64_and_contracted_in_their_own(
    equation: str, dtype: str
) -> None:
    """Sums of one operand are int64; a product that sums nothing promotes, mm's wraps around."""
    terms = equation.partition("->")[0].split(",")
    number = dtype == "bool" or 100
    data = [[[number] * 2] * 2 if len(term) == 2 else [number] * 2 for term in terms]
    dtypes = [dtype] * len(data)
    assert answer(torch, equation, data, dtypes) == answer(reference, equation, data, dtypes)
