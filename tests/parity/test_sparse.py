"""Sparse tensors against PyTorch: one table of calls, on structures of every kind.

`s` is in order, `u` has duplicates out of order, `h` has a dense dim and both, `e` has no entries,
`d` is dense, `m` a mask in order.
"""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
import torch

import torchgen_out

torch.sparse.check_sparse_tensor_invariants.disable()
"""As it is by default; unsaid, PyTorch warns of it once."""


def calls_of(text: str) -> list[str]:
    """The calls of a text, two spaces or a line apart."""
    return [call for line in text.splitlines() for call in line.strip().split("  ") if call]


ALIKE = calls_of(
    """
    s+s  s+u  u+u  s-s  s*2  s*s  s*u  u*u  e+s  e*s  s/2  s**2  s.float_power(2.)
    s.float_power(-1)  u.float_power(0.5)  s.new()  s.new(2,3)  s.new(s.indices(),d[0])
    s.new(s.indices(),d[0],(4,4))  s.new(d)
    s.sin()  u.sin()  u.neg()
    u.abs()  s.sqrt()  d+s  s*d  d*s  s*d[0]  h*2  h+h  h*h  s.t()  u.transpose(0,1)
    s.permute(1,0)  h.transpose(0,1)  h.permute(1,0,2)  s.sum()  u.sum(0)  s.sum(1)  s.sum((0,1))
    h.sum(0)  h.sum(2)  h.sum((0,1))  e.sum(0)  s.sum(dtype=t.float64)  s.sum(0,keepdim=True)
    s[0]  s[0,2]  u[1,1]  s.select(1,2)  h.select(2,1)  s.index_select(0,t.tensor([1,0,1]))
    h.index_select(2,t.tensor([1]))  t.cat([s,u])  t.cat([s,s],1)  t.cat([h,h],2)  t.stack([s,s])
    s.unsqueeze(0)  s.unsqueeze(2)  s.unbind(0)  s@d.t()  u@d.t()  e@d.t()  d@s.t()  s@t.ones(3)
    s@s.t()  u@u.t()  t.addmm(t.ones(2,2),s,d.t(),beta=2,alpha=3)  s.clone()  s.double()  s.bool()
    s.int()  s.to_dense()  u.to_dense()  h.to_dense()  e.to_dense()  u.coalesce()  s.norm()
    s.any()  s.isnan()  s.sign()  t.relu(s)  s.log1p()  s.detach()  d.to_sparse()  d.to_sparse(1)
    d.sparse_mask(m)  u.sparse_mask(m)  t.zeros_like(s)  t.empty_like(s)  s.add_(s)  s.mul_(2)
    s.zero_()  d.clone().add_(s)  d.clone().sub_(u)  s.sub(s,alpha=3)  s.floor()  s.round()
    s.div(2,rounding_mode='floor')  s.floor_divide(2)  s.copy_(u)  s.div_(2)  s.t_()
    s.new_zeros(2)  t.hspmm(s,d.t())  t.smm(s,d.t())  t.sspaddmm(s@s.t(),s,s.t().to_dense())
    t.spmm(s,d.t())  t.bmm(t.stack([s,u]),t.stack([d.t(),d.t()]))  t.sparse.mm(s,d.t())
    t.sparse.sum(s)  t.sparse.sum(s,0)  t.sparse.sum(h,(0,2))  t.sparse.softmax(s,1)
    t.sparse.log_softmax(s,0)  t.sparse.softmax(h,2)  t.sparse.softmax(s.to(t.complex64),1)
    t.sparse.softmax(t.sparse_coo_tensor((0,3),dtype=t.complex64),1)
    t.sparse.log_softmax(t.sparse_coo_tensor((2,0),dtype=t.complex128),0)
    t.sparse.addmm(t.ones(2,2),s,d.t())
    u.indices()  u.values()  s.indices()  s.values()  s._nnz()  u._nnz()  h.sparse_dim()
    h.dense_dim()  s.is_sparse  s.is_sparse_csr  s.layout.__repr__()  len(s)  s.numel()
    s.stride()  s.is_contiguous()  s.cos()  s==s  s+d  s+1  s/s  s/d  s**0
    s.max()  s.exp()  s.numpy()  s.item()  bool(s)  s.nonzero()  t.equal(s,s)  s.argmax()
    u.is_coalesced()  s.is_coalesced()  (s+s).is_coalesced()
    t.sparse.spdiags(t.arange(6.).reshape(2,3),t.tensor([0,1]),(3,3))  s.nope()  e.coalesce()
    t.sparse_coo_tensor([[0],[1]],[1.])  t.sparse_coo_tensor((2,3))  t.tensor(3.).to_sparse()
    t.sparse_coo_tensor([[0,-1]],[1.,2.])  t.sparse_coo_tensor([[0,1]],[1.])
    t.sparse_coo_tensor([0,1],[1.,2.])  t.sparse_coo_tensor([[0,1]],[1.,2.],(2,2))
    t.sparse_coo_tensor([[0,5]],[1.,2.],(2,),check_invariants=True)
    t.sparse_coo_tensor(t.zeros(2,0),t.zeros(0,3),(2,3,4),check_invariants=True)
    t.sparse_coo_tensor(t.zeros(0,2),t.ones(2),())  t.zeros(2,3,layout=t.sparse_coo)
    s.sparse_resize_((3,4),2,0)  s.sparse_resize_((1,1),2,0)
    s.sparse_resize_and_clear_((1,1),2,0)  repr(s)  repr(u)  repr(h)  repr(e)  repr(s.double())
    repr(s.int())  repr(s.requires_grad_())
    repr(t.sparse_coo_tensor(t.ones(1,40).long(),t.ones(40),(3,)))
    s.T  s.mT  s.H  s.movedim(0,1)  s.swapaxes(0,1)  t.nn.functional.linear(s,d)
    t.nn.functional.linear(d,s)  t.nn.functional.linear(s,d,t.ones(2))  s.sum_to_size(1,3)
    s.smm(d.t())  s.sspaddmm(s,t.ones(3,3))  s.type('torch.DoubleTensor')  t.native_norm(s)
    t.sparse_coo_tensor([[0.7,1.2]],[1.,2.])  t.sparse_coo_tensor([[False,True]],[1.,2.])
    t.sparse.FloatTensor(t.tensor([[0.,1]]),t.ones(2))
    t.sparse.FloatTensor(t.tensor([[0,1]]),t.ones(2).double())  d.type(t.sparse.DoubleTensor)
    repr(t.sparse.FloatTensor.layout)  t.sparse.FloatTensor.is_sparse  u.deg2rad()  u.rad2deg()
    s.type('torch.sparse.DoubleTensor')  t.dstack([s,s])  s.signbit()  s*t.ones(4,2,3)
    t.is_nonzero(t.ones(1).to_sparse())  s.mul(t.tensor(2.).to_sparse())  (s*1j).real  d[0]@s.t()
    t.masked.sum(s,1,mask=m.bool())  t.masked.amax(s,0,mask=m.bool())
    t.masked.prod(s,0,mask=s.bool())
    t.svd_lowrank(s.double(),2)[1]  t.pca_lowrank(s.double(),2,niter=3)[1][:1]  s.nan_to_num()
    d.clone().mul_(s)  t.sin(s,out=t.sparse_coo_tensor(size=(2,3)))  t.sin(s,out=d)  t.sin(d,out=s)
    t.mul(s,u,out=t.sparse_coo_tensor(size=(2,3)))  t.neg(s,out=t.sparse_coo_tensor(size=(1,3)))
    s[0].indices()  u[0].indices()  u[1].is_coalesced()
    t.lobpcg((s.t()@s+t.eye(3).to_sparse()).double(),k=1,niter=99)[0]
    """
)

