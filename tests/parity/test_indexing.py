"""Indexing against PyTorch: values, shapes, strides, view or copy, gradients, errors."""

import itertools
import math
import random
import warnings
from operator import getitem

import numpy as np
import pytest

import torchgen_out
from torchgen_out._runtime.factories import from_data

theirs = pytest.importorskip("torch")


def both(array):
    """Our tensor and PyTorch's."""
    return from_data.tensor(array), theirs.tensor(array)


def translate(index):
    """The same index for PyTorch: arrays marked by `mark` stand for tensors."""
    if isinstance(index, tuple):
        pairs = [translate(item) for item in index]
        return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    if isinstance(index, np.ndarray):
        return both(index)
    return index, index


def outcome(action, *arguments):
    """What happens: the result, or the class of the error and its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return action(*arguments)
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            return error


def compare(mine, reference, index):
    if isinstance(reference, Exception):
        assert type(mine) is type(reference), (index, mine, reference)
        return
    assert not isinstance(mine, Exception), (index, mine)
    assert tuple(mine.shape) == tuple(reference.shape), index
    assert mine.tolist() == reference.tolist(), index


def random_item(rng, size):
    kind = rng.random()
    if kind < 0.25:
        return rng.randint(-size - 1, size) if rng.random() < 0.1 else rng.randrange(-size, size)
    if kind < 0.5:
        bounds = [rng.choice([None, rng.randint(-size - 1, size + 1)]) for _ in range(2)]
        return slice(*bounds, rng.choice([None, 1, 2, 3]))
    if kind < 0.58:
        return None
    if kind < 0.65:
        return Ellipsis
    if kind < 0.7:
        return rng.choice([True, False])
    if kind < 0.75:
        return [rng.randrange(-size, size) for _ in range(rng.randint(0, 3))]
    if kind < 0.8:
        return [rng.random() < 0.5 for _ in range(size)]
    if kind < 0.85:
        return np.array(rng.randrange(-size, size))
    shape = rng.choice([(2,), (1,), (2, 1), (1, 2), (2, 2)])
    return np.array([rng.randrange(-size, size) for _ in range(int(np.prod(shape)))]).reshape(shape)


def random_index(rng, shape):
    items, ellipsis = [], False
    dims = list(shape)
    while dims and rng.random() < 0.8:
        item = random_item(rng, dims[0])
        if item is Ellipsis and ellipsis:
            continue
        ellipsis = ellipsis or item is Ellipsis
        items.append(item)
        if item is not None and item is not Ellipsis and not isinstance(item, bool):
            dims.pop(0)
    return items[0] if len(items) == 1 and rng.random() < 0.5 else tuple(items)


SHAPES = [(5,), (3, 4), (2, 3, 4), (2, 3, 2, 3)]


@pytest.mark.parametrize("seed", range(4))
def test_reading(seed):
    rng = random.Random(seed)
    for _ in range(400):
        shape = rng.choice(SHAPES)
        array = np.arange(float(np.prod(shape))).reshape(shape)
        x, y = both(array)
        index = random_index(rng, shape)
        mine, reference = translate(index)
        compare(outcome(getitem, x, mine), outcome(getitem, y, reference), index)


@pytest.mark.parametrize("seed", range(4))
def test_writing(seed):
    rng = random.Random(seed)
    for _ in range(300):
        shape = rng.choice(SHAPES)
        array = np.arange(float(np.prod(shape))).reshape(shape)
        x, y = both(array)
        index = random_index(rng, shape)
        if isinstance(index, list) and not index:
            continue
        mine, reference = translate(index)
        target = outcome(getitem, y, reference)
        if isinstance(target, Exception) or has_duplicates(index):
            continue
        value = np.random.default_rng(seed).standard_normal(tuple(target.shape))
        if rng.random() < 0.3:
            value = 7.0
            x[mine], y[reference] = value, value
        else:
            if rng.random() < 0.3 and value.ndim:
                value = value[:1]
            a, b = both(value)
            x[mine], y[reference] = a, b
        assert x.tolist() == y.tolist(), index


def has_duplicates(index):
    """Whether a place may be named twice: then the order of the writes decides."""
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, (list, np.ndarray)) for item in items)


@pytest.mark.parametrize("seed", range(2))
def test_gradients(seed):
    rng = random.Random(seed)
    for _ in range(100):
        shape = rng.choice(SHAPES)
        x, y = both(np.arange(float(np.prod(shape))).reshape(shape))
        x.requires_grad_()
        y.requires_grad_()
        index = random_index(rng, shape)
        mine, reference = translate(index)
        picked = outcome(getitem, y, reference)
        if isinstance(picked, Exception):
            continue
        weight = np.random.default_rng(seed).standard_normal(tuple(picked.shape))
        a, b = both(weight)
        (x[mine] * a).sum().backward()
        (picked * b).sum().backward()
        assert np.allclose(x.grad.tolist(), y.grad.tolist()), index


@pytest.mark.parametrize("seed", range(2))
def test_gradients_of_writing(seed):
    rng = random.Random(seed)
    for _ in range(60):
        shape = rng.choice(SHAPES)
        x, y = both(np.arange(float(np.prod(shape))).reshape(shape))
        index = random_index(rng, shape)
        mine, reference = translate(index)
        target = outcome(getitem, y, reference)
        if isinstance(target, Exception) or has_duplicates(index):
            continue
        v, w = both(np.random.default_rng(seed).standard_normal(tuple(target.shape)))
        for each in (x, y, v, w):
            each.requires_grad_()
        for base, value, where in ((x, v, mine), (y, w, reference)):
            copy = base * 2
            copy[where] = value * 3
            (copy * copy).sum().backward()
        assert np.allclose(x.grad.tolist(), y.grad.tolist()), index
        assert np.allclose(np.array(v.grad.tolist()), np.array(w.grad.tolist())), index


READ_ERRORS = [
    "x[5]", "x[-4]", "x[1, 9]", "x[..., 9]", "x[0, 0, 0]", "x[1.5]", "x['a']", "x[1.5, 0]",
    "x[::-1]", "x[::0]", "x[1:2, ::-1]", "x[{1}]", "x[object()]", "x[1.5:]", "s[0]", "s[:]",
    "x[t([0.0, 1.0])]", "x[t([True, False])]", "x[t([0, 5])]", "x[t([0, 1]), t([0, 1, 2])]",
]  # fmt: skip
WRITE_ERRORS = [
    "x[9] = 1", "x[0] = 1j", "x[0] = [1, 2, 3, 4]", "x[0] = 'a'", "x[0] = None",
    "x[0] = t([1.0, 2.0, 3.0])", "x[0] = t([[1.0] * 4] * 2)", "x[::-1] = 1",
    "x[t([0, 1])] = t([1.0, 2.0, 3.0])", "x[x > 5] = t([1.0, 2.0])",
]  # fmt: skip


@pytest.mark.parametrize("code", READ_ERRORS + WRITE_ERRORS)
def test_errors(code):
    def run(make):
        x, s = make(np.arange(12.0).reshape(3, 4)), make(np.array(5.0))
        exec(code, {"x": x, "s": s, "t": lambda data: make(np.array(data))})

    mine, reference = outcome(run, from_data.tensor), outcome(run, theirs.tensor)
    assert type(mine) is type(reference)
    start = str(reference)[:25]
    assert start in str(mine)


HISTORY = ["x[0]", "x[:]", "x[...]", "x[()]", "x[:, :]", "x[:, 0]", "x[0, 1:]", "x[None]",
           "x[t([0, 1])]", "x[t(1)]", "x[True]", "x[0:3]"]  # fmt: skip


@pytest.mark.parametrize("code", HISTORY)
def test_grad_fn(code):
    names = []
    for make in (from_data.tensor, theirs.tensor):
        x = make(np.ones((3, 4))).requires_grad_()
        names.append(type(eval(code, {"x": x, "t": make}).grad_fn).__name__)
    assert names[0] == names[1]


def test_views_share_memory_and_copies_do_not():
    x = from_data.tensor(np.arange(12.0).reshape(3, 4))
    for code in ("x[0]", "x[:, 1:3]", "x[None]", "x[..., 0]", "x[:]", "x[1, 2]"):
        eval(code).fill_(5.0)
        assert (eval(code) == 5.0).all()
    x[from_data.tensor([0])].fill_(9.0)
    assert not (x == 9.0).any()


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_lists_as_tuples():
    x, y = both(np.arange(12.0).reshape(3, 4))
    for index in ([[0, 1], [1, 0]], [0, slice(None)], [[0, 1]], [0, 1], []):
        compare(x[index], y[index], index)


def test_walking():
    x = from_data.tensor(np.arange(6.0).reshape(3, 2))
    assert len(x) == 3
    assert [row.tolist() for row in x] == x.tolist()
    assert 3.0 in x
    assert 9.0 not in x
    assert x[2, 1] in x
    for action in (len, list, iter):
        with pytest.raises(TypeError, match="0-d tensor"):
            action(x[0, 0])
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in x  # noqa: B015


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "index_add", "index_copy"])
def test_gradients_where_one_number_stands_for_a_list_of_one(name: str) -> None:
    """Where PyTorch's backward refuses its own forward, ours gives what was written its part."""

    def gradients(library, sizes):
        own, places, given = sizes
        x = library.ones(own, dtype=library.float64).requires_grad_()
        source = library.full(given, 3.0, dtype=library.float64).requires_grad_()
        getattr(x, name)(0, library.zeros(places, dtype=library.int64), source).sum().backward()
        return x.grad.tolist(), source.grad.tolist()

    for sizes in itertools.product([(), (1,)], [(), (1,)], [(), (1,)]):
        try:
            expected = gradients(theirs, sizes)
        except (RuntimeError, IndexError):
            continue
        assert gradients(torchgen_out, sizes) == expected, sizes


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "float16"])
@pytest.mark.parametrize("value", [3, [3], 2.5, True, [2.5, 1.0]], ids=repr)
@pytest.mark.parametrize("form", ["mask", "beside an int", "beside a slice", "numbers"])
def test_values_of_another_dtype(dtype, value, form):
    """A single one is written where a mask says, as a number is; others are refused."""
    found = []
    for torch in (torchgen_out, theirs):
        mask = torch.tensor([True, False, True])
        index = {"beside an int": (0, mask), "beside a slice": (slice(None), mask)}
        x = torch.zeros(2, 3).to(getattr(torch, dtype))
        x = x if form in index else x[0]
        try:
            x[index.get(form, mask if form == "mask" else [0, 2])] = torch.tensor(value)
            found.append(x.tolist())
        except RuntimeError:
            found.append("refused")
    assert found[0] == found[1]


