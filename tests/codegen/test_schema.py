"""The schema grammar: what parses, what it means, how it prints, where mistakes are."""

import pytest

from codegen.errors import CodegenError, SourceLocation
from codegen.model.schema import Alias, ListOf, Optional, Symbol, Type
from codegen.model.variants import inplace_schema, out_schema
from codegen.parse.schema import parse_schema

ROUND_TRIPS = [
    "f() -> ()",
    "f(Tensor self) -> Tensor",
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "f(Tensor|Scalar other, Tensor|Scalar? min=None) -> Tensor",
    "f(Tensor?[] indices, Tensor(a!)[] out, int[1]? dim=None) -> Tensor(a!)[]",
    "f(Tensor(a -> *) self, Tensor(b|c) x, Tensor(d! -> d|e) y) -> (Tensor(a), Tensor(a)[])",
    "f(str a=\"\\\"'\\\\\", str b='\"\\'\\\\') -> Tensor",
    "f(float p=inf, float q=-inf, float e=1e-05, int[2] d=[-2,-1], int[] l=[]) -> Tensor",
    "f(*, ScalarType dtype=long, MemoryFormat? memory_format=contiguous_format) -> Tensor",
    "f(__torch__.torch.classes.rnn.CellParamsBase params, Stream s, Storage t) -> bool",
    "f(DeviceIndex i, Dimname[1] names, ConstQuantizerPackedParamsBase q) -> (Tensor values, int)",
    "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    "f(Tensor self) -> Tensor values",
]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_round_trip(text):
    assert str(parse_schema(text)) == text


def test_space_does_not_matter():
    text = " mul . Tensor ( Tensor  self ,\n  Tensor | Scalar ? other = None )  ->Tensor ( a ! ) "
    assert str(parse_schema(text)) == (
        "mul.Tensor(Tensor self, Tensor|Scalar? other=None) -> Tensor(a!)"
    )


def test_types():
    schema = parse_schema("f(Tensor?[] a, int[2]? b, Tensor|Scalar c, Tensor(a!) d) -> Tensor")
    a, b, c, d = (argument.type for argument in schema.arguments)
    assert a == Type(("Tensor",), None, (Optional(), ListOf()))
    assert a.is_list and a.is_tensor_list and not a.is_optional and a.element.is_optional
    assert b.is_list and b.is_optional and b.list_size == 2 and str(b.element) == "int"
    assert c.is_union and c.is_tensor and c.base == "Tensor"
    assert d.alias == Alias(("a",), is_write=True) and d.is_written


def test_defaults():
    schema = parse_schema(
        "f(int a=3, float b=1e-3, bool c=True, str d='x', int[] e=[1, 2], int? g=None, int h=Mean)"
        " -> Tensor"
    )
    values = [a.default.value for a in schema.arguments if a.default]
    assert values == [3, 0.001, True, "x", (1, 2), None, Symbol("Mean")]
    assert [type(value) for value in values[:3]] == [int, float, bool]
    assert str(schema.arguments[4]) == "int[] e=[1,2]"


def test_positional_and_keyword_only():
    schema = parse_schema("f(Tensor self, *, int dim, Tensor(a!) out) -> Tensor(a!)")
    assert [a.name for a in schema.positional] == ["self"]
    assert [a.name for a in schema.keyword_only] == ["dim", "out"]
    assert [a.name for a in schema.out_arguments] == ["out"]
    assert schema.argument("dim") is schema.arguments[1] and schema.argument("x") is None


def test_equality_is_of_meaning_not_of_place():
    text = "f(Tensor self) -> Tensor"
    here = parse_schema(text, SourceLocation("a", 1, 1))
    assert here == parse_schema(text, SourceLocation("b", 7, 9))
    assert here.arguments[0].where == SourceLocation("a", 1, 3)


@pytest.mark.parametrize(
    ("text", "code", "column", "word"),
    [
        ("", "E201", 1, "operator name"),
        ("f", "E201", 2, "'('"),
        ("f(Tensor) -> Tensor", "E201", 9, "argument name"),
        ("f(Tensor self", "E201", 14, "the end"),
        ("f(Tensor self) Tensor", "E201", 16, "'->'"),
        ("f(Tensor self) -> Tensor, Tensor", "E201", 25, "after the schema"),
        ("f(Tensor self,) -> Tensor", "E201", 15, "a type"),
        ("f(Tensor self, *) -> Tensor", "E201", 16, "follows '*'"),
        ("f(*, int a, *, int b) -> Tensor", "E201", 13, "twice"),
        ("f(int[x] a) -> Tensor", "E201", 7, "size"),
        ("f(int a=) -> Tensor", "E201", 9, "default"),
        ("f(int[] a=[1 2]) -> Tensor", "E201", 14, "','"),
        ("f(Tensor(!) a) -> Tensor", "E201", 10, "alias set"),
        ("f(Tensor self; int b) -> Tensor", "E201", 14, "';'"),
        ("f(Tensr self) -> Tensor", "E202", 3, "Tensr"),
        ("f(int a) -> Tensr", "E202", 13, "Tensr"),
    ],
)
def test_mistakes_have_their_place(text, code, column, word):
    with pytest.raises(CodegenError) as caught:
        parse_schema(text, SourceLocation("f.yaml", 3, 1))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.where.line, diagnostic.where.column) == (code, 3, column)
    assert word in diagnostic.message


@pytest.mark.parametrize(
    ("wrong", "right"), [("dtype", "ScalarType"), ("string", "str"), ("tensor", "Tensor")]
)
def test_types_by_other_names(wrong, right):
    with pytest.raises(CodegenError, match=f"did you mean '{right}'"):
        parse_schema(f"f({wrong} a) -> Tensor")


@pytest.mark.parametrize(
    ("text", "inplace", "out"),
    [
        (
            "mul.Tensor(Tensor self, Tensor other) -> Tensor",
            "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
            "mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "sum.dim(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
            "sum_.dim(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)",
            "sum.dim_out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out)"
            " -> Tensor(a!)",
        ),
    ],
)
def test_derived_variants(text, inplace, out):
    schema = parse_schema(text)
    assert str(inplace_schema(schema)) == inplace
    assert str(out_schema(schema)) == out


def test_derived_out_of_several_results():
    schema = parse_schema("sort(Tensor self) -> (Tensor values, Tensor indices)")
    assert str(out_schema(schema)) == (
        "sort.out(Tensor self, *, Tensor(a!) values, Tensor(b!) indices)"
        " -> (Tensor(a!) values, Tensor(b!) indices)"
    )
