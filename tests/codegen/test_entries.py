"""YAML entries become the model: keys, kinds, samples, derivatives, saved values, places."""

import json
import re
import time

import jsonschema
import pytest
import yaml
from small_program import DERIVATIVES, FORMULAS, FUNCTIONS, read_pair, write_pair

from codegen.emit import kernels as kernels_emitter
from codegen.emit import nodes as nodes_emitter
from codegen.errors import CodegenError, SourceLocation
from codegen.formula import python_function, simplify
from codegen.lower import lower
from codegen.model.derivative import GradientKind, TangentKind
from codegen.model.expression import Save, SavedValue
from codegen.model.operator import (
    Choices,
    Composite,
    Dispatch,
    Domain,
    FunctionReference,
    Pointwise,
    Promotion,
    Reduction,
    View,
)
from codegen.parse import json_schema, key_table
from codegen.parse.expressions import Scope, read_expression
from codegen.parse.functions import read_functions
from codegen.parse.keys import KINDS, OPERATOR_KEYS
from codegen.parse.report import Report
from codegen.parse.yaml_nodes import Mapping, Scalar, Source
from codegen.parse.yaml_reader import read_yaml


@pytest.fixture
def program(tmp_path):
    write_pair(tmp_path)
    return read_pair(tmp_path)


# Entries


def test_a_pointwise_entry(program):
    mul = program.operator("mul.Tensor")
    assert (mul.base_name, mul.overload, mul.identifier) == ("mul", "Tensor", "mul_Tensor")
    assert mul.variants == ("function", "method", "inplace", "out")
    assert mul.dunders == ("__mul__", "__rmul__", "__imul__")
    assert mul.inplace_dunders == ("__imul__",)
    assert mul.aliases == ("multiply",) and mul.public_aliases == (("torch", "multiply"),)
    assert mul.promotion == Promotion("default")
    assert isinstance(mul.kind, Pointwise) and mul.kind.formula.used == ("self", "other")
    assert mul.reference == "numpy.multiply"
    assert mul.samples.domains == (Domain("self", -3.0, 3.0),)
    assert mul.doc == "Multiply element by element.\n\nThe operands broadcast."
    assert str(mul.inplace_schema).startswith("mul_.Tensor(Tensor(a!) self")
    assert str(mul.out_schema).startswith("mul.out(")


def test_defaults_of_keys(program):
    transpose = program.operator("transpose.int")
    assert transpose.variants == ("function", "method")
    assert (transpose.python_module, transpose.dtypes) == ("torch", "all")
    assert transpose.promotion == Promotion("none")


def test_kinds(program):
    reduction = program.operator("sum.dim_IntList").kind
    assert isinstance(reduction, Reduction) and reduction.project is None
    assert reduction.identity is not None and reduction.identity.text == "0"
    view = program.operator("transpose.int").kind
    assert view == View(FunctionReference("", "transpose"))
    composite = program.operator("mse_loss").kind
    assert isinstance(composite, Composite) and composite.function is None
    assert [call.name for call in composite.body.calls] == ["sum", "mul"]
    dispatch = program.operator("mm").kind
    kernel = FunctionReference("linalg", "mm")
    assert dispatch == Dispatch((("CPU", kernel), ("CUDA", kernel)), kernel, False, True)
    assert program.operator("zero_").kind.aliasing == ("self",)
    assert program.operator("zero_").kind.memory_format == ("self",)


def test_samples(program):
    assert program.operator("softplus").samples.choices == (Choices("beta", ("1", "0.5")),)
    first, second = program.operator("transpose.int").samples.calls
    assert [(name, source.text) for name, source in first.arguments] == [
        ("self", "randn(2, 3)"),
        ("dim0", "0"),
        ("dim1", "-1"),
    ]
    assert first.raises is None and second.raises == "IndexError"


def test_functions_outside_the_tree(tmp_path):
    functions = FUNCTIONS.replace("{CPU: sorting.sort}", "{CPU: my_pkg.kernels:sort}")
    functions = functions.replace("(self - target).mul(self - target).sum()", "losses.mse_loss")
    write_pair(tmp_path, functions)
    program = read_pair(tmp_path)
    ((_, kernel),) = program.operator("sort").kind.backends
    assert kernel == FunctionReference("my_pkg.kernels", "sort", is_absolute=True)
    assert program.operator("mse_loss").kind.function == FunctionReference("losses", "mse_loss")