LAYOUTS = {
    "rows": lambda m: m.arange(120.0).view(4, 5, 6),
    "columns": lambda m: m.arange(120.0).view(6, 5, 4).permute(2, 1, 0),
    "swapped": lambda m: m.arange(120.0).view(5, 4, 6).transpose(0, 1),
    "with gaps": lambda m: m.arange(480.0).view(8, 5, 12)[::2, :, 1:7],
    "expanded": lambda m: m.arange(24.0).view(4, 1, 6).expand(4, 5, 6),
    "one column": lambda m: m.arange(4.0).view(4, 1, 1),
    "long": lambda m: m.arange(6.0 * 40000).view(40000, 2, 3).transpose(0, 2),
}
AMONG_SLICES = """
x[i]
x[:, i]
x[..., i]
x[i, :, :1]
x[:2, i]
x[:, i, 1:]
x[1:, :, i]
x[:, None, i]
x[i, 0]
x[0, i]
x[::2, i]
x[[1, -1, 0]]
x[:, [0, 0]]
x[i, :, i]
x[:, i, i % x.shape[2]]
x[i, i, None]
x[..., i, i % x.shape[2]]
x[:, i, ..., i % x.shape[2]]
x[i, None, i % x.shape[2]]
x[1:, i, i % x.shape[2]]
x[k]
x[k, 1:]
x[:, k, i]
x[k, ..., None]
x[:, k]
x[i[:0], 1:]
x[:, i + 9]
x[k + 9]
x[..., k - 50000]
x[[1, 0], 0]
x[0, [1, 0], i]
x[[1, 0], :, [0, 0]]
x[[0, 0], 1:, :1]
x[[9000], [0]]
x[b(0)]
x[b(0), 0]
x[0, b(1)]
x[:, b(1)]
x[1:, :, b(2)]
x[b(0), :, b(2)]
x[..., b(2)]
x[b(0, 1)]
x[b(0, 1), 0]
x[:, b(1, 2)]
x[0, b(1, 2)]
x[b(0), i[:1]]
x[:, b(0)[:2]]
x[b(0, 1, 2)]
"""