MORE = calls_of(
    """
    s.squeeze(0)  s[:,1:]  u[0:1]  h[:,::2]  s.narrow(1,0,2)  u.tanh_()  s.pow_(2)
    u.unsqueeze(0).squeeze(0)  h.sum((0,2))  s.unsqueeze(-1)  t.maximum(s,u)  s!=u  t.hypot(s,u)
    s.view(3,2)  s.reshape(-1)  s.mean()  s.mean(1)  u.any(0)  s.any(1,keepdim=True)  s.norm(2,0)
    u.norm(1,1)  s.norm(float('inf'),0)  s.norm(-1)  s.expand(2,2,3)  s.unsqueeze(0)*t.ones(2,2,3)
    h.view(6,2)  u[:,:1]*t.arange(3.)  s.norm(0)
    """
)
"""What PyTorch refuses: held against the same of dense tensors."""
MORE = [each for line in MORE for each in [line.strip()] if each]


COMPRESSED = calls_of(
    """
    c*c.to_sparse()  c+c  c*2  c*c  c*q  q*c  c.sin()  c.neg()  c.floor()  c+q  q+c  c@q  q@c
    c@c  c@q[0]  c.t()  k.t()
    b.t()  c.sum()  c.sum(1,keepdim=True)  c.clone()  c.double()  c.bool()  c.to_dense()
    c.to_sparse()  c.to_sparse_csc()  k.to_sparse_csr()  c.to_sparse_bsr((2,2))
    c.to_sparse_bsr(1)  q.to_sparse_bsc(1)  c.clone().normal_(2.,0.)
    c.to_sparse_bsc((1,2))  b.to_dense()  a.to_dense()  c.values()  c.crow_indices()
    c.col_indices()  k.ccol_indices()  k.row_indices()  c.ccol_indices()  c[0]  c[0,1]  n[0]
    c.sparse_mask(c)  q.sparse_mask(c)  c.mul_(2)  c.add_(c)  c.zero_()  t.zeros_like(c)  len(c)
    t.sparse.mm(c,q)  t.sparse.sampled_addmm(c,q,q)  t.addmm(q,c,q)  c.numpy()  c.coalesce()
    n.sum()  n*2  n.to_dense()  n.to_sparse()  b@q  b*2  b+b  k+k  k@q  g.to_dense()  g*2
    q.to_sparse(layout=t.sparse_csr)  q.to_sparse(layout=t.sparse_bsr,blocksize=(2,2))  repr(c)
    repr(k)  repr(b)  repr(a)  repr(n)  c._nnz()  b._nnz()  n._nnz()  g.dense_dim()  c.is_sparse
    c.is_sparse_csr  k.is_sparse_csr  t.sparse.mm(c,q,'amax')  t.sparse.mm(c,q,'amin')
    t.sparse.mm(c,q,'mean')  t.sparse.mm(c,q,'sum')  C([0,1,2],[0,1],[1.,2.])
    C([0,1,3],[0,1],[1.,2.],(2,3),check_invariants=True)
    C([1,1,2],[0,1],[1.,2.],(2,3),check_invariants=True)
    C([0,1,2],[0,5],[1.,2.],(2,3),check_invariants=True)
    C([0,2,2],[1,0],[1.,2.],(2,3),check_invariants=True)
    C([0.,1.],[0],[1.],(1,1),check_invariants=True)
    C([0,1,2],[0,1],[1.],(2,3))
    C([0,1],[0,1],[1.,2.],(2,3),check_invariants=True)
    C([0,1,2],[0,1],[1.,2.],(3,),check_invariants=True)
    t.sparse_csc_tensor([0,1,2],[0,1],[1.,2.])  q.to_sparse_bsr((3,2))  c.copy_(c*2)
    t.sparse_bsr_tensor([0,1,2],[0,1],[[[1.,2.],[3.,4.]]]*2)  n.transpose(1,2)
    t.sparse_compressed_tensor([0,1,2],[0,1],[1.,2.],layout=t.sparse_csr)
    t.stack([q,q*(q>1)]).to_sparse_csr()
    t.ones_like(c)  t.full_like(c,3)  t.zeros_like(b)  c.fill_(3)  c.signbit()  c.mT  n.mT  b.mT
    k@k  k@c  t.nn.functional.linear(q,c,t.ones(4))  t.nn.functional.linear(c,q)
    c.sum((0,1),keepdim=True)  t.sparse.mm(c,q,'max')  t.randn_like(c).crow_indices()
    t.zeros_like(b,layout=t.sparse_bsc)  t.masked.mean(c,1,keepdim=True,mask=c.bool())
    t.triangular_solve(q,w,upper=False)[0]  t.triangular_solve(q,w)[0]
    t.triangular_solve(q,w,upper=False,transpose=True)[0]  t.triangular_solve(q[:,:1].clone(),w)[0]
    t.triangular_solve(q,w,upper=False,unitriangular=True)[0]
    """
)
"""c, k, b and a are a matrix in CSR, CSC, BSR and BSC, n a batch, g has a dense dim, q is dense;
w has a diagonal."""


