"""The table of typical mistakes: a change of the good pair of files, and what must be said.

`‸` in the new text stands before the character under which the caret must appear.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """Replace `old` by `new` (both unique places); expect `code` and `word` in the message."""

    name: str
    old: str
    new: str
    code: str
    word: str
    file: str = "native_functions.yaml"


def wrong(name: str, old: str, new: str, code: str, word: str) -> Mistake:
    """Describe a mistake in native_functions.yaml."""
    return Mistake(name, old, new, code, word)


def wrong_derivative(name: str, old: str, new: str, code: str, word: str) -> Mistake:
    """Describe a mistake in derivatives.yaml."""
    return Mistake(name, old, new, code, word, "derivatives.yaml")


MUL = "mul.Tensor(Tensor self, Tensor|Scalar other) -> Tensor"
SOFTPLUS = "softplus(Tensor self, Scalar beta=1, Scalar threshold=20)"
TRANSPOSE = "- func: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"

MISTAKES = [
    # YAML
    wrong(
        "unclosed quote",
        "  reference: numpy.multiply",
        '  reference: ‸"numpy.multiply',
        "E101",
        "YAML",
    ),
    wrong(
        "colon in plain text",
        "  doc: Sum along dim.",
        "  doc: Sum along dim‸: and more.",
        "E101",
        "mapping values",
    ),
    wrong("tab", "  dtypes: all\n", "‸\tdtypes: all\n", "E102", "tab"),
    wrong("duplicate key", "  dtypes: all\n", "  dtypes: all\n  ‸dtypes: real\n", "E103", "twice"),
    wrong("anchor", "  dtypes: all\n", "  dtypes: ‸&set all\n", "E104", "anchors"),
    wrong("tag", "    identity: 0\n", "    identity: ‸!!int 0\n", "E104", "tags"),
    wrong("list for text", "  doc: Sum along dim.", "  doc: ‸[Sum, along]", "E106", "text"),
    wrong("mapping for text", f"func: {MUL}", "func: ‸{mul: Tensor}", "E106", "mapping"),
    wrong("empty value", "  doc: Sum along dim.", "  doc:‸", "E106", "nothing"),
    wrong("unknown key", "  dtypes: all\n", "  ‸dtype: all\n", "E107", "unknown key 'dtype'"),
    wrong(
        "missing func",
        "- func: zero_(Tensor(a!) self) -> Tensor(a!)\n  variants",
        "- ‸variants",
        "E108",
        "func",
    ),
    wrong("no kind", "  view: transpose\n", "", "E109", "how it runs"),
    wrong(
        "two kinds",
        "  view: transpose\n",
        "  view: transpose\n  ‸composite: self\n",
        "E109",
        "two kinds",
    ),
    wrong(
        "key order",
        "  dtypes: all\n  promotion: default\n",
        "  promotion: default\n  ‸dtypes: all\n",
        "E110",
        "before 'promotion'",
    ),
    wrong(
        "meta of a view",
        "  view: transpose\n",
        "  view: transpose\n  ‸meta: dynamic\n",
        "E111",
        "dispatch",
    ),
    # Schemas
    wrong(
        "missing arrow", MUL, "mul.Tensor(Tensor self, Tensor|Scalar other) ‸Tensor", "E201", "'->'"
    ),
    wrong(
        "unclosed schema",
        MUL,
        "mul.Tensor(Tensor self, Tensor|Scalar other ‸-> Tensor",
        "E201",
        "')'",
    ),
    wrong(
        "argument without name",
        MUL,
        "mul.Tensor(Tensor‸, Tensor|Scalar other) -> Tensor",
        "E201",
        "name",
    ),
    wrong(
        "nothing after star",
        MUL,
        "mul.Tensor(Tensor self, Tensor|Scalar other, ‸*) -> Tensor",
        "E201",
        "'*'",
    ),
    wrong(
        "unknown type", MUL, "mul.Tensor(Tensor self, ‸Tenosr other) -> Tensor", "E202", "Tenosr"
    ),
    wrong(
        "positional out",
        "mm(Tensor self, Tensor mat2)",
        "mm(Tensor self, Tensor mat2, ‸Tensor(a!) out)",
        "E203",
        "keyword-only",
    ),
    wrong(
        "argument twice",
        "mm(Tensor self, Tensor mat2)",
        "mm(Tensor self, Tensor mat2, ‸int mat2=1)",
        "E204",
        "twice",
    ),
    wrong(
        "default first",
        SOFTPLUS,
        "softplus(Tensor self, Scalar beta=1, ‸Scalar threshold)",
        "E205",
        "default",
    ),
    wrong(
        "default of wrong type",
        SOFTPLUS,
        "softplus(Tensor self, ‸Scalar beta='one', Scalar threshold=20)",
        "E206",
        "the default 'one' of 'beta' is no value of its type Scalar",
    ),
    *(
        wrong(
            f"default {default} of {type_}",
            SOFTPLUS,
            f"softplus(Tensor self, ‸{type_} beta={default}, Scalar threshold=20)",
            "E206",
            f"the default {default} of 'beta'",
        )
        for type_, default in (
            ("int", "1.5"),
            ("bool", "1"),
            ("bool", "true"),
            ("str", "mean"),
            ("int[2]", "[1,2,3]"),
            ("Tensor", "0"),
            ("ScalarType?", "float31"),
        )
    ),
    wrong(
        "None for a type without ?",
        SOFTPLUS,
        "softplus(Tensor self, ‸Scalar beta=None, Scalar threshold=20)",
        "E206",
        "None",
    ),
    wrong(
        "in-place entry without mark",
        "zero_(Tensor(a!) self)",
        "zero_(‸Tensor self)",
        "E207",
        "Tensor(a!)",
    ),
    wrong(
        "view without alias",
        "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
        "transpose.int(‸Tensor self, int dim0, int dim1) -> Tensor",
        "E208",
        "alias",
    ),
    wrong(
        "reserved name",
        SOFTPLUS,
        "softplus(Tensor self, Scalar beta=1, ‸Scalar lambda=20)",
        "E209",
        "reserved",
    ),
    wrong(
        "result of no argument",
        TRANSPOSE,
        "- func: ‸transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(b)",
        "E211",
        "'b'",
    ),
    wrong(
        "written out variant",
        "mm(Tensor self, Tensor mat2)",
        "mm(Tensor self, Tensor mat2, *, ‸Tensor(a!) out)",
        "E212",
        "derived",
    ),
    # Words
    wrong(
        "unknown variant",
        "function, method, inplace, out",
        "function, ‸methd, inplace, out",
        "E301",
        "methd",
    ),
    wrong(
        "unknown module",
        "  python_module: nn.functional\n  dtypes",
        "  python_module: ‸nn.functionl\n  dtypes",
        "E302",
        "functionl",
    ),
    wrong("unknown dunder", "__rmul__", "‸__rmull__", "E303", "__rmull__"),
    wrong(
        "unknown dtype set",
        "dtypes: floating_and_complex",
        "dtypes: ‸floating_complex",
        "E304",
        "floating_complex",
    ),
    wrong(
        "unknown promotion",
        "promotion: bool_to_long",
        "promotion: ‸bool_to_int",
        "E305",
        "bool_to_int",
    ),
    wrong("promotion of no argument", "same(self, mat2)", "same(self, ‸mat3)", "E305", "mat3"),
    wrong("broken promotion", "same(self, mat2)", "‸same(self, mat2", "E305", "promotion"),
    wrong("unknown tag", "tags: nondeterministic", "tags: ‸random", "E306", "random"),
    wrong("unknown backend", "CUDA: linalg.mm", "‸GPU: linalg.mm", "E307", "GPU"),
    wrong("alias of two words", "aliases: multiply", "aliases: ‸multiply times", "E308", "no name"),
    # Kinds
    wrong(
        "kernel that is no name",
        "{CPU: sorting.sort}",
        "{CPU: ‸sorting/sort}",
        "E310",
        "sorting/sort",
    ),
    wrong("no meta", "  meta: sorting.sort\n", "", "E311", "meta"),
    wrong("unknown half", "half: raw", "half: ‸float", "E312", "raw"),
    wrong("aliasing of no argument", "aliasing: self", "aliasing: ‸other", "E313", "other"),
    wrong("method without self", "mm(Tensor self,", "mm(Tensor input,", "E314", "'self'"),
    wrong(
        "in place of two results",
        "  variants: function, method, out\n  dispatch: {CPU: sort",
        "  variants: function, method, ‸inplace, out\n  dispatch: {CPU: sort",
        "E316",
        "one result",
    ),
    wrong(
        "argument unused",
        SOFTPLUS,
        "softplus(Tensor self, Scalar beta=1, Scalar threshold=20, ‸bool exact=False)",
        "E318",
        "exact",
    ),
    wrong(
        "bits of a float",
        "pointwise: self * other",
        "pointwise: ‸self ^ other",
        "E325",
        "integers",
    ),
    wrong(
        "refusal of what is accepted",
        "  dtypes: all\n",
        "  dtypes: all\n  ‸refusal: No dtype is left.\n",
        "E326",
        "every dtype",
    ),
    wrong(
        "refusal of a kernel",
        "  dtypes: floating_and_complex\n",
        "  dtypes: floating_and_complex\n  ‸refusal: Matrices of integers are not multiplied.\n",
        "E326",
        "pointwise operators and reductions",
    ),
    wrong(
        "range of a tensor",
        "  pointwise: self * other",
        "  ‸in_range: self\n  pointwise: self * other",
        "E327",
        "takes no number",
    ),
    wrong(
        "numbers of a kernel",
        "  dtypes: floating_and_complex\n",
        "  dtypes: floating_and_complex\n  ‸natural: {mat2: Not below 0.}\n",
        "E327",
        "pointwise operators",
    ),
    wrong(
        "results of a family with different names",
        "- func: mm(",
        "- func: two.a(Tensor self) -> (Tensor x, Tensor y)\n"
        "  composite: self.unbind(0)\n"
        "  doc: Two.\n\n"
        "- func: ‸two.b(Tensor self, int n) -> (Tensor x, Tensor z)\n"
        "  composite: self.unbind(n)\n"
        "  doc: Two.\n\n"
        "- func: mm(",
        "E508",
        "results are named x, z",
    ),
    wrong("reduction without combine", "    combine: acc + other\n", "", "E108", "combine"),
    wrong("reduction that reads nothing", "reduce: acc + self", "reduce: ‸acc + 1", "E321", "self"),
    wrong(
        "view in place",
        "int dim1) -> Tensor(a)\n  view",
        "int dim1) -> Tensor(a)\n  variants: method, ‸inplace\n  view",
        "E323",
        "inplace",
    ),
    wrong(
        "out of a flag",
        "mse_loss(Tensor self, Tensor target) -> Tensor\n  variants: function",
        "mse_loss(Tensor self, Tensor target) -> bool\n  variants: function, ‸out",
        "E315",
        "tensors",
    ),
    wrong(
        "pointwise of two results",
        "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
        "‸softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> (Tensor, Tensor)",
        "E319",
        "one Tensor",
    ),
    # Formulas
    wrong(
        "name in a formula",
        "pointwise: self * other",
        "pointwise: self * ‸othr",
        "E707",
        "othr",
    ),
    wrong(
        "function in a block",
        "log1p(exp(t)) / beta",
        "log1p(‸expp(t)) / beta",
        "E708",
        "expp",
    ),
    wrong(
        "arity in a block",
        "log1p(exp(t)) / beta",
        "log1p(‸exp(t, 1)) / beta",
        "E709",
        "exp",
    ),
    # Composites
    wrong(
        "name in a body",
        "(self - target).mul(self - target)",
        "(self - target).mul(self - ‸targt)",
        "E424",
        "targt",
    ),
    wrong(
        "function in a body",
        "(self - target).mul(self - target)",
        "‸mull(self - target, self - target)",
        "E425",
        "mull",
    ),
    wrong(
        "method in a body",
        "(self - target).mul(self - target)",
        "(self - target).‸mull(self - target)",
        "E426",
        "mull",
    ),
    wrong(
        "arity in a body",
        "(self - target).mul(self - target)",
        "(self - target).‸mul(self, target)",
        "E427",
        "mul",
    ),
    wrong(
        "bracket in a body",
        "(self - target).mul(self - target)",
        "(self - target).mul‸(self - target",
        "E401",
        "never closed",
    ),
    # Families
    wrong(
        "operator twice",
        "- func: mm(Tensor self, Tensor mat2)",
        f"- func: {MUL}\n  pointwise: self * other\n  samples: {{self: [0, 1]}}\n"
        "  doc: Again.\n\n- func: mm(Tensor self, Tensor mat2)",
        "E501",
        "defined twice",
    ),
    wrong(
        "hidden overload",
        "- func: mm(Tensor self, Tensor mat2)",
        "- func: ‸mul.Scalar(Tensor self, Scalar other) -> Tensor\n  pointwise: self * other\n"
        "  samples: {self: [0, 1]}\n  doc: Again.\n\n- func: mm(Tensor self, Tensor mat2)",
        "E502",
        "never reached",
    ),
    wrong("alias taken", "aliases: multiply", "aliases: ‸mm", "E503", "taken"),
    wrong(
        "dunder taken",
        "  dtypes: floating_and_complex\n",
        "  operators: ‸__mul__\n  dtypes: floating_and_complex\n",
        "E507",
        "taken",
    ),
    wrong(
        "one identifier",
        "- func: zero_(Tensor(a!) self)",
        "- func: ‸sum_dim.IntList(Tensor self) -> Tensor\n  composite: self\n"
        "  samples: {self: [0, 1]}\n  doc: Nothing.\n\n- func: zero_(Tensor(a!) self)",
        "E504",
        "one name",
    ),
    # Samples and documentation
    wrong("no samples", '  samples:\n    - {self: "randn(3)"}\n', "", "E601", "no samples"),
    wrong("sample of no argument", "beta: [1, 0.5]", "‸betta: [1, 0.5]", "E602", "betta"),
    wrong(
        "argument of no sample",
        '- {self: "randn(2, 3)", dim0: 0, dim1: -1}',
        '- ‸{self: "randn(2, 3)", dim0: 0}',
        "E603",
        "dim1",
    ),
    wrong(
        "domain upside down",
        "samples: {self: [-3, 3], beta",
        "samples: {self: ‸[3, -3], beta",
        "E604",
        "domain",
    ),
    wrong("unknown constructor", '"distinct(3, 4)"}', '"‸distnct(3, 4)"}', "E605", "distnct"),
    wrong("sample that is no Python", '"distinct(3, 4)"}', '"‸distinct(3 4)"}', "E605", "Python"),
    wrong("unknown exception", "raises: IndexError", "raises: ‸IndxError", "E606", "IndxError"),
    wrong("no doc", "  doc: Sum along dim.\n", "", "E607", "no doc"),
    # Derivatives
    wrong(
        "argument called grad",
        "mm(Tensor self, Tensor mat2)",
        "mm(Tensor self, ‸Tensor grad)",
        "E417",
        "hides",
    ),
    wrong_derivative(
        "bracket",
        "grad.transpose(dim0, dim1)",
        "grad.transpose‸(dim0, dim1",
        "E401",
        "never closed",
    ),
    wrong_derivative(
        "bracket too many",
        "grad.transpose(dim0, dim1)",
        "grad.transpose(dim0, dim1)‸)",
        "E401",
        "no opening",
    ),
    *(
        wrong_derivative(
            f"no formula: {what}", "self: grad * other", f"self: {text}", "E412", f"contain {what}"
        )
        for what, text in (
            ("a lambda", "grad * (‸lambda x:x)(other)"),
            ("a generator", "grad * sum‸(x for x in other)"),
            ("a set comprehension", "grad * other + ‸{x for x in other}"),
            ("a dictionary comprehension", "grad * other + ‸{x:x for x in other}"),
            ("an assignment", "grad * (‸y := other)"),
            ("await", "grad * (‸await other)"),
            ("yield", "grad * (‸yield other)"),
            ("an argument with `*`", "grad.mul(‸*other)"),
            ("an argument with `**`", "grad.mul(other, ‸**other)"),
            ("an f-string", "grad.mul(other, ‸f'{other}')"),
            ("a dictionary", "grad.mul(other, [‸{}])"),
        )
    ),
    wrong_derivative("no Python", "self: grad * other", "self: grad * other if‸", "E402", "Python"),
    wrong_derivative("unknown operator", "- name: mm\n", "- name: ‸mmm\n", "E403", "mmm"),
    wrong_derivative(
        "unknown overload", "- name: mul.Tensor", "- name: ‸mul.Tensors", "E403", "mul.Tensors"
    ),
    wrong_derivative(
        "unknown argument", "  other: grad * self", "  ‸othr: grad * self", "E404", "othr"
    ),
    wrong_derivative(
        "two entries",
        "- name: zero_\n",
        "- name: softplus\n  self: auto\n\n- name: zero_\n",
        "E405",
        "two derivative entries",
    ),
    wrong_derivative("argument forgotten", "  other: grad * self\n", "", "E406", "'other'"),
    wrong_derivative(
        "auto of a view", "self: grad.transpose(dim0, dim1)", "self: ‸auto", "E407", "auto"
    ),
    wrong_derivative("flags", "[True, False]", "‸[True]", "E408", "2 results"),
    wrong_derivative(
        "missing gradients",
        "[True, False]",
        "[True, False]\n  missing_gradients: ‸zeros",
        "E430",
        "none",
    ),
    wrong_derivative(
        "argument in two keys",
        "  other: grad * self",
        "  other: grad * self\n  ‸other, self: grad",
        "E409",
        "twice",
    ),
    wrong_derivative(
        "gradient of an int",
        "  self: grad.transpose(dim0, dim1)",
        "  self: grad.transpose(dim0, dim1)\n  ‸dim0: grad",
        "E410",
        "int",
    ),
    wrong_derivative(
        "other schema", "int dim0, int dim1)", "int dim0, ‸int dim2)", "E411", "differs"
    ),
    wrong_derivative(
        "gradient of no result",
        "  self: grad * other",
        "  self: ‸grads[1] * other",
        "E413",
        "grads[1]",
    ),
    wrong_derivative(
        "no derivative",
        "- name: mm\n  self, mat2: mm_backward(grad, self, mat2, grad_input_mask)\n",
        "",
        "E416",
        "mm has no derivative",
    ),
    wrong_derivative("unknown name", "self: grad * other", "self: grad * ‸othr", "E420", "othr"),
    wrong_derivative(
        "unknown function",
        "sum_backward(grad, self.sizes()",
        "‸sum_backwards(grad, self.sizes()",
        "E421",
        "sum_backwards",
    ),
    wrong_derivative("unknown method", "grad.transpose(", "grad.‸transpos(", "E422", "transpos"),
    wrong_derivative(
        "unknown attribute", "self.shape, indices", "self.‸shap, indices", "E422", "shap"
    ),
    wrong_derivative(
        "arity", "self.sizes(), dim, keepdim)", "self.sizes(), dim)", "E423", "sum_backward"
    ),
    wrong_derivative(
        "unknown keyword",
        "mat2, grad_input_mask)",
        "mat2, grad_input_mask, trans=1)",
        "E423",
        "trans",
    ),
    wrong_derivative("forward mode", "self_t.mul(indices)", "‸slf_t.mul(indices)", "E420", "slf_t"),
    wrong_derivative("unknown flags", "[True, False]", "‸[yes, no]", "E106", "True and False"),
    wrong_derivative("no name", "- name: zero_\n  self", "- ‸self", "E108", "name"),
]