def names_for(module, x):
    """A tensor, an index vector, a number, and masks of dims."""

    def mask(*dims):
        sizes = [x.shape[dim] for dim in dims]
        return (module.arange(math.prod(sizes)) % 3 != 1).view(sizes)

    i = module.tensor([0, 1, -1, 0]) % x.shape[1]
    return {"x": x, "i": i, "k": module.tensor(-1), "b": mask, "ones": module.ones}


@pytest.mark.parametrize("code", AMONG_SLICES.strip().splitlines())
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_index_tensors_among_slices(code, layout, requires_grad):
    """Small index tensors are read without the operator: its results, layouts and gradients."""

    def outcome(module):
        x = LAYOUTS[layout](module).requires_grad_(requires_grad)
        try:
            names = names_for(module, x)
            found = eval(code, names)
        except IndexError as error:
            return type(error).__name__
        if requires_grad:
            (found * found).sum().backward()
        steps = [step for size, step in zip(found.shape, found.stride(), strict=True) if size > 1]
        gradient = x.grad.tolist() if requires_grad else None
        return found.tolist(), found.numel() and steps, gradient

    assert outcome(torchgen_out) == outcome(theirs)


@pytest.mark.parametrize("code", AMONG_SLICES.strip().splitlines())
@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - {"expanded"}))
@pytest.mark.parametrize("value", ["7.0", "1 - {}", "ones(1)", "ones(1, 1, 1, 1, 1)", "{}[:1]"])
def test_writes_among_slices(code, layout, value):
    """The same places are written to, by the operators or without them."""

    def outcome(module):
        x = LAYOUTS[layout](module)
        try:
            exec(f"{code} = {value.format(code)}", names_for(module, x))
        except (IndexError, RuntimeError) as error:
            return type(error).__name__
        return x.tolist()

    assert outcome(torchgen_out) == outcome(theirs)


