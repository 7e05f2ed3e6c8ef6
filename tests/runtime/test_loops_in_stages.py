"""Loops over rows that are taken apart at a number of much arithmetic, and loops that stay."""

from __future__ import annotations

import pytest

from torchgen_out._runtime.kernels.cpu.loops.in_stages import in_stages

BODY = """\
    n = plan[0]
    for item in range(start, stop):
        p = item * n
        run = 0.0
        for j in range(n):
            run = run + x[p + j]
        total = T(run)
        value = costly(total)
        for j in range(n):
            out[p + j] = x[p + j] - value
    return True
"""
OTHERS = {
    "no costly number": ("costly(", "cheap("),
    "other rows": ("range(start, stop)", "range(stop)"),
    "a number of another type": ("total = T(run)", "total = WIDE(run)"),
    "a row that ends the loop": (
        "        value =",
        "        if total == 0:\n            break\n        value =",
    ),
    "two loops": ("    return True", "    for k in range(n):\n        out[k] = 0\n    return True"),
    "one row tells the next": ("        value =", "        p += 1\n        value ="),
}


def run(body: str, count: int, n: int) -> list[float]:
    names = "T, U, lesser, greater, costly, cheap, plan, x, out, start, stop, np, WIDE"
    made: dict[str, object] = {}
    exec(f"def kernel({names}):\n{body}", made)
    x = [float(each % 7) for each in range(count * n)]
    out = [0.0] * len(x)

    class Memory:
        empty = staticmethod(lambda size, kind: [0.0] * size)

    given = float, int, min, max, lambda t: t * t, abs, [n], x, out, 0, count, Memory, float
    made["kernel"](*given)  # type: ignore[operator]
    return out


@pytest.mark.parametrize(("count", "n"), [(0, 3), (1, 3), (64, 2), (65, 2), (3, 5000), (200, 100)])
def test_the_same_is_computed(count: int, n: int) -> None:
    staged = in_stages(BODY, "n", lambda line: "costly" in line)
    assert staged != BODY and staged.count("costly") == 1
    assert run(staged, count, n) == run(BODY, count, n)


@pytest.mark.parametrize("name", OTHERS)
def test_loops_of_another_form_stay(name: str) -> None:
    before, after = OTHERS[name]
    assert before in BODY
    body = BODY.replace(before, after)
    assert in_stages(body, "n", lambda line: "costly" in line) == body