def test_a_package_outside_the_tree_calls_base_operators(tmp_path):
    write_pair(tmp_path)
    base = read_pair(tmp_path)
    functions = (
        "- func: twice(Tensor self) -> Tensor\n  composite: mul(self, 2)\n"
        "  samples: {self: [0, 1]}\n  doc: Double.\n"
    )
    write_pair(tmp_path, functions, "[]")
    assert [o.name for o in read_pair(tmp_path, base).overloads("mul")] == ["mul.Tensor"]
    with pytest.raises(CodegenError, match="unknown function 'mul'"):
        read_pair(tmp_path)
    write_pair(tmp_path, functions.replace("twice", "mm"), "[]")
    with pytest.raises(CodegenError, match=r"E505.*base package"):
        read_pair(tmp_path, base)


POINTWISE = """
- func: {name}(Tensor self{more}) -> Tensor
  pointwise: "{formula}"
  samples: {{self: [-2, 2]}}
  doc: D.
"""


def pointwise_entry(name, formula, more=""):
    return POINTWISE.format(name=name, formula=formula, more=more)


def write_entries(folder, functions):
    names = re.findall(r"func: (\w+)\((.*?)\)", functions)
    inputs = {name: ", ".join(re.findall(r"Tensor (\w+)", schema)) for name, schema in names}
    auto = "".join(f"- name: {name}\n  {tensors}: auto\n" for name, tensors in inputs.items())
    write_pair(folder, functions, auto)


def test_formulas_call_pointwise_operators(tmp_path):
    leaky = pointwise_entry(
        "leaky", "self * (slope if slope is not None else 0.5)", ", Scalar? slope=None"
    )
    scaled = pointwise_entry("scaled", "self * by + self", ", Scalar by=2")
    write_entries(tmp_path, leaky + scaled)
    base = read_pair(tmp_path)
    calls = {
        "leaky(self + 1) - leaky(self, self)": "(self + 1) * 0.5 - self * self",
        "scaled(scaled(self), self)": "(self * 2 + self) * self + (self * 2 + self)",
    }
    for number, (called, written) in enumerate(calls.items()):
        texts = []
        for formula in (called, written):
            write_entries(tmp_path, pointwise_entry(f"own{number}", formula))
            (operator,) = read_pair(tmp_path, base).operators
            texts.append(python_function(simplify(operator.kind.formula), "f").splitlines())
        assert texts[0][2:] == texts[1][2:]  # behind the formula as it was written
    indexed = (
        scaled
        + """
- func: own(Tensor self, Tensor w) -> Tensor
  dtypes: floating
  index: |
    out[i] = scaled(sum(j: self[i, j] * w[j]), 3)
  samples: [{self: "randn(2, 3)", w: "randn(3)"}]
  doc: D.
"""
    )
    write_entries(tmp_path, indexed)
    assert read_pair(tmp_path).operator("own").kind.program.statements


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("scalde(self)", r"E708.*unknown function 'scalde'\n.*did you mean 'scaled'"),
        ("later(self)", "E708.*unknown function 'later'"),
        ("scaled()", "E709.*'scaled' takes 1 to 2 arguments, got 0"),
        ("scaled(self, 1, 2)", "E709.*'scaled' takes 1 to 2 arguments, got 3"),
        ("wrong(self, 1)", "E707.*unknown name 'nowhere'"),
        ("unreadable(self)", "E202"),
    ],
)
def test_mistakes_in_calls_of_pointwise_operators(tmp_path, formula, said):
    before = pointwise_entry("scaled", "self * by", ", Scalar by=2")
    if "wrong" in formula:
        before += pointwise_entry("wrong", "nowhere * self")
    if "unreadable" in formula:
        before += pointwise_entry("unreadable", "self", ", Tenor x")
    after = pointwise_entry("later", "self + 1")
    write_entries(tmp_path, before + pointwise_entry("own", formula) + after)
    with pytest.raises(CodegenError) as caught:
        read_pair(tmp_path)
    text = str(caught.value)
    assert re.search(said, text, re.DOTALL) and text.count("error[") == 1


