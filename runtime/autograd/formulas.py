"""Backward formulas too long for a line of derivatives.yaml: functions of gradients and arguments.

Each returns the gradient of one argument (of several, a tuple), made of differentiable operators.
A gradient may have the broadcast shape: the engine sums and casts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.bag_formulas import embedding_bag_backward  # noqa: F401 - shown to the same
from torchgen_out._runtime.autograd.factorisation_formulas import (  # noqa: F401 - shown to derivatives.yaml
    cholesky_backward,
    cholesky_inverse_backward,
    cholesky_solve_backward,
    det_backward,
    householder_backward,
    inverse_backward,
    lstsq_backward,
    lu_factor_backward,
    lu_solve_backward,
    ormqr_backward,
    pinv_backward,
    qr_backward,
    slogdet_backward,
    solve_backward,
    solve_triangular_backward,
)
from torchgen_out._runtime.autograd.fourier_formulas import (  # noqa: F401 - shown to derivatives.yaml
    fft_c2r_backward,
    fft_r2c_backward,
)
from torchgen_out._runtime.autograd.layer_formulas import (  # noqa: F401 - shown to derivatives.yaml
    adaptive_avg_pool_like,
    avg_pool_like,
    batch_norm_backward,
    convolution_grad_bias,
    convolution_like,
    cross_entropy_rows_backward,
    gather_pooled,
    group_norm_backward,
    layer_norm_backward,
    logsumexp_backward,
    nll_loss_double_backward,
    opposite,
    softmax_double_backward,
)
from torchgen_out._runtime.autograd.matrix_formulas import (  # noqa: F401 - shown to derivatives.yaml
    linear_grad_input,
    linear_grad_weight,
    mm_grad_mat2,
    mm_grad_self,
    scaled,
    std_backward,
    std_mean_backward,
    var_backward,
    var_mean_backward,
    vector_norm_backward,
)
from torchgen_out._runtime.autograd.place_formulas import (  # noqa: F401 - shown to derivatives.yaml
    cat_backward,
    cumprod_backward,
    cumsum_backward,
    embedding_dense_double_backward,
    index_fill_value_backward,
    index_reduce_backward,
    logcumsumexp_backward,
    masked_scatter_backward,
    masked_select_backward,
    repeat_backward,
    repeat_interleave_backward,
    roll_backward,
    scatter_reduce_backward,
    scatter_source_backward,
)
from torchgen_out._runtime.autograd.rerun_formulas import (  # noqa: F401 - shown to derivatives.yaml
    attention_backward,
    grid_sampler_backward,
    gru_layer_backward,
    lstm_layer_backward,
    rnn_layer_backward,
)
from torchgen_out._runtime.autograd.spectrum_formulas import (  # noqa: F401 - shown to derivatives.yaml
    eig_backward,
    eigh_backward,
    matrix_exp_backward,
    svd_backward,
)
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core import tensor as tensors
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

_COMPLEX = [each.index for each in dtypes.ALL if each.is_complex]


def conj(x: Any) -> Any:
    """Return the complex conjugate; a real tensor or number as it is."""
    if isinstance(x, Tensor):
        return x.conj() if x._key & keys.DTYPE_MASK in _COMPLEX else x
    return x.conjugate() if isinstance(x, complex) else x


# -- reductions -------------------------------------------------------------------------------


def restore_reduced_dims(x: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """Give the result of a reduction over `dim` (None or empty: all) its lost dims of size 1.

    sizes: of what was reduced. A 0-d result is returned as it is: it broadcasts.
    """
    if keepdim or not x._sizes:
        return x
    reduced = shapes.normalize_dims(dim, len(sizes))
    return x.reshape([1 if i in reduced else size for i, size in enumerate(sizes)])


def sum_backward(grad: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """The gradient of a sum: every element that was added gets the sum's."""
    if not grad._sizes and not grad_mode.state.enabled:
        return tensors.alias(
            grad, sizes, (0,) * len(sizes), grad._offset
        )  # expand, without a dispatch
    return restore_reduced_dims(grad, sizes, dim, keepdim).expand(sizes)


def mean_backward(grad: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """The gradient of a mean: an equal part for every element."""
    dims = shapes.normalize_dims(dim, len(sizes)) if sizes else ()
    count = math.prod([sizes[i] for i in dims])
    return (restore_reduced_dims(grad, sizes, dim, keepdim) / count).expand(sizes)


def prod_backward(
    grad: Tensor, self: Tensor, result: Tensor, dim: int | None, keepdim: bool
) -> Tensor:
    """The gradient of a product: the product of all other elements."""
    if not self._sizes:
        return grad
    grad = restore_reduced_dims(grad, self._sizes, dim, keepdim)
    if bool((self == 0).any()):
        if dim is None:
            return grad * conj(_product_of_others(self.reshape(-1), 0).reshape(self._sizes))
        return grad * conj(_product_of_others(self, dim))
    result = restore_reduced_dims(result, self._sizes, dim, keepdim)
    return grad * conj(result / self)


def _product_of_others(self: Tensor, dim: int) -> Tensor:
    """For each element the product of the others along `dim`, without dividing."""
    size = self._sizes[dim]
    one = self.narrow(dim, 0, min(size, 1)).detach()
    one = ops.ones_like(one)
    before = ops.cat([one, self.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    behind = ops.cat([one, self.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim)
    return before * behind.flip(dim)


def amax_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """The gradient of amax and amin: shared equally by all elements that have the value."""
    result = restore_reduced_dims(result, self._sizes, dim, keepdim)
    grad = restore_reduced_dims(grad, self._sizes, dim, keepdim)
    chosen = self == result
    return grad * chosen / chosen.sum(dim, keepdim=True)


def evenly_distribute_backward(grad: Tensor, self: Tensor, value: Tensor) -> Tensor:
    """The gradient of a 0-d `value` chosen from all elements: shared by all that have it."""
    chosen = self == value
    if self.dtype.is_floating_point:
        chosen = chosen.logical_or(self.isnan().logical_and(value.isnan()))
    return chosen * (grad / chosen.sum())


def value_selecting_reduction_backward(
    grad: Tensor, dim: int, indices: Tensor, sizes: Sequence[int], keepdim: bool
) -> Tensor:
    """The gradient of an operator that picks elements along `dim`: it goes where they stood."""
    if sizes and not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(sizes).scatter(dim, indices, grad)
