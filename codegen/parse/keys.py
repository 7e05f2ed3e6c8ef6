"""The keys of both YAML files: one table for the parser, the JSON Schema and the documentation.

Their order here is the order in which entries must write them.
"""

from __future__ import annotations

import enum

from ..model import vocabulary
from ..record import record


class Shape(enum.Enum):
    """What kind of YAML a key takes."""

    TEXT = "text"
    WORD = "one word"
    WORDS = "a list of words"
    SCHEMAS = "a list of schemas"
    FORMULA = "a formula"
    REDUCTION = "a mapping of formulas"
    BACKENDS = "a function, or a mapping of backends to functions"
    KERNELS = "a mapping of backends to functions"
    LAYOUTS = "a function, or a mapping of layouts to functions"
    SAMPLES = "a mapping of domains or a list of calls"
    SENTENCES = "a mapping of arguments to sentences"
    FLAGS = "a list of True and False"


@record
class Key:
    """One key of an entry."""

    name: str
    shape: Shape
    doc: str
    words: tuple[str, ...] = ()
    """The closed vocabulary of its words; empty is open."""
    is_required: bool = False
    is_kind: bool = False
    """Whether it says how the operator runs: an entry has exactly one such key."""


OPERATOR_KEYS = (
    Key("func", Shape.TEXT, "The schema, in PyTorch's grammar.", is_required=True),
    Key(
        "variants", Shape.WORDS, "What the family offers; function and method by default.",
        tuple(vocabulary.VARIANTS),
    ),
    Key(
        "python_module", Shape.WORD, "Where users find the function; torch by default.",
        vocabulary.PYTHON_MODULES,
    ),
    Key("deprecated", Shape.SCHEMAS, "Schemas of older argument orders, taken with a warning."),
    Key("superseded", Shape.WORD, "What PyTorch would have called instead; a call warns, once."),
    Key("operators", Shape.WORDS, "Python operators it implements.",
        tuple(sorted(vocabulary.DUNDERS))),
    Key("aliases", Shape.WORDS, "Further public names with the same variants."),
    Key("foreach", Shape.WORDS, "Names `_foreach_name` under which it runs over lists of tensors."),
    Key("dtypes", Shape.WORD, "Dtypes accepted after promotion; all by default.",
        tuple(vocabulary.DTYPE_SETS)),
    Key("dtype_error", Shape.TEXT,
        "What users are told of another dtype, also of a single operand."),
    Key("promotion", Shape.TEXT, "The dtype rule, perhaps with the arguments that take part."),
    Key("range_checked", Shape.WORDS, "Operands whose numbers must be in the range of the dtype."),
    Key("nonnegative", Shape.SENTENCES,
        "Operands whose numbers must not be negative beside integers, and what users are told."),
    Key("check", Shape.WORD, "A function that refuses arguments of a pointwise operator."),
    Key("pointwise", Shape.FORMULA, "A scalar formula for every element.", is_kind=True),
    Key("reduction", Shape.REDUCTION, "identity, reduce, combine, project.", is_kind=True),
    Key("index", Shape.FORMULA, "Statements over named indices, as in docs/operators.md.",
        is_kind=True),
    Key("draw", Shape.FORMULA, "A scalar formula over a generator's stream, for every element.",
        is_kind=True),
    Key("view", Shape.WORD, "A function of runtime/ops/views/: sizes, strides, offset.",
        is_kind=True),
    Key("composite", Shape.TEXT, "A Python expression or function that calls other operators.",
        is_kind=True),
    Key("dispatch", Shape.BACKENDS,
        "A kernel per backend, or one name, family.module.function, for the CPU's and CUDA's.",
        is_kind=True),
    Key("case_of", Shape.TEXT,
        "A call of an operator with a kernel, which the entry is; of its arguments and constants.",
        is_kind=True),
    Key("geometry", Shape.TEXT,
        "A function of kernels/common/: views that statements see, whole numbers for them."),
    Key("faster", Shape.KERNELS,
        "Kernels written by hand in place of the statements, by the backend they are faster on."),
    Key("meta", Shape.WORD,
        "The shape function, or dynamic; family.function by default, where one name is given; of a "
        "case that of the other operator."),
    Key("half_precision", Shape.WORD,
        "as_stored: the kernel takes 16-bit floats as they are, not as float32.", ("as_stored",)),
    Key("aliasing", Shape.WORDS, "Arguments that may share memory with the result."),
    Key("memory_format", Shape.WORDS,
        "Arguments after which results lie channels-last, if one of these does."),
    Key("layouts", Shape.LAYOUTS,
        "What it does for sparse tensors: a composite for all their layouts, or for each."),
    Key("vmap", Shape.TEXT,
        "What it does for samples inside vmap: a structure of its dims, or a composite."),
    Key("tags", Shape.WORDS, "Properties that nothing else says.", tuple(vocabulary.TAGS)),
    Key("reference", Shape.WORD, "An independent NumPy or SciPy function."),
    Key("samples", Shape.SAMPLES, "Inputs of the generated tests."),
    Key("doc", Shape.TEXT, "Documentation for users: one line in the imperative, then more."),
)  # fmt: skip

REDUCTION_KEYS = (
    Key("identity", Shape.FORMULA, "Start value of the accumulator, or none.", is_required=True),
    Key("reduce", Shape.FORMULA, "One element in, over acc and the tensor.", is_required=True),
    Key("combine", Shape.FORMULA, "Two accumulators, over acc and other.", is_required=True),
    Key("project", Shape.FORMULA, "Accumulator to result, over acc and count."),
)

DERIVATIVE_KEYS = (
    Key("name", Shape.TEXT, "The operator, or its whole schema.", is_required=True),
    Key("output_differentiability", Shape.FLAGS, "Which results may require grad."),
    Key(
        "missing_gradients",
        Shape.WORD,
        "none: the formulas see None for results that nobody used; by default zeros.",
        ("none",),
    ),
    Key(
        "second_gradients",
        Shape.WORD,
        "Of gradients that are constant in the operands, under create_graph: zero, or none.",
        ("zero", "none"),
    ),
    Key(
        "saves",
        Shape.WORD,
        "operands: `auto` reads no result, so that the result may be written to in place.",
        ("operands",),
    ),
)
"""Further keys are names of arguments (several: joined by commas) and of results."""

KINDS = tuple(key.name for key in OPERATOR_KEYS if key.is_kind)