def compressed_operands(t: Any) -> dict[str, Any]:
    """The compressed tensors that calls name."""
    q = t.tensor([[0.0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 0, 4], [5, 0, 6, 0]])
    return {
        "t": t,
        "q": q,
        "c": q.to_sparse_csr(),
        "w": (q + 9 * t.eye(4)).to_sparse_csr(),
        "k": q.to_sparse_csc(),
        "b": q.to_sparse_bsr((2, 2)),
        "a": q.to_sparse_bsc((2, 2)),
        "n": t.stack([q, q * 2]).to_sparse_csr(),
        "g": t.sparse_csr_tensor([0, 1, 2], [0, 1], [[1.0, 2.0], [3.0, 4.0]], (2, 3, 2)),
        "C": t.sparse_csr_tensor,
    }


def operands(t: Any, dtype: Any = None) -> dict[str, Any]:
    """The tensors that calls name."""
    make = t.sparse_coo_tensor
    duplicates, values = [[1, 0, 1], [1, 2, 1]], [1.0, 2.0, -3.0]
    deep = [[1.0, 5.0], [2.0, 6.0], [-3.0, 7.0]]
    ordered = [[0, 1, 1], [2, 0, 2]]
    return {
        "t": t,
        "s": make(ordered, [3.0, 4.0, 5.0], (2, 3), dtype=dtype).coalesce(),
        "u": make(duplicates, values, (2, 3), dtype=dtype),
        "h": make(duplicates, deep, (2, 3, 2), dtype=dtype),
        "e": make((2, 3), dtype=dtype),
        "d": t.arange(6.0, dtype=dtype).reshape(2, 3),
        "m": make([[0, 0, 1], [0, 2, 1]], [1.0, 1.0, 1.0], (2, 3), dtype=dtype).coalesce(),
    }


