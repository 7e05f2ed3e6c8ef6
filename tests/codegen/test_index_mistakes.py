"""Typical mistakes in index texts: each is found, with its code, at its very place."""

from __future__ import annotations

import math

import pytest

from codegen.errors import CodegenError, SourceLocation
from codegen.index.text import program_text
from codegen.model.formula import Argument
from codegen.model.place import Size, of
from codegen.parse.index import parse_cases, parse_index
from codegen.parse.index_survey import Owner

CARET = "‸"
NOWHERE = SourceLocation("ops.yaml", 1, 1)
ARGUMENTS = (
    Argument("x"),
    Argument("w"),
    Argument("k", "int"),
    Argument("s", "scalar"),
    Argument("m", optional=True),
)
"""Of every text: it must use the tensors, and those numbers that are named in it."""

MISTAKES = [
    # The grammar
    ("character", "out[i] = x[i] ‸$ w[i]", "E750", "'$' has no meaning"),
    ("no value", "out[i] = x[i] * w[i] +‸", "E750", "expected an expression"),
    ("no equals sign", "out[i] ‸x[i] * w[i]", "E750", "'=' behind"),
    ("bracket", "out[i] = x[i] * (w[i]‸", "E750", "to close the bracket"),
    ("chained", "out[i] = 1 if 0 < x[i] ‸< w[i] else 0", "E750", "cannot be chained"),
    ("dots behind", "out[i] = x[i, ‸...] * w[i]", "E750", "stands before all places"),
    ("fold without a body", "out[i] = ‸sum(j) + x[i] * w[i]", "E760", "is a fold"),
    ("text that is no statement", "‸3 * x[i]", "E750", "expected a statement"),
    # Names
    ("defined twice", "a[i] = x[i]\n‸a[i] = w[i]\nout[i] = a[i]", "E753", "defined twice"),
    ("tensor like an argument", "‸w[i] = x[i]\nout[i] = w[i]", "E753", "already an argument"),
    ("tensor like a function", "‸exp[i] = x[i]\nout[i] = w[i]", "E753", "of the language"),
    ("index called like an argument", "out[‸k] = x[k] * w[k]", "E753", "already an argument"),
    ("index bound inside again", "out[i] = sum(‸i: x[i] * w[i])", "E753", "bound already"),
    ("index twice on the left", "out[i, ‸i] = x[i] * w[i]", "E753", "stands here twice"),
    ("never used", "‸a[i] = x[i]\nout[i] = x[i] * w[i]", "E754", "never used"),
    ("argument never used", "‸out[i] = x[i]", "E754", "do not use 'w'"),
    ("number never used", "‸out[i] = x[i] * w[i]", "E754", "do not use 's'"),
    ("unknown name", "out[i] = x[i] * w[i] * ‸q", "E707", "unknown name 'q'"),
    ("unknown function", "out[i] = ‸expp(x[i]) * w[i]", "E708", "unknown function 'expp'"),
    ("function without brackets", "out[i] = x[i] * w[i] + ‸exp", "E707", "is a function"),
    ("arity", "out[i] = ‸exp(x[i], w[i])", "E709", "takes 1 argument"),
    ("function that calls itself", "def f(a): ‸f(a)\nout[i] = f(x[i]) * w[i]", "E708", "'f'"),
    ("defined below", "out[i] = ‸a[i] + w[i]\na[i] = x[i]", "E769", "is defined below"),
    # Indices and their extents
    ("index that nobody binds", "out[i] = x[i] * w[‸j]", "E707", "unknown name 'j'"),
    ("index of another fold", "out[i] = sum(j: w[j]) * x[i] * w[‸j]", "E762", "not bound here"),
    ("index without an extent", "out[‸i] = x[i + 1 else 0] * w[0]", "E758", "how far 'i'"),
    ("extent that is a number", "out[i : ‸s] = x[i] * w[i]", "E756", "a whole number"),
    ("extent of nothing", "out[i] = x[i] * w[i] + sum(j : ‸1 - 1: x[j])", "E771", "is 0"),
    ("two extents", "out[i : 3] = sum(j : 4: x[j] + w[i]) + sum(j : ‸5: x[j])", "E757", "extent 4"),
    ("dots that nobody binds", "out[i] = ‸x[..., i] * w[i]", "E765", "not bound here"),
    ("dots last", "out[i, ‸...] = x[i] * w[i]", "E751", "stands first"),
    ("size of a number", "out[i : ‸size(s)] = x[i] * w[i]", "E764", "size takes"),
    ("size of a dim that is not there", "out[i : size(x, ‸2)] = x[i] * w[i]", "E764", "1 dims"),
    # Places
    ("dims differ", "out[i] = x[i] * w[i] * ‸x[i, i]", "E755", "2 places"),
    ("tensor in between has other dims", "a[i] = x[i]\nout[i] = ‸a[i, i] * w[i]", "E755", "a[i]"),
    ("tensor as a whole", "out[i] = ‸x * w[i]", "E761", "say which element"),
    ("place that is a number", "out[i] = x[i] * w[‸s]", "E767", "a whole number"),
    ("place behind the end", "out[i] = x[i] * x[‸i + 1] * w[i]", "E768", "outside the tensor"),
    ("place before the start", "out[i] = x[i] * x[‸i - 1] * w[i]", "E768", "outside the tensor"),
    ("rule outside brackets", "out[i] = x[i] * w[i] * ‸clamp(i)", "E763", "outside a tensor"),
    ("value outside that varies", "out[i] = x[i - 1 else ‸w[i]]", "E766", "is a constant"),
    ("start that is an argument", "out[i] = out[i - 1 else ‸s] + x[i] * w[i]", "E766", "constant"),
    # Folds and scans
    ("unknown fold", "out[i] = ‸summ(j: w[j]) * x[i]", "E760", "unknown fold 'summ'"),
    ("sum that tells", "out[i] = w[i] * sum(j: x[j], ‸j)", "E759", "only argmax and argmin"),
    ("scan inside a fold", "‸out[i] = sum(j: out[i - 1 else 0] * x[j] * w[i])", "E770", "own fold"),
    ("scan in both directions",
     "out[i] = ‸out[i - 1 else 0] + out[i + 1 else 0] * x[i] * w[i]", "E770", "before and behind"),
    ("defined by itself", "out[i] = ‸out[i] + x[i] * w[i]", "E770", "its own element"),
    ("scan with jumps", "out[i] = ‸out[2 * i else 0] + x[i] * w[i]", "E770", "and a number"),
    ("mean from a value", "out[i] = mean(j from ‸w[i]: x[j])", "E778", "begins with nothing"),
    ("last of what data tells", "out[i] = ‸last(j where w[j] > x[i]: x[j])", "E779", "places tell"),
    ("range of a number", "out[i] = sum(j in 0 .. ‸s: x[j]) * w[i]", "E785", "whole numbers"),
    ("range of itself", "out[i] = sum(j in ‸j - 1 .. i: x[j]) * w[i]", "E785", "depends on itself"),
    ("range of what is inside", "out[i] = sum(j in 0 .. ‸l: sum(l: x[l]) * w[i])", "E762",
     "not bound"),
    ("range without an end", "out[i] = sum(j in i‸: x[j]) * w[i]", "E750", "'..' between where"),
    ("range of a result's index", "out[i ‸in 0 .. k] = x[i] * w[i]", "E750", "behind the indices"),
    ("start inside its fold", "out[i] = sum(j from x[‸j]: w[j])", "E762", "not bound here"),
    ("rule in another condition", "out[i] = sum(j where ‸clamp(j) > i: x[j] * w[j])", "E763",
     "outside a tensor"),
    # Loops, constants and draws
    ("loop without a beginning", "out[i] = repeat(3‸: x[i]) * w[i]", "E750", "',' before"),
    ("loop without a next value", "out[i] = repeat(3, t = x[i], u = 1: t + u‸) * w[i]", "E750",
     "next value of each"),
    ("loop over what is bound", "out[i] = repeat(‸i, t = x[i]: t * w[i])", "E753", "bound already"),
    ("loop over what has no end", "out[i] = repeat(‸j, t = 0: t * w[i]) + x[i]", "E758", "how far"),
    ("loop whose values are knots", "out[i] = ‸repeat(j, a = 0, b = 1: b + w[j], a) * x[i]", "E773",
     "both ways"),
    ("fold of a loop's value", "out[i] = ‸repeat(j, a = 0: sum(l: w[l] * a) + w[j]) * x[i]",
     "E773", "reads its values"),
    ("start that varies", "out[i] = repeat(j, a = ‸x[i]: a * w[j])", "E766", "is a constant"),
    ("names without a loop", "a[i], b[i] = ‸x[i]\nout[i] = a[i] * w[i]", "E750", "only a loop"),
    ("more names than values",
     "a[i], ‸b[i] = repeat(2, t = x[i]: t * w[i])\nout[i] = a[i] + b[i]", "E773", "has 1 values"),
    ("names that differ in indices",
     "‸a[i], b[j] = repeat(2, t = x[i], u = 1: t, u * w[i])\nout[i] = a[i] + b[i]", "E750", "same"),
    ("loop without end", "out[i] = repeat(‸1000, t = x[i]: t * w[i])", "E772", "from 1 to"),
    ("loop's value outside of it", "out[i] = repeat(2, t = x[i]: t * w[i]) + ‸t", "E707", "'t'"),
    ("detach of two", "out[i] = ‸detach(x[i], w[i])", "E709", "takes 1 argument"),
    ("tensor like a loop", "‸repeat[i] = x[i]\nout[i] = w[i]", "E753", "of the language"),
    ("draw without a generator", "out[i] = x[i] * w[i] * ‸uniform()", "E774", "its key"),
    ("draw with an argument", "out[i] = x[i] * w[i] + ‸normal(1)", "E774", "no arguments"),
    ("what may be missing", "out[i] = x[i] * w[i] + ‸m[i]", "E775", "may be None"),
    ("what is missing here", "out[i] = x[i] * w[i] * (‸m[i] if m is None else 1)", "E775", "None"),
    ("None that never is", "out[i] = x[i] * w[i] if ‸x is None else 0", "E711", "optional"),
]  # fmt: skip


