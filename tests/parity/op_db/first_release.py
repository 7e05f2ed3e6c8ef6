"""The operators that PyTorch 1.0 (December 2018) documented, by the names of today's entries.

Functions of `torch`, methods of tensors, functions of `nn.functional`, as far as `op_db` has them
(not: random seeds, sparse tensors, files). What 1.0 spelled otherwise stands here under its
successor: `gesv` as `linalg.solve`, `btrifact` as `lu`, `fft` as `fft.fft`.
"""

from __future__ import annotations

FUNCTIONS = """
abs acos add addbmm addcdiv addcmul addmm addmv addr all allclose any arange argmax argmin argsort
as_strided asin atan atan2 baddbmm bernoulli bincount bmm broadcast_tensors byte cat cauchy ceil
char cholesky cholesky_inverse cholesky_solve chunk clamp clone contiguous cos cosh cross cumprod
cumsum diag diag_embed diagflat diagonal digamma dist div dot double einsum empty empty_like eq
equal erf erfc erfinv exp expand expand_as expm1 exponential eye fill flatten flip float floor fmod
frac full full_like gather ge geometric geqrf gt half histc index_add index_copy index_fill
index_put index_select int isclose isfinite isinf isnan item kthvalue le lerp linspace log log10
log1p log2 log_normal log_softmax logdet logspace logsumexp long lt lu lu_solve lu_unpack
masked_fill masked_scatter masked_select matmul max mean median meshgrid min mm mode mul multinomial
mv mvlgamma narrow ne neg new_empty new_full new_ones new_zeros nonzero norm normal ones ones_like
ormqr permute pinverse pow prod put qr rand_like randint randint_like randn randn_like reciprocal
remainder renorm repeat reshape reshape_as resize_ resize_as_ roll rot90 round rsqrt scatter
scatter_add select short sigmoid sign sin sinh softmax sort split split_with_sizes sqrt squeeze
stack std stft sub sum sum_to_size svd t take tan tanh tensordot to topk trace transpose
triangular_solve tril triu trunc unbind unfold uniform unique unsqueeze var view view_as where zero_
zeros zeros_like
"""

OPERATORS = """
__getitem__ __radd__ __rand__ __rdiv__ __rmatmul__ __rmul__ __ror__ __rpow__ __rsub__ __rxor__
"""

NETWORKS = """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
adaptive_max_pool3d alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
binary_cross_entropy binary_cross_entropy_with_logits celu conv1d conv2d conv3d conv_transpose1d
conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy ctc_loss
dropout dropout2d dropout3d elu embedding embedding_bag feature_alpha_dropout fractional_max_pool2d
glu grid_sample group_norm hardshrink hardtanh hinge_embedding_loss instance_norm interpolate kl_div
l1_loss layer_norm leaky_relu linear local_response_norm logsigmoid margin_ranking_loss max_pool1d
max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss
multilabel_margin_loss multilabel_soft_margin_loss nll_loss normalize pad pairwise_distance pdist
pixel_shuffle poisson_nll_loss prelu relu relu6 rrelu selu smooth_l1_loss soft_margin_loss softmin
softplus softshrink softsign tanhshrink threshold triplet_margin_loss unfold upsample_bilinear
upsample_nearest
"""

SUCCESSORS = """
fft.fft fft.fft2 fft.fftn fft.ifft fft.ifft2 fft.ifftn fft.irfft fft.irfft2 fft.irfftn fft.rfft
fft.rfft2 fft.rfftn linalg.det linalg.eig linalg.eigh linalg.householder_product linalg.inv
linalg.lstsq linalg.lu_factor linalg.lu_solve linalg.matrix_power linalg.matrix_rank
linalg.multi_dot linalg.slogdet linalg.solve outer signal.windows.bartlett signal.windows.blackman
signal.windows.hamming signal.windows.hann
"""

NAMES = frozenset(
    (FUNCTIONS + OPERATORS + SUCCESSORS).split()
    + [f"nn.functional.{name}" for name in NETWORKS.split()]
)