def shown(found: Any, roomy: bool = True) -> Any:
    """What two libraries' answers are compared by; roomy: with some room for rounding."""
    if isinstance(found, (tuple, list)):
        return [shown(each, roomy) for each in found]
    if not hasattr(found, "layout"):
        return found
    form = repr(found.layout), tuple(found.shape), repr(found.dtype)
    return form, numbers(found.detach().to_dense(), roomy)


def numbers(dense: Any, roomy: bool) -> Any:
    """The elements in order."""
    values = dense.double().reshape(-1).tolist()
    return pytest.approx(values, rel=1e-5, abs=1e-6, nan_ok=True) if roomy else values


def outcome(call: str, t: Any, make: Any) -> Any:
    """The answer of a call, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shown(eval(call, make(t)), t is torch)
        except (RuntimeError, TypeError, IndexError, ValueError, AttributeError) as error:
            return next(each for each in BUILTIN if isinstance(error, each))


BUILTIN = (NotImplementedError, IndexError, TypeError, ValueError, AttributeError, RuntimeError)


@pytest.mark.parametrize("call", [*ALIKE, *COMPRESSED])
def test_calls_agree(call: str) -> None:
    make = operands if call in ALIKE else compressed_operands
    own, other = (outcome(call, t, make) for t in (torchgen_out, torch))
    assert own == other or (own is NotImplementedError and other is RuntimeError)


@pytest.mark.parametrize("call", MORE)
def test_what_pytorch_refuses(call: str) -> None:
    given = operands(torchgen_out)
    dense = {
        name: each.to_dense() if hasattr(each, "to_dense") else each for name, each in given.items()
    }
    expected = eval(call, dense)
    assert shown(eval(call, given).to_dense(), False) == shown(expected)


GRADIENTS = calls_of(
    """
    t.sparse.sum(s)  t.sparse.sum(s,0)  t.sparse.sum(u,1)  s*s  u*u  t.sparse.mm(s,d.t())
    t.sparse.mm(u,d.t())  t.sparse.mm(s,s.t())  s.to_dense()  u.to_dense()
    s.to_dense(masked_grad=False)  s+u  u.t()  s.values()  u.coalesce()  -u  d.sparse_mask(m)
    t.sparse.softmax(s,1)  t.sparse.log_softmax(u,0)  u.double()  s**2  u/2  s.square()  s.clone()
    t.sparse.addmm(d,s,d.t()@d)  d.to_sparse()
    """
)
OWN_GRADIENTS = calls_of(
    """
    u.sin()  s.norm()  s@d.t()  s.sum()  s[0]  t.cat([s,u])  s.unsqueeze(0)  s.mean(0)  u.norm(3,1)
    s.view(3,2)  t.triangular_solve(d,(s[:,1:]+t.eye(2).double().to_sparse()).to_sparse_csr())[0]
    """
)
"""Of operators for which PyTorch has none, or dense ones of sparse leaves."""


def gradients(call: str, t: Any) -> Any:
    """What arrives at the operands, weighted so that each element counts differently."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = operands(t, t.float64)
        leaves = {name: given[name].detach().requires_grad_() for name in "sud"}
        result = eval(call, {**given, **leaves})
        result = result if result.layout == t.strided else result.to_dense()
        weights = t.arange(1.0, result.numel() + 1, dtype=t.float64).reshape(result.shape)
        (result * weights).sum().backward()
        found = [
            leaf.grad if leaf.layout == t.strided else masked(leaf) for leaf in leaves.values()
        ]
        return [each if each is None else shown(each, t is torch) for each in found]