@pytest.mark.parametrize("name, marked, code, word", MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistake(name: str, marked: str, code: str, word: str) -> None:
    text = marked.replace(CARET, "")
    numbers = ARGUMENTS[3:4] if name == "number never used" else ARGUMENTS[2:4]
    used = *ARGUMENTS[:2], *(each for each in numbers if name.endswith("used") or each.name in text)
    missing = ("m",) if "m[" in text else ()
    owner = Owner((*used, ARGUMENTS[4]) if missing else used, ())
    with pytest.raises(CodegenError) as caught:
        parse_index(text, NOWHERE, owner, missing)
    found = [d for d in caught.value.diagnostics if d.code == code and word in d.message]
    assert found, str(caught.value)
    assert found[0].where.column == marked.index(CARET) + 1, str(caught.value)


def test_what_is_missing_beside_a_shape_function_is_a_case() -> None:
    """A program for each answer, and the caret where one of them reads what is not there."""
    owner = Owner((ARGUMENTS[0], ARGUMENTS[4]), (), has_meta=True)
    answers, made = parse_cases("out[i] = x[i] if m is None else x[i] * m[i]", NOWHERE, owner)
    assert answers == {"m": (False,)}
    read = {values[0]: [each.name for each in program.inputs] for (values,), program in made}
    assert read == {None: ["x", "m"], False: ["x"]}
    with pytest.raises(CodegenError, match="'m' may be None here"):
        parse_cases("out[i] = x[i] * m[i] + (1 if m is None else 0)", NOWHERE, owner)


def test_what_a_shape_function_alone_sees_may_be_missing() -> None:
    """A gradient is told of a bias that it does not read; a tensor that is always there is read."""
    owner = Owner((ARGUMENTS[0], ARGUMENTS[4]), (), has_meta=True)
    ((_, program),) = parse_cases("out[i] = x[i]", NOWHERE, owner)[1]
    assert [each.name for each in program.inputs] == ["x"]
    for arguments, has_meta in ((owner.arguments, False), (ARGUMENTS[:2], True)):
        with pytest.raises(CodegenError, match="E754"):
            parse_cases("out[i] = x[i]", NOWHERE, Owner(arguments, (), has_meta=has_meta))


def test_numbers_by_which_a_text_folds_are_cases() -> None:
    """Also infinities and 0, which is no False; what is compared besides is a value."""
    owner = Owner((ARGUMENTS[0], Argument("p", "scalar")), (), numbers=("p",))
    text = """out = sum(i: x[i]) if p == 0 else max(i: x[i]) if p == -inf else
      sum(i: x[i] ** (2 if p == 7 else p))"""
    answers, made = parse_cases(text, NOWHERE, owner)
    assert answers == {"p": (0.0, -math.inf)}
    kinds = {value: program.statements[-1].fold for ((value,),), program in made}
    assert {value: fold.kind for value, fold in kinds.items() if fold} == {
        None: "sum", 0.0: "sum", -math.inf: "max",
    }  # fmt: skip
    assert [program.numbers for _, program in made] == [("p",), (), ()]


def test_a_program_prints_as_it_is_written() -> None:
    """What is printed may be parsed, and is then the same program."""
    text = "h[..., t] = x[..., t] * h[..., t - 1 else 0] + sum(j where j >= t: w[j]) * s"
    owner = Owner(ARGUMENTS[:2] + ARGUMENTS[3:4], ())
    program = parse_index(text, NOWHERE, owner)
    printed = "\n".join(program_text(program))
    again = parse_index(printed, NOWHERE, owner)
    assert "\n".join(program_text(again)) == printed


@pytest.mark.parametrize("bounds", ["w[i] .. w[i + 1]", "0 .. w[i]", "w[i] .. size(j)"])
def test_ranges_print_as_they_are_written(bounds: str) -> None:
    """What tensors tell is looked at; an index may stop before a tensor's last element."""
    text = f"out[i : size(w, -1) - 1] = sum(j : size(x, -1) in {bounds}: x[j])"
    program = parse_index(text, NOWHERE, Owner(ARGUMENTS[:2], ()))
    assert list(program_text(program)) == [text]
    assert [each.type for each in program.inputs] == ["number", "int"]
    assert not program.requirements


@pytest.mark.parametrize(
    "marked, code",
    [
        ('out[i] = x[i] + ‸"b"', "E780"),
        ("out[i] = ‸how(j: x[i] * x[j])", "E781"),
        ("out[i] = ‸how(j from x[i]: x[j])", "E781"),
    ],
)
def test_words(marked: str, code: str) -> None:
    """A word is compared with an argument alone; one that names a fold is that of a scatter."""
    text = marked.replace(CARET, "")
    owner = Owner(ARGUMENTS[:1], (), words=("how",))
    with pytest.raises(CodegenError) as caught:
        parse_index(text, NOWHERE, owner)
    assert [(each.code, each.where.column - 1) for each in caught.value.diagnostics] == [
        (code, marked.index(CARET))
    ]


UPDATES = [
    ("argument that is none", "‸x[i] = w[i]\nout[i] = x[i]", "E753", "`Tensor(a!) x`"),
    ("nothing updates it", "‸out[i] = x[i] * w[i]", "E783", "`w[...] = ...`"),
    ("other dims", "w[i, j : 2] = x[i]\nout[i] = ‸w[i]", "E755", ""),
    ("other dims than above", "out[i] = w[i] * x[i]\n‸w[] = sum(i: x[i])", "E755", ""),
    (
        "name of the new value",
        "‸new_w[i] = x[i]\nw[i] = new_w[i]\nout[i] = x[i]",
        "E753",
        "another",
    ),
    ("no result", "‸w[i] = w[i] + x[i]", "E752", ""),
    ("twice", "w[i] = x[i]\n‸w[i] = w[i]\nout[i] = x[i]", "E753", "once"),
    ("place that is none", "w[i ‸+ 1] = x[i]\nout[i] = x[i]", "E750", ""),
]


@pytest.mark.parametrize("name, marked, code, word", UPDATES, ids=[m[0] for m in UPDATES])
def test_mistakes_of_updates(name: str, marked: str, code: str, word: str) -> None:
    """Of `w`, which the schema says is written."""
    owner = Owner(ARGUMENTS[:2], (), updated=("w",))
    with pytest.raises(CodegenError) as caught:
        parse_index(marked.replace(CARET, ""), NOWHERE, owner)
    found = [d for d in caught.value.diagnostics if d.code == code and word in (d.hint or "")]
    assert found, str(caught.value)
    assert found[0].where.column == marked.index(CARET) + 1, str(caught.value)


def test_what_is_read_is_what_an_argument_was() -> None:
    """Below its statement, too; what it becomes is a result behind all others."""
    owner = Owner(ARGUMENTS[:2], (), updated=("w",))
    program = parse_index("w[i] = w[i] + x[i]\nout[i] = w[i]", NOWHERE, owner)
    assert program.results == ("out", "new_w")
    assert [each.name for each in program.inputs] == ["x", "w"]
    assert [each.tensor for each in program.statement("out").accesses] == ["w"]
    nothing_else = Owner(owner.arguments, (), 0, updated=("w",))
    program = parse_index("w[i] = x[2 * i]", NOWHERE, nothing_else)
    assert (program.results, program.extent) == (("new_w",), {"i": of(Size("w", -1))})