def test_one_line_says_how_several_inputs_of_a_short_formula_differentiate(tmp_path):
    entry = pointwise_entry("shorter", "self * other", ", Tensor other")
    write_entries(tmp_path, entry)
    nodes = "".join(file.text for file in nodes_emitter.emit(lower(read_pair(tmp_path))))
    assert "    self: grad * other.conj() (auto)\n    other: grad * self.conj() (auto)\n" in nodes


SCALED = """\
- func: scaled(Tensor x, Tensor row, str how) -> Tensor
  variants: function
  dtypes: floating
  index: |
    top[i] = max(j: x[i, j])
    out[i, j] = x[i, j] / top[i] if how == "max" else x[i, j] * row[j]
  faster: {%s: copy.scaled}
  samples: [{x: "randn(2, 3)", row: "randn(3)", how: max}]
  doc: Scale.

"""


@pytest.mark.parametrize(
    ("backend", "has_own", "has_devices"), [("CPU", False, True), ("CUDA", True, False)]
)
def test_a_kernel_written_by_hand_leaves_no_loops_of_its_backend(
    tmp_path, backend, has_own, has_devices
):
    functions = FUNCTIONS.replace("- func: mm(", SCALED % backend + "- func: mm(")
    derivatives = "- name: scaled\n  x, row: non_differentiable\n\n"
    write_pair(tmp_path, functions, derivatives + DERIVATIVES)
    text = next(
        file.text
        for file in kernels_emitter.emit(lower(read_pair(tmp_path)))
        if file.path.endswith("/scaled.py")
    )
    assert ("    launches=(" in text, "    on_device=(" in text) == (has_own, has_devices)
    functions = re.findall("^def (.*?)\\(", text, re.MULTILINE)
    assert any("_device_" in name for name in functions) == has_devices
    assert any(re.search("max_[0-9]", name) for name in functions) == has_own
    assert "def scaled_extents(" in text


# YAML


@pytest.mark.parametrize("text", ["on", "no", "1e-3", "012", "0x10", "~", "1_000", "2020-01-01"])
def test_scalars_are_the_text_that_was_written(text):
    report = Report()
    (node,) = read_yaml(Source("f.yaml", f"- key: {text}\n"), report) or ()
    assert isinstance(node, Mapping)
    value = node.values["key"]
    assert isinstance(value, Scalar) and value.text == text and not report.diagnostics


@pytest.mark.parametrize(
    ("yaml", "word", "place"),
    [
        ("- k: a + bad", "bad", (1, 10)),
        ("- k: 'it''s bad'", "bad", (1, 13)),
        ('- k: "\\tx \\u00e9 bad"', "bad", (1, 18)),
        ("- k: a +\n    bad", "bad", (2, 5)),
        ("- k: |\n    a +\n    b * bad\n", "bad", (3, 9)),
        ("- k: |  # why\n    t = a\n\n    t * bad\n", "bad", (4, 9)),
        ("- k: >\n    a +\n    bad\n", "bad", (3, 5)),
        ('- k: "a +\n    bad"', "bad", (2, 5)),
        ('- k: "a + \\\n    bad"', "bad", (2, 5)),
        ("- {k: a + bad}", "bad", (1, 11)),
        ("- é: ü + bad", "bad", (1, 10)),
    ],
)
def test_places_inside_scalars(yaml, word, place):
    (node,) = read_yaml(Source("f.yaml", yaml), Report()) or ()
    assert isinstance(node, Mapping)
    (value,) = node.values.values()
    assert isinstance(value, Scalar)
    where = value.where.at(value.text.index(word))
    assert (where.line, where.column) == place


def test_a_location_without_text_counts_columns():
    assert SourceLocation("f", 2, 3).at(4) == SourceLocation("f", 2, 7)


# Derivatives


def saved(derivative, name):
    return [(s.name, s.what) for s in derivative.gradient(name).saved]


