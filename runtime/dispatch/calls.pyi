"""One table for each operator, for type checkers."""

import typing
from collections.abc import Callable

__getattr__: Callable[[str], typing.Any]
