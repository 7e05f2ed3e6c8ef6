"""Mistakes in how an operator runs: kinds, formulas, bodies, families, samples."""

from mistake import MUL, SOFTPLUS, wrong

GUMBEL, GUMBEL_LOC = "draw: loc - log(-log(positive))", "float loc=0"
FLOATING = "dtypes: floating\n  draw"
MSORT = "case_of: sort(self, dim=0, descending=not ascending)"
MSORT_RESULTS = "ascending=True) -> (Tensor values, Tensor indices)"

KINDS = [
    # Kinds
    wrong(
        "kernel that is no name",
        "{CPU: sorting.sort}",
        "{CPU: ‸sorting/sort}",
        "E310",
        "sorting/sort",
    ),
    wrong("no meta", "  meta: sorting.sort\n", "", "E311", "meta"),
    wrong("unknown half", "half_precision: as_stored", "half_precision: ‸raw", "E312", "stored"),
    wrong("aliasing of no argument", "aliasing: self", "aliasing: ‸other", "E313", "other"),
    wrong("format of no argument", "format: self", "format: ‸other", "E313", "other"),
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
        "dtype error of what is accepted",
        "  dtypes: all\n",
        "  dtypes: all\n  ‸dtype_error: No dtype is left.\n",
        "E326",
        "every dtype",
    ),
    wrong(
        "dtype error of a kernel",
        "  dtypes: floating_and_complex\n",
        "  dtypes: floating_and_complex\n  ‸dtype_error: Integers are not multiplied.\n",
        "E326",
        "pointwise operators and reductions",
    ),
    wrong(
        "out= kept apart of a formula",
        "  pointwise: self * other\n",
        "  pointwise: self * other\n  tags: ‸apart_out\n",
        "E329",
        "dispatch entry",
    ),
    wrong(
        "range of a tensor",
        "  pointwise: self * other",
        "  ‸range_checked: self\n  pointwise: self * other",
        "E327",
        "takes no number",
    ),
    wrong(
        "numbers of a kernel",
        "  dtypes: floating_and_complex\n",
        "  dtypes: floating_and_complex\n  ‸nonnegative: {mat2: Not below 0.}\n",
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
    wrong(
        "index program of integers",
        "- func: mm(",
        "- func: doubled(Tensor x) -> Tensor\n"
        "  variants: function\n"
        "  dtypes: ‸integral\n"
        '  index: "out[i] = x[i] / 2"\n'
        '  samples: [{x: "ints([1, 2])"}]\n'
        "  doc: Double.\n\n"
        "- func: mm(",
        "E339",
        "compute in floats",
    ),
    wrong(
        "geometry without a shape function",
        "- func: mm(",
        "- func: turned(Tensor x, int dim) -> Tensor\n"
        "  variants: function\n"
        "  index: out[...] = x[...]\n"
        "  geometry: ‸indexing.around\n"
        '  samples: [{x: "ints([1, 2])", dim: 0}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E112",
        "do not tell the results' shapes",
    ),
    wrong(
        "update of what may be missing",
        "- func: mm(",
        "- func: turned(Tensor x, ‸Tensor(a!)? y) -> Tensor\n"
        "  variants: function\n"
        "  index: |\n    out[i] = x[i]\n    y[i] = x[i]\n"
        '  samples: [{x: "ints([1, 2])", y: None}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E784",
        "update 'y'",
    ),
    wrong(
        "update beside a shape function",
        "- func: mm(",
        "- func: turned(Tensor x, Tensor(a!) y) -> Tensor\n"
        "  variants: function\n"
        "  index: |\n    out[i] = x[i]\n    y[i] = x[i]\n"
        "  ‸meta: indexing.turned\n"
        '  samples: [{x: "ints([1, 2])", y: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E784",
        "what arguments become",
    ),
    wrong(
        "written argument that no statement updates",
        "- func: mm(",
        "- func: turned(Tensor x, Tensor(a!) y) -> Tensor\n"
        "  variants: function\n"
        "  index: ‸out[i] = x[i] + y[i]\n"
        '  samples: [{x: "ints([1, 2])", y: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E783",
        "no statement updates 'y'",
    ),
    wrong(
        "geometry of a composite",
        "- func: mm(",
        "- func: turned(Tensor x) -> Tensor\n"
        "  variants: function\n"
        "  composite: x.neg()\n"
        "  ‸geometry: indexing.around\n"
        '  samples: [{x: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E111",
        "'index' entries",
    ),
    wrong(
        "faster everywhere",
        "- func: mm(",
        "- func: turned(Tensor x) -> Tensor\n"
        "  variants: function\n"
        "  index: out[i] = x[i]\n"
        "  ‸faster:\n    CPU, CUDA: copy.turned\n"
        '  samples: [{x: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E345",
        "no backend",
    ),
    wrong(
        "faster of a text that makes two operators",
        "- func: mm(",
        "- func: turned(Tensor x, Tensor? y=None) -> Tensor\n"
        "  variants: function\n"
        "  index: 'out[i] = x[i] * (y[i] if y is not None else 1)'\n"
        "  ‸faster: {CPU: copy.turned}\n"
        '  samples: [{x: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E345",
        "several operators",
    ),
    wrong(
        "faster of no backend",
        "- func: mm(",
        "- func: turned(Tensor x) -> Tensor\n"
        "  variants: function\n"
        "  index: out[i] = x[i]\n"
        "  faster: {‸Meta: copy.turned}\n"
        '  samples: [{x: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E307",
        "Meta",
    ),
    wrong(
        "faster without a backend",
        "- func: mm(",
        "- func: turned(Tensor x) -> Tensor\n"
        "  variants: function\n"
        "  index: out[i] = x[i]\n"
        "  faster: ‸copy.turned\n"
        '  samples: [{x: "ints([1, 2])"}]\n'
        "  doc: Turn.\n\n"
        "- func: mm(",
        "E106",
        "must be a mapping",
    ),
    wrong(
        "faster than a composite",
        "  composite: (self",
        "  ‸faster: {CPU: loss.mse}\n  composite: (self",
        "E111",
        "'index' entries",
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
        "copy of what is no view",
        "  variants: function, method, inplace, out\n  operators",
        "  variants: function, method, inplace, out, ‸copy\n  operators",
        "E328",
        "views",
    ),
    wrong(
        "lists of two results",
        "  variants: function, method, out\n  dispatch: {CPU: sort",
        "  variants: function, method, out\n  foreach: ‸sort\n  dispatch: {CPU: sort",
        "E509",
        "one result",
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
    # Cases of other operators
    wrong("case of no call", MSORT, "case_of: ‸sort", "E343", "must call"),
    wrong("unknown argument of a case", "dim=0, desc", "dim=‸dims, desc", "E343", "neither"),
    wrong("case of no operator", MSORT, "case_of: ‸sorted(self)", "E344", "no operator"),
    wrong("case of a formula", MSORT, "case_of: ‸softplus(self, 1, 2)", "E344", "no kernel"),
    wrong("argument not given", MSORT, "case_of: ‸sort(dim=0)", "E344", "given 'self'"),
    wrong("argument not known", "dim=0, desc", "dim=0, axis=‸1, desc", "E344", "no argument"),
    wrong("argument not told", "not ascending", "True", "E344", "'ascending'"),
    wrong("constant of another type", "dim=0, desc", "dim=‸'x', desc", "E344", "cannot be 'x'"),
    wrong("opposite of a tensor", "sort(self", "sort(‸not self", "E344", "cannot be not self"),
    wrong("tensor left out", MSORT, MSORT.replace("self", "‸None"), "E344", "cannot be None"),
    wrong(
        "fewer results of a case",
        MSORT_RESULTS,
        "ascending=True) -> Tensor",
        "E344",
        "shape function",
    ),
    # Draws
    wrong("unknown number of the stream", "log(positive)", "log(‸positiv)", "E707", "positiv"),
    wrong("draw of nothing", GUMBEL, "draw: ‸loc + 1", "E780", "draws nothing"),
    wrong("argument like a number", GUMBEL_LOC, "float loc=0, float normal=0", "E780", "is an"),
    wrong(
        "two numbers", GUMBEL, "draw: ‸loc + uniform * positive", "E781", "'uniform' and 'positive'"
    ),
    wrong("two chances", GUMBEL, "draw: ‸loc + chance(0.1) + chance(loc)", "E781", "two ways"),
    wrong("computed chance", GUMBEL, "draw: ‸loc + chance(self * 2)", "E782", "tensor's element"),
    wrong("chance above one", GUMBEL, "draw: ‸loc + chance(2)", "E782", "no probability"),
    wrong("nothing below zero", GUMBEL, "draw: ‸loc + below(0)", "E782", "no whole number"),
    wrong("below an element", GUMBEL, "draw: ‸loc + below(self)", "E782", "number of the call"),
    wrong("two values of a draw", GUMBEL, "draw: ‸positive, loc", "E701", "tuple"),
    wrong("number that no draw reads", GUMBEL_LOC, "‸float low=0, float loc=0", "E340", "low"),
    wrong(
        "numbers without a tensor",
        "gumbel_(Tensor(a!) self, float loc=0, *, Generator? generator=None) -> Tensor(a!)\n"
        "  variants: method",
        "‸gumbel(float loc=0, *, Generator? generator=None) -> Tensor\n  variants: function",
        "E341",
        "how many",
    ),
    wrong("fractions in integers", FLOATING, "dtypes: ‸integral\n  draw", "E342", "in uint8"),
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
]
