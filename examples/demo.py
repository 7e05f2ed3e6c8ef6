"""The project in a minute: regenerate, add an operator out of tree, train a classifier.

Run it with `make demo`, or `python examples/demo.py [folder for the results]`.
"""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "examples" / "my_ops"


def step(title: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{title}\033[0m", flush=True)


def codegen(*arguments: str) -> None:
    """Run the generator, and show the command."""
    print("$ python -m codegen", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "codegen", *arguments], cwd=ROOT, check=True)


def show_operator(output: Path) -> None:
    """Generate, import and try an operator that is not part of the library."""
    codegen(
        "--functions",
        str(SPECS / "my_ops.yaml"),
        "--derivatives",
        str(SPECS / "my_derivatives.yaml"),
        "--out",
        str(output / "my_ops"),
    )
    sys.path.insert(0, str(output))
    start = time.perf_counter()
    import torchgen_out as torch

    my_ops = importlib.import_module("my_ops")

    x = torch.linspace(-2, 2, 5, dtype=torch.float64, requires_grad=True)
    width = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    y = my_ops.smooth_sign(x, width)
    y.sum().backward()
    print(f">>> y = my_ops.smooth_sign(x, width)      # {time.perf_counter() - start:.2f} s")
    print(y)
    print(">>> y.sum().backward(); x.grad, width.grad")
    print(x.grad, width.grad)
    print(">>> torch.autograd.gradcheck, gradgradcheck")
    print(
        torch.autograd.gradcheck(my_ops.smooth_sign, (x, width)),
        torch.autograd.gradgradcheck(my_ops.smooth_sign, (x, width)),
    )
    node = type(y.grad_fn)
    source, line = inspect.getsourcelines(node)
    print(f">>> {inspect.getsourcefile(node)}:{line}")
    print("".join(source[:20]).rstrip())


def main() -> None:
    """Run all steps."""
    output = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "demo_output")
    output.mkdir(parents=True, exist_ok=True)
    step("1. Regenerate the library from its two YAML files")
    codegen()
    step("2. An operator of your own, from a YAML file outside the library")
    show_operator(output)
    step("3. Train a classifier of handwritten digits")
    print("A machine's first run takes a few seconds to the first step: kernels are compiled.")
    sys.path.insert(0, str(ROOT / "examples"))
    digits = importlib.import_module("digits")
    digits.main(str(output / "digits.png"))


if __name__ == "__main__":
    main()