def masked(leaf: Any) -> Any:
    """The gradient of a sparse leaf where this has entries: PyTorch's may have more."""
    grad = leaf.grad
    return grad if grad is None else grad.coalesce().sparse_mask(leaf.detach().coalesce())


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients_agree(call: str) -> None:
    assert gradients(call, torchgen_out) == gradients(call, torch)


@pytest.mark.parametrize("call", OWN_GRADIENTS)
def test_gradients_are_those_of_entries(call: str) -> None:
    """A sparse gradient is the dense one where the leaf has entries, also the second time."""
    t = torchgen_out
    given = operands(t, t.float64)

    def of_values(s: Any, u: Any) -> Any:
        tensors = {
            name: t.sparse_coo_tensor(given[name]._indices(), values, (2, 3))
            for name, values in (("s", s), ("u", u))
        }
        result = eval(call, {**given, **tensors})
        return result if result.layout is t.strided else result.to_dense()

    values = [given[name]._values().requires_grad_() for name in "su"]
    assert t.autograd.gradcheck(of_values, values)
    assert t.autograd.gradgradcheck(of_values, values)


def test_gradients_of_sparse_products_differentiate() -> None:
    t = torchgen_out
    indices = t.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])

    def product(values: Any, dense: Any) -> Any:
        return t.sparse.mm(t.sparse_coo_tensor(indices, values, (3, 3)), dense)

    given = [t.rand(4, dtype=t.float64), t.rand(3, 2, dtype=t.float64)]
    given = [each.requires_grad_() for each in given]
    assert t.autograd.gradcheck(product, given)
    assert t.autograd.gradgradcheck(product, given)


STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ("SparseAdam", {"lr": 0.1}),
    ("SparseAdam", {"lr": 0.1, "maximize": True}),
)
LAYERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Embedding", {"padding_idx": 2}),
    ("EmbeddingBag", {"mode": "sum", "padding_idx": 1}),
)


def trained(t: Any, optimizer: str, options: dict[str, Any], layer: str, kwargs: Any) -> Any:
    """Gradients of two backward passes each, added up, and the table after three steps."""
    table = getattr(t.nn, layer)(7, 3, sparse=True, **kwargs)
    with t.no_grad():
        table.weight.copy_(t.arange(21.0).reshape(7, 3).sin())
    stepper = getattr(t.optim, optimizer)(table.parameters(), **options)
    grads = []
    for rows in ([[1, 2, 1], [0, 5, 1]], [[3, 3, 1], [2, 2, 6]], [[1, 1, 1], [4, 0, 2]]):
        stepper.zero_grad()
        for _ in range(2):
            table(t.tensor(rows)).square().sum().backward()
        grads.append(shown(table.weight.grad, t is torch))
        stepper.step()
    return grads, shown(table.weight, t is torch)


@pytest.mark.parametrize("layer, kwargs", LAYERS)
@pytest.mark.parametrize("optimizer, options", STEPS)
def test_tables_learn_by_sparse_gradients(
    optimizer: str, options: dict[str, Any], layer: str, kwargs: dict[str, Any]
) -> None:
    given = optimizer, options, layer, kwargs
    assert trained(torchgen_out, *given) == trained(torch, *given)