def test_gradients(program):
    mul = program.derivative(program.operator("mul.Tensor"))
    assert mul.node == "MulBackward0" and mul.inputs == ("self", "other")
    assert saved(mul, "self") == [("other", Save.TENSOR)]
    assert mul.saved == (SavedValue("other", Save.TENSOR), SavedValue("self", Save.TENSOR))
    softplus = program.derivative(program.operator("softplus"))
    assert softplus.is_auto and softplus.tangents[0].kind is TangentKind.AUTO_ELEMENT_WISE
    mm = program.derivative(program.operator("mm"))
    assert mm.gradients[0].inputs == ("self", "mat2")
    assert mm.gradients[0].expression.functions == ("mm_backward",)
    assert mm.gradients[0].expression.uses("grad_input_mask")
    sort = program.derivative(program.operator("sort"))
    assert sort.output_differentiability == (True, False)
    indices = SavedValue("indices", Save.TENSOR, is_result=True, result_index=1)
    assert sort.gradients[0].saved == (SavedValue("self", Save.SIZES), indices)
    zero = program.derivative(program.operator("zero_"))
    assert zero.gradients[0].kind is GradientKind.NON_DIFFERENTIABLE and not zero.is_differentiable


def test_a_shape_is_saved_instead_of_the_tensor(program):
    total = program.derivative(program.operator("sum.dim_IntList"))
    assert total.gradients[0].expression.code == "sum_backward(grad, self_sizes, dim, keepdim)"
    assert saved(total, "self") == [
        ("self", Save.SIZES),
        ("dim", Save.VALUE),
        ("keepdim", Save.VALUE),
    ]


def test_a_base_name_is_enough_if_it_is_unambiguous(tmp_path):
    write_pair(tmp_path, derivatives=DERIVATIVES.replace("- name: mul.Tensor", "- name: mul"))
    assert read_pair(tmp_path).derivatives[0].operator == "mul.Tensor"


SCOPE = Scope(
    {
        "self": SavedValue("self", Save.TENSOR),
        "other": SavedValue("other", Save.TENSOR),
        "tensors": SavedValue("tensors", Save.TENSORS),
        "dim": SavedValue("dim", Save.VALUE),
        "result": SavedValue("result", Save.TENSOR, is_result=True),
    },
    ("named",),
)


@pytest.mark.parametrize(
    ("text", "code", "names"),
    [
        ("grad * other.conj()", "grad * other.conj()", ["other"]),
        ("grad.expand(self.sizes())", "grad.expand(self_sizes)", ["self_sizes"]),
        ("grad.expand(self.shape) * self", "grad.expand(self.shape) * self", ["self"]),
        ("f(self.sizes(), self)", "f(self.shape, self)", ["self"]),
        ("grad / self.size(dim)", "grad / self_sizes[dim]", ["self_sizes", "dim"]),
        ("self.size(self.dim() - 1)", "self_sizes[self_ndim - 1]", ["self_ndim", "self_sizes"]),
        ("self.sym_size(0) + self", "self.size(0) + self", ["self"]),
        ("grad / self.numel()", "grad / self_numel", ["self_numel"]),
        ("grad.to(self.dtype)", "grad.to(self_dtype)", ["self_dtype"]),
        ("self.scalar_type()", "self_dtype", ["self_dtype"]),
        (
            "1 if self.is_complex() else 2",
            "1 if self_dtype.is_complex else 2",
            ["self_dtype"],
        ),
        ("f(self.stride(), self.storage_offset())", "f(self_strides, self_storage_offset)",
         ["self_strides", "self_storage_offset"]),
        ("f([t.shape for t in tensors])", "f(tensors_sizes)", ["tensors_sizes"]),
        ("f([t + 1 for t in tensors])", "f([t + 1 for t in tensors])", ["tensors"]),
        ("grad.sizes()", "grad.shape", []),
        ("f(grad).sizes()[0]", "f(grad).shape[0]", []),
        ("grad * result", "grad * result", ["result"]),
        ("f(\n  self.sizes())", "f(\n  self_sizes)", ["self_sizes"]),
        ("'é' + self.sizes()", "'é' + self_sizes", ["self_sizes"]),
    ],
)  # fmt: skip
def test_saved_values(text, code, names):
    expression = read_expression(text, SourceLocation("f", 1, 1), SCOPE)
    assert expression.code == code
    assert [value.local for value in expression.saved] == names


def test_what_an_expression_uses():
    text = "named(grads[1], dim) + op(grads, key=[t for t in tensors]) + self.T"
    expression = read_expression(text, SourceLocation("f", 1, 1), SCOPE)
    assert expression.functions == ("named",) and expression.operators == ("op",)
    assert expression.gradients == (1,) and expression.uses_grads
    named, op = expression.calls
    assert (named.positional, op.positional, op.keywords) == (2, 1, ("key",))
    assert [use.name for use in expression.attributes] == ["T"]
    assert all(text[use.offset :].startswith(use.name) for use in expression.names)


