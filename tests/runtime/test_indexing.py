"""Indexing, with NumPy as the reference; `tests/parity` compares drawn indices with PyTorch."""

import numpy as np
import pytest

import torchgen_out as torch

ARRAY = np.arange(60.0).reshape(3, 4, 5)

REPEATED = np.array([0, 0, 2])
INDICES = [
    0, -1, np.int64(2), slice(1, 3), slice(None, None, 2), None, Ellipsis, (), (1, 2, 3),
    (slice(None), 1), (Ellipsis, 2), (0, Ellipsis, 1), (None, 0, None), (slice(5, 2),),
    [0, 2], [], [True, False, True], REPEATED, (0, [1, 2]), ([0, 1], [1, 3]),
    (slice(None), [0, 2], slice(1, 3)), ([0, 1], slice(None), [2, 3]),
    (np.array([[0], [1]]), [0, 2]),
    ARRAY > 30, (ARRAY > 30)[:, :, 0], (0, ARRAY[0] > 7), True, False, (None, [1, 2], None),
]  # fmt: skip


def as_index(item):
    """Arrays become tensors, which the reference would not understand."""
    if isinstance(item, tuple):
        return tuple(as_index(each) for each in item)
    return torch.tensor(item) if isinstance(item, np.ndarray) else item


def for_numpy(index):
    """NumPy takes an empty list for floats."""
    return np.array([], int) if isinstance(index, list) and not index else index


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading(index):
    x, expected = torch.tensor(ARRAY), ARRAY[for_numpy(index)]
    for form in (index, as_index(index)):
        found = x[form]
        assert found.shape == expected.shape
        assert np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing_a_number(index):
    expected = ARRAY.copy()
    expected[for_numpy(index)] = 7.0
    x = torch.tensor(ARRAY)
    x[as_index(index)] = 7.0
    assert np.array_equal(x.numpy(), expected)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing_a_tensor(index):
    expected = ARRAY.copy()
    places = expected[for_numpy(index)]
    value = np.random.default_rng(0).standard_normal(places.shape)
    if index is REPEATED:  # which of two writes to one place comes last is not defined
        value[0] = value[1]
    expected[for_numpy(index)] = value
    x = torch.tensor(ARRAY)
    x[as_index(index)] = torch.tensor(value)
    assert np.array_equal(x.numpy(), expected)


@pytest.mark.parametrize(
    ("index", "error", "phrase"),
    [
        (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        ((0, 4), IndexError, "index 4 is out of bounds for dimension 1 with size 4"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (1.5, IndexError, r"only integers, slices .* \(got float\)"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (slice(1.5, None), TypeError, "slice indices must be integers"),
        ([0.5, 1.5], IndexError, "tensors used as indices must be"),
        ([5], IndexError, "out of bounds"),
        ([True, False], IndexError, "does not match the shape of the indexed tensor"),
    ],
)
def test_errors(index, error, phrase):
    if index == [0.5, 1.5]:
        index = torch.tensor(index)
    with pytest.raises(error, match=phrase):
        torch.tensor(ARRAY)[index]


def test_zero_dim():
    s = torch.tensor(5.0)
    assert s[...].item() == s[()].item() == s[None][0].item() == 5.0
    assert s[True].shape == (1,)
    assert s[False].shape == (0,)
    with pytest.raises(IndexError, match="0-dim tensor"):
        s[0]
    with pytest.raises(IndexError, match="0-dim tensor"):
        s[:]


def test_assigned_values():
    x = torch.zeros(2, 3)
    x[0] = torch.ones(1, 1, 3)
    x[1] = torch.tensor(2)
    assert x.tolist() == [[1.0] * 3, [2.0] * 3]
    x[False] = 9
    assert 9.0 not in x
    for value in ([1, 2, 3], "a", None):
        with pytest.raises(TypeError, match="can't assign a"):
            x[0] = value
    with pytest.raises(RuntimeError, match="must match the existing size"):
        x[0] = torch.ones(2)


def test_views_write_through():
    x = torch.zeros(3, 4)
    x[1, ::2].fill_(1.0)
    x[:, 3][0] = 5.0
    x[2] += 1
    assert x.tolist() == [[0, 0, 0, 5], [1, 0, 1, 0], [1, 1, 1, 1]]


def test_gradients():
    x = torch.ones(3, 4, requires_grad=True)
    (x[1:, torch.tensor([0, 0, 3])] * 2).sum().backward()
    assert x.grad.tolist() == [[0, 0, 0, 0], [4, 0, 0, 2], [4, 0, 0, 2]]
    y = torch.zeros(3)
    w = torch.ones(2, requires_grad=True)
    y[:2] = w * 3
    y.sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_walking():
    x = torch.arange(6).reshape(3, 2)
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert 4 in x and 9 not in x
    _, b, _ = x
    assert b.tolist() == [2, 3]
    with pytest.raises(TypeError, match="0-d tensor"):
        iter(torch.tensor(1))


VIEWS = {
    "turned": lambda x: x.permute(2, 0, 1),
    "channels last": lambda x: x.permute(1, 2, 0),
    "with gaps": lambda x: x[:, ::2],
    "a part": lambda x: x[1:, :, 1:],
    "expanded": lambda x: x[:1].expand(4, -1, -1),
}


@pytest.mark.parametrize("shape", [(3, 4, 5), (5, 40, 60)], ids=["small", "large"])
@pytest.mark.parametrize("name", VIEWS)
def test_one_index_of_a_view(name, shape):
    """Lists and vectors, of int32 and with gaps too, for each dim, and what backward gives."""
    base = np.random.default_rng(3).standard_normal(shape)
    places = np.array([1, -1, 0, 1])
    for dim in range(3):
        x, expected = VIEWS[name](torch.tensor(base)), VIEWS[name](torch.tensor(base)).numpy()
        expected = np.take(expected, places, dim)
        spaced = torch.tensor(np.repeat(places, 2))[::2]
        for index in (places.tolist(), torch.tensor(places), spaced, spaced.int()):
            among = (*[slice(None)] * dim, index)
            assert np.array_equal(x[among].numpy(), expected)
            assert dim or np.array_equal(x[index].numpy(), expected)
            order = np.argsort(x.stride())  # with whatever lies innermost innermost
            kept = [each for each in order[::-1] if each != dim and x.stride(int(each))]
            assert list(kept) == sorted(kept, key=lambda each: -x[among].stride(int(each)))
        leaf = torch.tensor(base, requires_grad=True)
        (VIEWS[name](leaf)[among] * torch.tensor(expected)).sum().backward()
        given = torch.tensor(base, requires_grad=True)
        (VIEWS[name](given).index_select(dim, torch.tensor(places) % x.shape[dim])
         * torch.tensor(expected)).sum().backward()  # fmt: skip
        np.testing.assert_allclose(leaf.grad.numpy(), given.grad.numpy())
        for bad in (x.shape[dim], -x.shape[dim] - 1):
            with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension"):
                x[(*[slice(None)] * dim, [0, bad])]


def test_nothing_is_at_an_index_of_an_empty_dim():
    """A loop over no elements looks at no index; a number that is none makes no new dim."""
    for sizes, index in (((0, 0), 0), ((0, 4, 0), 0), ((2, 0, 3), 1)):
        among = (*[slice(None)] * index, torch.tensor([0]))
        with pytest.raises(IndexError, match="out of bounds"):
            torch.zeros(sizes)[among if index else among[0]]
    with pytest.raises(ValueError, match="long long"):
        torch.arange(6).reshape(2, 3)[torch.tensor([0, 1]), [2**70]]
