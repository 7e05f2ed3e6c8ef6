"""The parts of a formula that repeats a step as often as one of its numbers says.

A primitive `f` that loops may come in parts: `f_start` has the state before the first step, the
last of which is the value; `f_steps` takes the state some steps on, for each element as far as its
own numbers go; `f_goes_on` tells whether there is a step from k on, and `f_is_far` for which
elements the parts do not serve. A loop inside of the loop over elements would keep that one from
vectorising. So for a formula that is a call of such a primitive the loop turns them round
(`kernels.cpu.loops.runs`): the steps are outside, and inside all elements of a block take them
together. The state is of float64.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from torchgen_out._runtime.kernels.vecmath import compose

STRIDE = 4
"""How many steps `f_steps` takes at once."""


def parts(k: str, after: str, state: str = "state_below[i], state_value[i]") -> dict[str, str]:
    """What the parts take before the arguments of the primitive.

    k: where steps begin. after: from where on it is asked whether there are more.
    """
    return {"start": "", "steps": f"{k}, {state}, ", "goes_on": f"{after}, ", "is_far": ""}


def versions(source: str, defined: Collection[str]) -> str:
    """Return the sources of `f_start` and so on for the formula `f` of some source.

    defined: the names of all primitives of the compute type.
    Empty if the formula is not a call of a primitive in parts.
    """
    if not any(f"{name}_steps" in defined for name in compose.names_in(source)):
        return ""  # most formulas, which need not be parsed
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    match function.body[-1]:
        case ast.Return(value=ast.Call(func=ast.Name(id=name)) as call):
            pass
        case _:
            return ""
    if f"{name}_steps" not in defined:
        return ""
    name = f"double_{name}" if f"double_{name}" in defined else name
    given = ", ".join(f"np.float64({ast.unparse(each)})" for each in call.args)
    head = "".join(f"    {ast.unparse(each)}\n" for each in function.body[:-1])
    arguments = ast.unparse(function.args)
    return "".join(
        f"\n\ndef {function.name}_{part}({first}{arguments}):\n"
        f"{head}    return {name}_{part}({first}{given})\n"
        for part, first in parts("k", "k", "below, value").items()
    )
