"""What is said of a mistake beside its place: the remedy, which must fit the cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_program import DERIVATIVES, FUNCTIONS, read_pair, write_pair

from codegen.__main__ import main
from codegen.errors import CodegenError, did_you_mean

ROOT = Path(__file__).resolve().parents[2]


def told(folder: Path, functions: str = FUNCTIONS, derivatives: str = DERIVATIVES) -> str:
    """What is said of a bad pair."""
    write_pair(folder, functions, derivatives)
    with pytest.raises(CodegenError) as caught:
        read_pair(folder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("cpu", ("CPU", "CUDA"), "'CPU'"),
        ("grad_output", ("grad", "grad_input_mask"), "'grad'"),
        ("slef", ("self", "other"), "'self'"),
    ],
)
def test_the_closest_word(name: str, known: tuple[str, ...], meant: str) -> None:
    assert did_you_mean(name, known) == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("dtypes: floating_and_complex", "dtypes: float32", "float32 is in: all, numeric"),
        ("dtypes: floating_and_complex", "dtypes: [float32]", "one word of: all, numeric"),
        ('"distinct(3, 4)"', '"torch.randn(3)"', "constructors: randn(*shape)"),
        ('"distinct(3, 4)"', '"math.pi"', "constructors: randn(*shape)"),
    ],
)
def test_hints_of_operators(tmp_path: Path, old: str, new: str, hint: str) -> None:
    assert old in FUNCTIONS
    assert hint in told(tmp_path, FUNCTIONS.replace(old, new, 1))


@pytest.mark.parametrize(
    ("formula", "hint", "count"),
    [
        ("grad * torch.exp(self)", "operators are called by name alone", 1),
        ("grad * math.exp(self)", "exp(self) is the operator", 1),
        ("grad * math.sqr(2)", "did you mean 'sqrt'", 1),
        ("grad_output * self", "did you mean 'grad'?", 1),
    ],
)
def test_hints_of_derivatives(tmp_path: Path, formula: str, hint: str, count: int) -> None:
    derivatives = DERIVATIVES.replace("other: grad * self", f"other: {formula}", 1)
    assert derivatives != DERIVATIVES
    said = told(tmp_path, derivatives=derivatives)
    assert hint in said and said.count("error[") == count, said


def test_pythons_math_of_numbers_is_allowed(tmp_path: Path) -> None:
    derivatives = DERIVATIVES.replace("other: grad * self", "other: grad * math.sqrt(2) * self", 1)
    write_pair(tmp_path, derivatives=derivatives)
    assert read_pair(tmp_path).derivatives


POINTWISE = """\
- func: {name}(Tensor self) -> Tensor
  variants: {variants}
  dtypes: floating
  pointwise: self * 2
  samples: {{self: [-1, 1]}}
  doc: Double.
"""
OUTSIDE = [
    (POINTWISE.format(name="twice", variants="function"), "E416", "the file of --derivatives"),
    (POINTWISE.format(name="shape", variants="method"), "E506", "Tensor.shape is the library's"),
    (POINTWISE.format(name="retain_grad", variants="method"), "E506", "variants: function"),
    (POINTWISE.format(name="requires_grad", variants="inplace"), "E506", "requires_grad_"),
    (POINTWISE.format(name="multiply", variants="function"), "E505", "choose another name"),
    (POINTWISE.format(name="__add__", variants="function"), "E209", "`operators: __add__`"),
    (
        POINTWISE.format(name="twice", variants="function").replace(
            "pointwise: self * 2", "composite: bodies.twice"
        ),
        "E324",
        "--implementations FOLDER",
    ),
    (
        POINTWISE.format(name="twice", variants="function").replace(
            "pointwise: self * 2", "composite: |\n    y = self * 2\n    y + 1"
        ),
        "E402",
        "`composite: module.function`",
    ),
    (
        POINTWISE.format(name="twice", variants="function").replace(
            "pointwise: self * 2", "dispatch: {cpu: kernels.twice}\n  meta: dynamic"
        ),
        "E307",
        "did you mean 'CPU'?",
    ),
]


@pytest.mark.parametrize(("text", "code", "says"), OUTSIDE, ids=[each[2] for each in OUTSIDE])
def test_hints_outside_the_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: str, says: str
) -> None:
    (tmp_path / "ops.yaml").write_text(text)
    out = tmp_path / "hinted_ops"
    assert main(["--functions", str(tmp_path / "ops.yaml"), "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert f"error[{code}]" in said and says in said, said
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("my-ops", "no package can be imported as 'my-ops'"),
        ("class", "no package can be imported as 'class'"),
        ("2ops", "no package can be imported as '2ops'"),
        ("json", "'json' would hide"),
        ("numpy", "'numpy' would hide"),
        ("ops.yaml", "is a file"),
    ],
)
def test_names_of_packages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    (tmp_path / "ops.yaml").write_text(POINTWISE.format(name="twice", variants="function"))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SystemExit):
        main(["--functions", str(tmp_path / "ops.yaml"), "--out", str(tmp_path / name)])
    assert says in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_folder_of_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--functions", "ops.yaml", "--out", "hinted_ops", "--implementations", "nowhere"]
    with pytest.raises(SystemExit):
        main(words)
    assert "there is no such folder" in capsys.readouterr().err
