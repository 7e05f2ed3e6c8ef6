"""What upper floors put on `Tensor`, for type checkers and editors: operators as generated code
does, and the Python-only methods as `runtime.tensor_api.methods` does.
"""

from torchgen_out._runtime.tensor_api.methods import TensorAPI as TensorAPI
from torchgen_out.tensor_methods import TensorMethods as TensorMethods
