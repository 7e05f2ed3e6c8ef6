"""Typical mistakes, one at a time and together: each is found, with its code, at its very place."""

import re

import pytest
from mistake import Mistake
from mistakes_derivatives import OF_DERIVATIVES
from mistakes_kinds import KINDS
from mistakes_text import SPELLING
from small_program import DERIVATIVES, FUNCTIONS, read_pair, write_pair

from codegen.check.rules import DERIVATIVE_RULES, OPERATOR_RULES, PROGRAM_RULES
from codegen.errors import CodegenError

CARET = "‸"
MISTAKES = [*SPELLING, *KINDS, *OF_DERIVATIVES]


def applied(mistake: Mistake) -> tuple[str, str, tuple[int, int] | None]:
    """Return both files with the mistake, and the expected (line, column), if it is marked."""
    texts = {"native_functions.yaml": FUNCTIONS, "derivatives.yaml": DERIVATIVES}
    text = texts[mistake.file]
    assert mistake.old in text
    text = text.replace(mistake.old, mistake.new, 1)
    place = None
    if CARET in text:
        before = text[: text.index(CARET)]
        place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        text = text.replace(CARET, "")
    texts[mistake.file] = text
    return texts["native_functions.yaml"], texts["derivatives.yaml"], place


def errors_of(folder, functions: str, derivatives: str) -> CodegenError:
    """Read a bad pair."""
    write_pair(folder, functions, derivatives)
    with pytest.raises(CodegenError) as caught:
        read_pair(folder)
    return caught.value


def test_the_good_pair_is_good(tmp_path):
    write_pair(tmp_path)
    assert len(read_pair(tmp_path).operators) == 10


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistake(mistake, tmp_path):
    functions, derivatives, place = applied(mistake)
    error = errors_of(tmp_path, functions, derivatives)
    found = [d for d in error.diagnostics if d.code == mistake.code]
    assert found, str(error)
    diagnostic = next((d for d in found if mistake.word in d.message), found[0])
    assert mistake.word in diagnostic.message
    if place is not None:
        assert (diagnostic.where.line, diagnostic.where.column) == place, str(error)
    rendered = str(error)
    assert re.search(rf"(?m)^\S+:\d+:\d+: error\[{mistake.code}\]: ", rendered)
    assert "^" in rendered


def test_there_are_enough_mistakes():
    assert len(MISTAKES) >= 40
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)


def test_one_mistake_is_reported_once(tmp_path):
    """A mistake does not cause others: what stands on a broken entry is not reported."""
    alone = {"unknown type", "unknown name", "unknown tag", "arity", "bracket", "name in a formula"}
    for mistake in MISTAKES:
        if mistake.name in alone:
            functions, derivatives, _ = applied(mistake)
            assert len(errors_of(tmp_path, functions, derivatives).diagnostics) == 1, mistake.name


def test_all_mistakes_of_a_run_come_together_in_file_order(tmp_path):
    functions = FUNCTIONS.replace("dtypes: all", "dtypes: al").replace("Sum along", "Sum: along")
    functions = functions.replace("tags: nondet", "tags: nndet")
    derivatives = DERIVATIVES.replace("grad * self", "grad * slf").replace(
        "- name: mm", "- name: m"
    )
    error = errors_of(tmp_path, functions, derivatives)
    codes = [diagnostic.code for diagnostic in error.diagnostics]
    assert codes == ["E304", "E101", "E416", "E306", "E420", "E403"]
    assert str(error).endswith("6 errors")
    lines = [(d.where.file, d.where.line) for d in error.diagnostics]
    assert lines == sorted(lines, key=lambda pair: ("deriv" in pair[0], pair[1]))


def test_rendering(tmp_path):
    functions = FUNCTIONS.replace("mm(Tensor self, Tensor mat2)", "mm(Tensor self, Tensor(a!) out)")
    rendered = str(errors_of(tmp_path, functions, DERIVATIVES))
    expected = """\
error[E203]: mm: out must be keyword-only
    - func: mm(Tensor self, Tensor(a!) out) -> Tensor
                            ^^^^^^^^^^^^^^
  hint: put '*' before it
"""
    assert expected in rendered


def test_both_places_are_shown(tmp_path):
    derivatives = DERIVATIVES.replace("int dim0, int dim1)", "int dim0, int dim2)")
    rendered = str(errors_of(tmp_path, FUNCTIONS, derivatives))
    assert "derivatives.yaml:13:" in rendered
    assert re.search(r"native_functions.yaml:\d+:9: note: the operator", rendered)


def test_did_you_mean(tmp_path):
    functions = FUNCTIONS.replace("dtypes: floating_and_complex", "dtypes: floating_complex")
    rendered = str(errors_of(tmp_path, functions, DERIVATIVES))
    assert "did you mean 'floating_and_complex'" in rendered


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("int beta=1.5", "whole number"),
        ("int beta='1'", "a number has no quotes"),
        ("bool beta=true", "True or False"),
        ("str beta=mean", 'quotes: "mean"'),
        ("Tensor beta=0", "Tensor|Scalar"),
        ("float beta=None", "float?"),
        ("int[2] beta=[1, 2, 3]", "list of 2"),
        ("ScalarType beta=float31", "one of "),
    ],
)
def test_a_wrong_default_gets_a_hint(written, hint, tmp_path):
    functions = FUNCTIONS.replace("Scalar beta=1,", f"{written},")
    (told,) = (
        d for d in errors_of(tmp_path, functions, DERIVATIVES).diagnostics if d.code == "E206"
    )
    assert hint in told.hint


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(CodegenError, match=r"E100.*there is no such file\n  hint: .*codegen new"):
        read_pair(tmp_path)


def test_a_file_in_another_encoding_is_told(tmp_path):
    write_pair(tmp_path)
    (tmp_path / "derivatives.yaml").write_bytes("- name: \xfc\n".encode("latin-1"))
    with pytest.raises(CodegenError, match=r"derivatives.yaml:1:9: error\[E100\].*UTF-8"):
        read_pair(tmp_path)


def test_every_rule_states_itself():
    tables = (OPERATOR_RULES, DERIVATIVE_RULES, PROGRAM_RULES)
    rules = [(code, rule) for table in tables for code, rule in table.items()]
    assert len({code for code, _ in rules}) == len(rules)
    assert all(rule.__doc__ and re.fullmatch(r"E\d{3}", code) for code, rule in rules)


def test_every_rule_has_a_mistake():
    tables = (OPERATOR_RULES, DERIVATIVE_RULES, PROGRAM_RULES)
    codes = {code for table in tables for code in table}
    tested = {mistake.code for mistake in MISTAKES}
    assert sorted(codes - tested) == ["E324", "E505", "E506"]  # which need files, or a base


def test_adjoints_do_not_repeat_what_is_wrong_with_an_entry(tmp_path):
    """An operator and its adjoints of two orders stand at one place, and have one mistake."""
    entry = (
        "- func: doubled(Tensor x) -> Tensor\n"
        "  variants: function\n"
        "  dtypes: real_numeric\n"
        '  index: "out[i] = sqrt(x[i])"\n'
        '  samples: [{x: "randn(4)"}]\n'
        "  doc: Double.\n\n"
        "- func: mm("
    )
    derivative = "- name: doubled(Tensor x) -> Tensor\n  x: auto\n"
    functions = FUNCTIONS.replace("- func: mm(", entry, 1)
    error = errors_of(tmp_path, functions, f"{DERIVATIVES.rstrip()}\n\n{derivative}")
    assert [each.code for each in error.diagnostics] == ["E339"]