def of_all_layouts(t: Any) -> list[Any]:
    """A matrix in each layout, and one out of order."""
    given = compressed_operands(t)
    return [*(given[name] for name in "ckba"), given["q"].to_sparse(), operands(t)["u"]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("writer, reader", [(torch, torchgen_out), (torchgen_out, torch)])
def test_files_go_both_ways(writer: Any, reader: Any) -> None:
    file = io.BytesIO()
    writer.save(of_all_layouts(writer), file)
    file.seek(0)
    found = reader.load(file, weights_only=True)
    assert [repr(each) for each in found] == [repr(each) for each in of_all_layouts(reader)]


def test_files_are_not_trusted() -> None:
    file = io.BytesIO()
    torch.save(torch.sparse_coo_tensor([[0, 7]], [1.0, 2.0], (2,), check_invariants=False), file)
    file.seek(0)
    with pytest.raises(torchgen_out.serialization.LoadError, match="contradict"):
        torchgen_out.load(file)


def test_copies_and_pickles() -> None:
    for each in of_all_layouts(torchgen_out):
        for made in (pickle.loads(pickle.dumps(each)), copy.deepcopy(each)):
            assert repr(made) == repr(each)
            made.mul_(2)
            assert repr(made) != repr(each)
        assert each.share_memory_().is_shared()


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil"])
def test_scipy_shares_memory(form: str) -> None:
    t = torchgen_out
    source = scipy.sparse.random(12, 8, 0.3, format=form, dtype=np.float32, random_state=0)
    made = t.sparse.from_scipy(source)
    back = t.sparse.to_scipy(made)
    assert (back.toarray() == source.toarray()).all()
    assert np.allclose((made @ t.ones(8, 2)).numpy(), source @ np.ones((8, 2)))
    if form != "lil":
        made._values().mul_(2) if form == "coo" else made.values().mul_(2)
        assert (source.toarray() == made.to_dense().numpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex64"])
def test_a_product_is_the_same_before_and_after_rows_are_known(dtype: str) -> None:
    own, wide = getattr(torchgen_out, dtype), torchgen_out.ones(3, 2000)
    indices = torchgen_out.tensor([[2, 0, 2, 0], [1, 2, 1, 0]])
    entries = torchgen_out.sparse_coo_tensor(indices, torchgen_out.arange(4).to(own), (3, 3))
    right = torchgen_out.arange(12).reshape(3, 4).to(own)
    taken_as_they_come = entries @ right
    entries @ wide.to(own)
    assert "by rows" in torchgen_out._runtime.core.sparse.storage_of(entries).pattern.known
    assert torchgen_out.equal(taken_as_they_come, entries @ right)
    assert torchgen_out.equal(taken_as_they_come, entries.to_dense() @ right)
    indices[0, 0] = 3  # the entries share its memory, and what was known is not
    with pytest.raises(RuntimeError):
        entries @ right


def test_solutions_of_sparse_systems_and_their_gradients() -> None:
    t = torchgen_out
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((6, 6)) < 0.4, rng.random((6, 6)), 0) + 3 * np.eye(6)
    held = t.tensor(matrix).to_sparse()

    def solved(values: Any, right: Any) -> Any:
        made = t.sparse_coo_tensor(held.indices(), values, (6, 6)).to_sparse_csr()
        return t.sparse.spsolve(made, right)

    given = held.values().requires_grad_(), t.tensor(rng.random((6, 2))).requires_grad_()
    expected = scipy.sparse.linalg.spsolve(
        scipy.sparse.csc_array(matrix), given[1].detach().numpy()
    )
    assert np.allclose(solved(*given).detach().numpy(), expected)
    assert t.autograd.gradcheck(solved, given)
    assert t.autograd.gradgradcheck(solved, given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reduce", ["mean", "amax", "amin"])
def test_message_passing(reduce: str) -> None:
    """Random structure: duplicates, rows without entries, entries out of order."""
    rng = np.random.default_rng(1)
    indices, weights = rng.integers(0, 9, (2, 30)), rng.normal(size=30)
    features, results = rng.normal(size=(9, 5)), []
    for t in (torchgen_out, torch):
        values, dense = (t.tensor(each).requires_grad_() for each in (weights, features))
        matrix = t.sparse_coo_tensor(t.tensor(indices), values, (9, 9)).coalesce().detach()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matrix = matrix.to_sparse_csr()
        found = t.sparse.mm(matrix, dense, reduce)
        found.square().sum().backward()
        results.append([found.detach().numpy(), dense.grad.numpy()])
    for own, other in zip(*results, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-10)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize(
    "call", calls_of("s.to_dense()  c@q  c*c  u.sin()  t.sparse.softmax(s,1)  b@q")
)
def test_gradcheck_takes_sparse_inputs(call: str, masked: bool) -> None:
    t = torchgen_out
    given = {**operands(t, t.float64), **compressed_operands(t)}
    name = call[0] if call[0] in "sucb" else "s"
    given["q"] = given["q"].double()
    leaf = given[name].double().detach().requires_grad_()

    def function(tensor: Any) -> Any:
        return eval(call, {**given, name: tensor})

    assert t.autograd.gradcheck(function, leaf, masked=masked)
