"""The command line: what a run says and returns, explain and new."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.__main__ import generate, main
from codegen.check import read_program
from codegen.commands import explain, lookup, new, records, skeletons, text
from codegen.model.program import Program
from codegen.parse import Inputs
from codegen.project import LIBRARY, Project

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLE = ROOT / "examples" / "my_ops"
SUMMARY = re.compile(
    r"\d+ operators, (\d+) files written, (\d+) unchanged, (\d+) deleted, \d+\.\d\d s\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The fixture's operators as a library of their own."""
    for name in ("fixture.yaml", "fixture_derivatives.yaml"):
        shutil.copy(HERE / name, tmp_path)
    return Project(
        tmp_path / "fixture.yaml", tmp_path / "fixture_derivatives.yaml", tmp_path / "made"
    )


def inputs(project: Project) -> Inputs:
    return Inputs(project.functions, project.derivatives, HERE / "fixture_formulas.py")


def read(project: Project) -> Program:
    return read_program(inputs(project))


@pytest.fixture
def readable(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The same, read with the fixture's own formulas."""
    monkeypatch.setattr(Project, "inputs", inputs)
    return project


def edit(project: Project, old: str, new: str) -> None:
    """Change the operators' file."""
    text = project.functions.read_text()
    assert old in text
    project.functions.write_text(text.replace(old, new))


def summary(capsys: pytest.CaptureFixture[str]) -> tuple[int, int, int]:
    match = SUMMARY.fullmatch(capsys.readouterr().out)
    assert match is not None
    written, unchanged, deleted = map(int, match.groups())
    return written, unchanged, deleted


# ----------------------------------------------------------------------------------------------
# Generating


def test_runs_say_what_they_did(readable: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(readable) == 0
    written, unchanged, deleted = summary(capsys)
    assert written > 40 and not unchanged and not deleted
    assert generate(readable) == 0
    assert summary(capsys) == (0, written, 0)


def test_one_change_writes_few_files(readable: Project, capsys: pytest.CaptureFixture[str]) -> None:
    generate(readable)
    total = summary(capsys)[0]
    text = readable.functions.read_text()
    readable.functions.write_text(
        text.replace("pointwise: self * other", "pointwise: other * self")
    )
    assert generate(readable) == 0
    written, unchanged, deleted = summary(capsys)
    assert 0 < written < 10
    assert written + unchanged == total and not deleted


def test_check_tells_the_difference(readable: Project, capsys: pytest.CaptureFixture[str]) -> None:
    generate(readable)
    assert generate(readable, check=True) == 0
    before = (readable.out / "kernels/pointwise.py").read_text()
    text = readable.functions.read_text()
    readable.functions.write_text(
        text.replace("0 if self <= 0 else self", "self if self > 0 else 0")
    )
    capsys.readouterr()
    assert generate(readable, check=True) == 1
    told = capsys.readouterr().out
    assert "--- on disk: kernels/pointwise.py" in told
    assert "+    return self if self > T(0) else T(0)" in told
    assert (readable.out / "kernels/pointwise.py").read_text() == before


def test_mistakes_stop_everything(readable: Project, capsys: pytest.CaptureFixture[str]) -> None:
    generate(readable)
    before = {path: path.read_bytes() for path in readable.out.rglob("*.py")}
    edit(readable, "pointwise: self * other", "pointwise: self * othr")
    assert generate(readable) == 1
    assert "did you mean 'other'" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in readable.out.rglob("*.py")} == before


def test_hand_edits_are_refused(readable: Project, capsys: pytest.CaptureFixture[str]) -> None:
    generate(readable)
    edited = readable.out / "methods.py"
    edited.write_text("mine = 1\n")
    assert generate(readable) == 1
    assert "methods.py" in capsys.readouterr().err
    assert edited.read_text() == "mine = 1\n"
    assert generate(readable, force=True) == 0
    assert "Tensor.mul = " in edited.read_text()


def test_an_older_tree_is_noticed(readable: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Outputs and manifest of another state, as version control may bring back."""
    generate(readable)
    older = readable.out.with_name("older")
    shutil.copytree(readable.out, older)
    text = readable.functions.read_text()
    readable.functions.write_text(
        text.replace("pointwise: self * other", "pointwise: other * self")
    )
    generate(readable)
    shutil.rmtree(older / "__pycache__")
    shutil.copytree(older, readable.out, dirs_exist_ok=True)
    capsys.readouterr()
    assert generate(readable) == 0
    assert summary(capsys)[0] > 0


def test_without_changes_no_yaml_is_read(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(
        '- func: f(Tensor self) -> Tensor\n  pointwise: "self"\n  samples: {self: [0, 1]}\n'
        "  doc: Return it.\n"
    )
    (tmp_path / "derivatives.yaml").write_text("- name: f\n  self: auto\n")
    program = (
        "import sys\nfrom codegen.__main__ import main\n"
        "status = main(sys.argv[1:])\nprint(status, sorted({'yaml', 'jinja2'} & set(sys.modules)))"
    )
    words = ["--functions", "ops.yaml", "--derivatives", "derivatives.yaml", "--out", "made"]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")[1]
        for _ in range(2)
    ]
    assert outputs == ["0 ['jinja2', 'yaml']", "0 []"]


# ----------------------------------------------------------------------------------------------
# Finding and explaining operators


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("mul", ["mul.Tensor"]),
        ("mul_", ["mul.Tensor"]),
        ("multiply", ["mul.Tensor"]),
        ("torch.mul", ["mul.Tensor"]),
        ("__imul__", ["mul.Tensor"]),
        ("max", ["max", "max.dim", "max.other"]),
        ("max.dim", ["max.dim"]),
        ("linalg.multi_dot", ["linalg_multi_dot"]),
        ("nn.functional.relu", ["relu"]),
        ("Tensor.zero_", ["zero_"]),
    ],
)
def test_operators_are_found_by_every_name(project: Project, name: str, found: list[str]) -> None:
    assert [operator.name for operator in lookup.find(read(project), name)] == found


def test_unknown_operators_get_a_hint(project: Project) -> None:
    with pytest.raises(lookup.UnknownOperator, match=r"'mull'.*did you mean 'mul'"):
        lookup.find(read(project), "mull")


def explained(project: Project, name: str) -> str:
    program = read(project)
    return "\n\n".join(
        text.render(explain.explain(program, operator, project))
        for operator in lookup.find(program, name)
    )


def test_every_kind_is_explained(readable: Project) -> None:
    generate(readable)
    for operator in read(readable).operators:
        told = explained(readable, operator.name)
        assert told.startswith(str(operator.schema))
        assert "From the call to the kernel" in told
        assert "not generated yet" not in told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mul", "torch.mul(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None)"),
        ("mul", "def mul_Tensor_backward_self(grad, other):"),
        ("mul", "one kernel for several inputs at once: mul_Tensor_backward_self_other"),
        ("mul", "self reads   other (the tensor)"),
        ("mul", "LaTeX: x \\, y"),
        ("relu", "self: _threshold_backward(grad, result)"),
        ("relu", "self reads  result (the tensor, a result)"),
        ("mean", "self (its sizes only), dim (the value), keepdim (the value)"),
        ("mean", "default: inputs are cast to their common dtype"),
        ("mm", "linalg.mm: "),
        ("mm", "runtime/ops/shapes/matmul.py:"),
        ("zero_", "CUDA           no kernel; add one to the entry's dispatch"),
        ("mul", "compiled by numba-cuda into a grid-stride loop"),
        ("max", "2. max.dim(Tensor self, int dim, bool keepdim=False)"),
        ("transpose", "auto_linear"),
        ("mse_loss", "(self - target).mul(self - target).mean()"),
    ],
)
def test_explain_says(readable: Project, name: str, told: str) -> None:
    assert told in explained(readable, name)


def test_explain_knows_the_places(readable: Project) -> None:
    generate(readable)
    found = re.search(r"node +MulBackward0 +(\S+):(\d+)", explained(readable, "mul"))
    assert found is not None
    line = Path(found[1]).read_text().split("\n")[int(found[2]) - 1]
    assert line.startswith("class MulBackward0(")


def test_explain_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "softplus"]) == 0
    assert "SoftplusBackward0" in capsys.readouterr().out
    assert main(["explain", "sofplus"]) == 1
    assert "did you mean 'softplus'" in capsys.readouterr().err


@pytest.mark.parametrize("folder", [LIBRARY.out, LIBRARY.out / "my_ops", LIBRARY.out.parent])
def test_no_package_takes_the_place_of_the_library(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([f"--functions={EXAMPLE}/my_ops.yaml", f"--out={folder}"])
    assert "is the library's own package" in capsys.readouterr().err


def test_the_stamp_of_the_library_is_its_own(tmp_path: Path) -> None:
    def stamp(folder: Path) -> str | None:
        file = folder / "__pycache__" / "codegen.json"
        return file.read_text() if file.is_file() else None

    before = stamp(LIBRARY.out)
    files = [f"--functions={EXAMPLE}/my_ops.yaml", f"--derivatives={EXAMPLE}/my_derivatives.yaml"]
    assert main([*files, f"--out={tmp_path / 'my_ops'}"]) == 0
    assert stamp(tmp_path / "my_ops") is not None
    assert stamp(LIBRARY.out) == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("expalin relu", "no command 'expalin': did you mean 'explain'"),
        ("frobnicate", "they are explain, new, verify, watch, warm"),
        ("my_ops.yaml", "--functions my_ops.yaml --out FOLDER"),
        ("--out my_ops", "--out needs --functions"),
    ],
)
def test_wrong_command_lines(arguments: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments.split())
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("torch.nn.ReLU", "did you mean 'relu'"),
        ("NOPE_NOPE", "torchgen_out/reference lists all"),
    ],
)
def test_explain_of_what_is_not_there(
    name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 1
    assert told in capsys.readouterr().err


def test_explain_of_the_library_from_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [f"--functions={EXAMPLE}/my_ops.yaml", f"--derivatives={EXAMPLE}/my_derivatives.yaml"]
    assert main(["explain", *files, f"--out={tmp_path / 'my_ops'}", "relu"]) == 1
    assert "it is the library's" in capsys.readouterr().err


def test_explain_calls_a_package_outside_the_tree_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [f"--functions={EXAMPLE}/my_ops.yaml", f"--derivatives={EXAMPLE}/my_derivatives.yaml"]
    for name in ("smooth_sign", "my_ops.smooth_sign"):
        assert main(["explain", *files, f"--out={tmp_path / 'my_ops'}", name]) == 0
        told = capsys.readouterr().out
        assert "  my_ops.smooth_sign(input: Tensor," in told and "torch.smooth_sign" not in told


# ----------------------------------------------------------------------------------------------
# New operators


@pytest.mark.parametrize("kind", skeletons.KINDS)
@pytest.mark.parametrize("tensors", [1, 3])
def test_skeletons_are_valid(readable: Project, kind: str, tensors: int) -> None:
    skeleton = skeletons.KINDS[kind]("brand_new", tensors)
    new.add(readable, "brand_new", skeleton)
    (operator,) = lookup.find(read(readable), "brand_new")
    assert type(operator.kind).__name__.lower() == kind
    assert generate(readable) == 0


def test_new_entries_keep_the_files(readable: Project) -> None:
    files = (readable.functions, readable.derivatives)
    before = [file.read_text() for file in files if file]
    skeleton = skeletons.pointwise("brand_new", 2)
    new.add(readable, "brand_new", skeleton)
    after = [file.read_text() for file in files if file]
    assert after[0] == before[0] + "\n" + skeleton.function
    assert after[1] == before[1] + "\n" + skeleton.derivative


@pytest.mark.parametrize(
    ("name", "after", "before"),
    [
        ("max.three", None, "# Views: one, a property made of it, and several at once."),
        ("brand_new", "mul", "# Pointwise with a hand-written gradient, and a flag"),
    ],
)
def test_new_entries_stand_beside_their_family(
    readable: Project, name: str, after: str | None, before: str
) -> None:
    old = readable.functions.read_text()
    skeleton = skeletons.composite(name, 3)
    new.add(readable, name, skeleton, after)
    text = readable.functions.read_text()
    assert text == old.replace(before, f"{skeleton.function}\n{before}")


@pytest.mark.parametrize("name", ["mul", "multiply", "mul_", "max.dim", "mul.Tensor", "__mul__"])
def test_existing_names_are_refused(readable: Project, name: str) -> None:
    before = readable.functions.read_text()
    with pytest.raises(new.Refusal):
        new.add(readable, name, skeletons.pointwise(name, 1))
    assert readable.functions.read_text() == before


def test_new_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"functions": "ops.yaml", "derivatives": "derivatives.yaml", "out": "made"}
    options = [w for name, path in words.items() for w in (f"--{name}", str(tmp_path / path))]
    assert main(["new", "brand_new", *options]) == 0
    told = capsys.readouterr().out
    assert "brand_new is at" in told and "verify brand_new" in told
    assert main(options) == 0
    assert "1 operators" in capsys.readouterr().out
    assert main(["new", "brand_new", *options]) == 1
    assert main(["new", "exp", *options]) == 1
    assert "'exp' exists already" in capsys.readouterr().err


# ----------------------------------------------------------------------------------------------
# What the tools are told


def test_records_are_plain_data(project: Project) -> None:
    program = read(project)
    found = [records.record_of(program, operator) for operator in program.operators]
    assert json.loads(json.dumps(found)) is not None
    (mean,) = (each for each in found if each["base_name"] == "mean")
    assert mean["parts"]["project"] == "acc / count"
    assert mean["reference"] == "numpy.mean"
