"""The tests of autograd's behaviour, run on PyTorch: so what they assert is what it does."""

import pytest

from tests.runtime.test_autograd import *  # noqa: F403
from tests.runtime.test_autograd_engine import *  # noqa: F403
from tests.runtime.test_autograd_function import *  # noqa: F403
from tests.runtime.test_autograd_function_results import *  # noqa: F403
from tests.runtime.test_autograd_grad import *  # noqa: F403
from tests.runtime.test_autograd_gradcheck import *  # noqa: F403
from tests.runtime.test_autograd_hooks import *  # noqa: F403
from tests.runtime.test_autograd_inplace import *  # noqa: F403
from tests.runtime.test_autograd_leaves import *  # noqa: F403
from tests.runtime.test_autograd_modes import *  # noqa: F403
from tests.runtime.test_autograd_saved import *  # noqa: F403

theirs = pytest.importorskip("torch")


@pytest.fixture
def torch():
    return theirs
