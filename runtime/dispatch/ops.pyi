"""What `torchgen_out/registrations.py` puts into the table, for type checkers and editors."""

import typing
from collections.abc import Callable

from torchgen_out.functions.composite import *
from torchgen_out.functions.dispatch import *
from torchgen_out.functions.dispatch import _to_copy as _to_copy
from torchgen_out.functions.overloads import *
from torchgen_out.functions.pointwise import *
from torchgen_out.functions.reduction import *
from torchgen_out.functions.view import *

__getattr__: Callable[[str], typing.Any]
"""Private operators, which are not listed."""
