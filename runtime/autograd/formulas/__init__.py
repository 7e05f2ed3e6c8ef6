"""Functions that derivatives.yaml calls where a formula is too long for a line, a family each.

Each returns the gradient of one argument (of several, a tuple), made of differentiable operators.
A gradient may have the broadcast shape: the engine sums and casts.
"""

# ruff: noqa: F403
from torchgen_out._runtime.autograd.formulas.attention import *
from torchgen_out._runtime.autograd.formulas.collective import *
from torchgen_out._runtime.autograd.formulas.conv import *
from torchgen_out._runtime.autograd.formulas.copy import *
from torchgen_out._runtime.autograd.formulas.embedding import *
from torchgen_out._runtime.autograd.formulas.fft import *
from torchgen_out._runtime.autograd.formulas.indexing import *
from torchgen_out._runtime.autograd.formulas.linalg.factorisations import *
from torchgen_out._runtime.autograd.formulas.linalg.solvers import *
from torchgen_out._runtime.autograd.formulas.linalg.spectra import *
from torchgen_out._runtime.autograd.formulas.loss import *
from torchgen_out._runtime.autograd.formulas.matmul import *
from torchgen_out._runtime.autograd.formulas.normalization import *
from torchgen_out._runtime.autograd.formulas.pointwise import *
from torchgen_out._runtime.autograd.formulas.pooling import *
from torchgen_out._runtime.autograd.formulas.reduction import *
from torchgen_out._runtime.autograd.formulas.rnn import *
from torchgen_out._runtime.autograd.formulas.sampling import *
from torchgen_out._runtime.autograd.formulas.scan import *
from torchgen_out._runtime.autograd.formulas.scatter import *
from torchgen_out._runtime.autograd.formulas.softmax import *
