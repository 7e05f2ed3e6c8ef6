"""A small good pair of YAML files, one operator of each kind, and how to read such a pair."""

from pathlib import Path

from codegen.check import read_program
from codegen.model.program import Program
from codegen.parse import Inputs

FUNCTIONS = """\
- func: mul.Tensor(Tensor self, Tensor|Scalar other) -> Tensor
  variants: function, method, inplace, out
  operators: __mul__, __rmul__, __imul__
  aliases: multiply
  dtypes: all
  promotion: default
  pointwise: self * other
  reference: numpy.multiply
  samples: {self: [-3, 3]}
  doc: |
    Multiply element by element.

    The operands broadcast.

- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
  variants: function
  python_module: nn.functional
  dtypes: floating
  promotion: int_to_float
  pointwise: |
    t = self * beta
    self if t > threshold else log1p(exp(t)) / beta
  samples: {self: [-3, 3], beta: [1, 0.5]}
  doc: A smooth approximation of ReLU.

- func: sum.dim_IntList(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  variants: function, method, out
  promotion: bool_to_long
  reduction:
    identity: 0
    reduce: acc + self
    combine: acc + other
  samples: {self: [-3, 3]}
  doc: Sum along dim.

- func: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
  view: transpose
  samples:
    - {self: "randn(2, 3)", dim0: 0, dim1: -1}
    - {self: "randn(2, 3)", dim0: 0, dim1: 2, raises: IndexError}
  doc: Swap two dimensions.

- func: mse_loss(Tensor self, Tensor target) -> Tensor
  variants: function
  python_module: nn.functional
  composite: (self - target).mul(self - target).sum()
  samples: {self: [-3, 3]}
  doc: The sum of squared differences.

- func: mm(Tensor self, Tensor mat2) -> Tensor
  variants: function, method, out
  dtypes: floating_and_complex
  promotion: same(self, mat2)
  dispatch:
    CPU, CUDA: linalg.mm
  meta: linalg.mm
  half_precision: as_stored
  samples:
    - {self: "randn(3, 4)", mat2: "permuted(randn(5, 4), (1, 0))"}
  doc: Multiply two matrices.

- func: sort(Tensor self, int dim=-1, *, bool descending=False) -> (Tensor values, Tensor indices)
  variants: function, method, out
  dispatch: {CPU: sorting.sort}
  meta: sorting.sort
  tags: nondeterministic
  samples:
    - {self: "distinct(3, 4)"}
    - {self: "distinct(3, 4)", descending: True}
  doc: Sort along dim.

- func: msort(Tensor self, bool ascending=True) -> (Tensor values, Tensor indices)
  variants: function
  case_of: sort(self, dim=0, descending=not ascending)
  samples:
    - {self: "distinct(3, 4)"}
  doc: Sort along the first dim.

- func: gumbel_(Tensor(a!) self, float loc=0, *, Generator? generator=None) -> Tensor(a!)
  variants: method
  dtypes: floating
  draw: loc - log(-log(positive))
  samples:
    - {self: "randn(3)"}
  doc: Fill with numbers of the Gumbel distribution.

- func: zero_(Tensor(a!) self) -> Tensor(a!)
  variants: method
  dispatch: {CPU: fill.zero_}
  meta: fill.zero_
  aliasing: self
  memory_format: self
  samples:
    - {self: "randn(3)"}
  doc: Fill with zeros.
"""

DERIVATIVES = """\
- name: mul.Tensor
  self: grad * other
  other: grad * self

- name: softplus
  self: auto
  result: auto_element_wise

- name: sum.dim_IntList
  self: sum_backward(grad, self.sizes(), dim, keepdim)
  result: auto_linear

- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
  self: grad.transpose(dim0, dim1)

- name: mm
  self, mat2: mm_backward(grad, self, mat2, grad_input_mask)

- name: sort
  output_differentiability: [True, False]
  self: sum_backward(grad, self.shape, indices, False)
  values: self_t.mul(indices)

- name: msort
  self: non_differentiable

- name: gumbel_
  self: non_differentiable

- name: zero_
  self: non_differentiable
"""

FORMULAS = '''\
"""Backward formulas by name."""


def sum_backward(grad, sizes, dim, keepdim):
    return grad


def mm_backward(grad, self, mat2, mask, *, transpose=False):
    return grad, grad
'''


def write_pair(folder: Path, functions: str = FUNCTIONS, derivatives: str = DERIVATIVES) -> None:
    """Write the YAML files and the formulas into a folder."""
    (folder / "native_functions.yaml").write_text(functions, encoding="utf-8")
    (folder / "derivatives.yaml").write_text(derivatives, encoding="utf-8")
    (folder / "formulas.py").write_text(FORMULAS, encoding="utf-8")


def read_pair(folder: Path, base: Program | None = None) -> Program:
    """Read what `write_pair` wrote."""
    return read_program(
        Inputs(
            folder / "native_functions.yaml",
            folder / "derivatives.yaml",
            folder / "formulas.py",
            empty=Program((), base=base),
        )
    )
