"""Every schema of PyTorch's own file parses, prints back equal, and has defaults of its types."""

from pathlib import Path

import pytest

from codegen.check.schemas import default_fits
from codegen.model.schema import Schema
from codegen.parse.report import Report
from codegen.parse.schema import parse_schema
from codegen.parse.yaml_nodes import Mapping, Scalar, Source
from codegen.parse.yaml_reader import read_yaml

torchgen = pytest.importorskip("torchgen")

EXPECTED_COUNT = 2584


@pytest.fixture(scope="module")
def schemas() -> dict[str, Schema]:
    """Text to schema, of the file inside the installed wheel."""
    native = Path(torchgen.__file__).parent / "packaged/ATen/native"
    path = native / "native_functions.yaml"
    report = Report()
    nodes = read_yaml(Source(str(path), path.read_text(encoding="utf-8")), report)
    assert not report.diagnostics
    found: dict[str, Schema] = {}
    for node in nodes:
        assert isinstance(node, Mapping)
        func = node.values["func"]
        assert isinstance(func, Scalar)
        found[func.text] = parse_schema(func.text, func.where)
    return found


def test_every_schema_is_there(schemas):
    assert len(schemas) == EXPECTED_COUNT


def test_every_schema_prints_back(schemas):
    assert [text for text, schema in schemas.items() if str(schema) != text] == []


def test_every_schema_parses_with_odd_spacing(schemas):
    for text, schema in schemas.items():
        if '"' not in text and "'" not in text:
            spaced = text.replace(",", " ,  ").replace("(", " ( ").replace("=", " = ")
            assert str(parse_schema(spaced)) == text
            assert parse_schema(spaced) == schema


def test_every_default_fits_its_type(schemas):
    wrong = [
        str(argument)
        for schema in schemas.values()
        for argument in schema.arguments
        if argument.default is not None and not default_fits(argument.type, argument.default)
    ]
    assert wrong == []


def test_names_agree_with_torchgen(schemas):
    from torchgen.model import FunctionSchema

    for text, schema in schemas.items():
        theirs = FunctionSchema.parse(text)
        assert schema.name == str(theirs.name)
        assert schema.is_inplace == theirs.name.name.inplace
        assert [a.name for a in schema.out_arguments] == [a.name for a in theirs.arguments.out]
        assert [a.name for a in schema.arguments] == [
            a.name for a in theirs.schema_order_arguments()
        ]