@pytest.mark.parametrize("code", ["x[x] = 1", "x[x] = ones(3).long()", "x[x, None] = 1"])
def test_a_tensor_is_not_written_where_it_says_itself(code):
    x = torchgen_out.tensor([1, 0, 1])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        exec(code, {"x": x, "ones": torchgen_out.ones})


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bool", "int64", "bfloat16"])
@pytest.mark.parametrize(
    "code",
    ["[b(0)]", "[b(1, 2)]", "[b(0, 1)]", "[b(0), b(0)]", "[b(0), i[:1]]", "[b(0, 1), i[:1]]",
     "[i[:1], b(1)]", "[b(0), b(1)]", "[b(0), i[:1] + 9]", "[b(0, 1), i[:1] + 9]",
     "[b(0), i[:1], i[:1]]", "[b(0), b(0), b(0), b(0)]"],
)  # fmt: skip
def test_index_put_under_masks(code, dtype, accumulate):
    def outcome(module):
        x = (module.arange(75.0) % 7).to(getattr(module, dtype)).view(3, 5, 5)
        indices = eval(code, names_for(module, x))
        results = []
        for shift in (0, 1):  # masks of other counts
            indices = [each ^ shift if each.dtype is module.bool else each for each in indices]
            for values in (module.ones(()), module.ones(1, 5), module.arange(2.0)):
                try:
                    found = x.index_put(indices, values.to(x.dtype), accumulate).float().tolist()
                except (IndexError, RuntimeError) as error:
                    found = type(error).__name__
                results.append(found)
        return results

    assert outcome(torchgen_out) == outcome(theirs)