def test_functions_are_read_not_imported(tmp_path):
    path = tmp_path / "formulas.py"
    path.write_text(FORMULAS + "\n\nraise SystemExit\n", encoding="utf-8")
    functions = read_functions(path)
    assert list(functions) == ["sum_backward", "mm_backward"]
    mm = functions["mm_backward"]
    assert mm.accepts(4, ()) and mm.accepts(4, ("transpose",)) and mm.accepts(3, ("mask",))
    assert not mm.accepts(3, ()) and not mm.accepts(5, ()) and not mm.accepts(4, ("mask",))
    assert not mm.accepts(4, ("other",))


def test_one_name_is_both_kernels_and_the_shape_function(tmp_path):
    long = "dispatch:\n    CPU, CUDA: a.b.zero_\n  meta: a.zero_\n"
    kinds = []
    for text in (long, "dispatch: a.b.zero_\n"):
        old = "dispatch: {CPU: fill.zero_}\n  meta: fill.zero_\n"
        assert old in FUNCTIONS
        write_pair(tmp_path, FUNCTIONS.replace(old, text))
        kinds.append(read_pair(tmp_path).operator("zero_").kind)
    assert kinds[0] == kinds[1]
    assert [str(reference) for _, reference in kinds[0].backends] == ["a.b.zero_"] * 2


# Editors


def test_the_json_schemas_are_the_key_tables():
    """After a change of the tables: python -m codegen.parse.json_schema."""
    for name, text in json_schema.files().items():
        assert (json_schema.FOLDER / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", key_table.FILES)
def test_files_begin_with_the_key_tables(name):
    """After a change of the tables: python -m codegen.parse.json_schema."""
    text = key_table.path_of(name).read_text(encoding="utf-8")
    assert text.startswith(key_table.head(name) + "\n")
    assert key_table.replaced(text, name) == text


def test_the_json_schema_says_what_the_parser_says():
    entry = json.loads(json_schema.files()["native_functions.schema.json"])["items"]
    assert list(entry["properties"]) == [key.name for key in OPERATOR_KEYS]
    assert entry["required"] == ["func"] and entry["additionalProperties"] is False
    assert [kind["required"] for kind in entry["oneOf"]] == [[kind] for kind in KINDS]


def test_the_json_schema_accepts_good_files_and_refuses_bad_ones():
    files = {name.split(".")[0]: json.loads(text) for name, text in json_schema.files().items()}
    jsonschema.validate(yaml.safe_load(FUNCTIONS), files["native_functions"])
    jsonschema.validate(yaml.safe_load(DERIVATIVES), files["derivatives"])
    for old, new in [
        ("  view:", "  veiw:"),
        ("dtypes: all", "dtypes: al"),
        ("method, in", "m, in"),
    ]:
        with pytest.raises(jsonschema.ValidationError):
            bad = yaml.safe_load(FUNCTIONS.replace(old, new, 1))
            jsonschema.validate(bad, files["native_functions"])


# Speed


def test_six_hundred_operators_are_read_in_time(tmp_path):
    """The budget of a whole regeneration is 0.5 s, of this process: others may use the machine."""
    functions = FUNCTIONS.replace("  operators: __mul__, __rmul__, __imul__\n", "")
    functions = functions.replace("  aliases: multiply\n", "").replace(").mul(", ").n0_mul(")
    functions = functions.replace(".sum()", ".n0_sum()").replace("_of: sort", "_of: n0_sort")
    derivatives = DERIVATIVES.replace("grad.transpose(", "grad.n0_transpose(")
    derivatives = derivatives.replace("self_t.mul(", "self_t.n0_mul(")
    copies = range(60)
    write_pair(
        tmp_path,
        "\n".join(functions.replace("- func: ", f"- func: n{i}_") for i in copies),
        "\n".join(derivatives.replace("- name: ", f"- name: n{i}_") for i in copies),
    )
    assert min(_seconds(tmp_path) for _ in range(3)) < 0.5


def _seconds(folder) -> float:
    start = time.process_time()
    assert len(read_pair(folder).operators) == 600
    return time.process_time() - start
