"""Mistakes in the text of an entry: YAML, schemas, words of closed sets."""

from mistake import MUL, SOFTPLUS, TRANSPOSE, wrong

MM = "- func: mm(Tensor self, Tensor mat2) -> Tensor\n  variants: function, method, out\n"

SPELLING = [
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
        "successor",
        "  view: transpose\n",
        "  superseded: ‸linalg.nothing\n  view: transpose\n",
        "E330",
        "no operator 'linalg.nothing'",
    ),
    wrong(
        "check of a view",
        "  view: transpose\n",
        "  ‸check: limits.check\n  view: transpose\n",
        "E111",
        "pointwise",
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
        "name of a table of calls",
        "- func: softplus(",
        "- func: ‸_softplus(Tensor self) -> Tensor\n  dtypes: floating\n  pointwise: self\n"
        "  doc: Itself.\n\n- func: softplus(",
        "E214",
        "'softplus'",
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
    *(
        wrong(
            f"older order {name}",
            MM,
            f"{MM}  deprecated:\n    - ‸{schema} -> Tensor\n",
            "E213",
            word,
        )
        for name, schema, word in (
            ("of another operator", "bmm(Tensor mat2, Scalar alpha, Tensor self)", "of 'bmm'"),
            ("without an argument", "mm(Tensor self)", "has no 'mat2'"),
            ("with an unknown argument", "mm(Tensor self, Tensor mat2, int n)", "unknown 'n'"),
            ("of the same length", "mm(Tensor mat2, Tensor self)", "no more positional"),
        )
    ),
    wrong(
        "older orders in one line",
        MM,
        f"{MM}  deprecated: ‸mm(Tensor mat2) -> Tensor\n",
        "E106",
        "list of schemas",
    ),
    wrong(
        "older order in a family",
        "- func: softplus(",
        "- func: mul(Tensor self) -> Tensor\n  deprecated:\n    - ‸mul(Tensor a) -> Tensor\n"
        "  composite: self\n  doc: Itself.\n\n- func: softplus(",
        "E213",
        "one entry",
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
    wrong(
        "frequent without a choice", "tags: nondeterministic", "tags: ‸frequent", "E510", "several"
    ),
    wrong("unknown tag", "tags: nondeterministic", "tags: ‸random", "E306", "random"),
    wrong("unknown backend", "CPU, CUDA: linalg.mm", "CPU, ‸GPU: linalg.mm", "E307", "GPU"),
    wrong("backend given twice", "CPU, CUDA: linalg.mm", "CPU, ‸CPU: linalg.mm", "E103", "twice"),
    wrong(
        "unknown layout",
        "  view: transpose\n",
        "  view: transpose\n  layouts: {‸Spars: sparse.views.t}\n",
        "E331",
        "unknown layout",
    ),
    wrong(
        "unknown structure of dims",
        "  view: transpose\n",
        "  view: transpose\n  vmap: ‸alongs\n",
        "E332",
        "along",
    ),
    wrong(
        "layouts in a list",
        "  view: transpose\n",
        "  view: transpose\n  layouts: ‸[Sparse]\n",
        "E106",
        "mapping",
    ),
    wrong(
        "kernel of no family",
        "dispatch: {CPU: fill.zero_}",
        "dispatch: ‸fill.zero_",
        "E310",
        "family",
    ),
    wrong("kernel of two backends", "CPU, CUDA: linalg.mm", "CPU, CUDA: ‸7", "E310", "function"),
    wrong("alias of two words", "aliases: multiply", "aliases: ‸multiply times", "E308", "no name"),
]
