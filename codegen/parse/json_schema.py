"""Writes the key tables as JSON Schema, so that editors complete and check both YAML files.

Run `python -m codegen.parse.json_schema` after a change of the tables; a test compares. It writes
the comments at the heads of both files, too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ..model.vocabulary import BACKENDS, LAYOUTS, PROMOTIONS, TEXT_BACKENDS
from . import key_table
from .keys import DERIVATIVE_KEYS, KINDS, OPERATOR_KEYS, REDUCTION_KEYS, Key, Shape

Json = dict[str, object]

FOLDER = Path(__file__).parents[1] / "schema"

# An editor reads `0` as a number and `True` as a truth value; to us they are text.
_SCALAR: Json = {"type": ["string", "number", "boolean"]}
_TEXT: Json = {"type": "string", "minLength": 1}
_SAMPLE_VALUE: Json = {"type": ["string", "number", "boolean", "null", "array"]}


def operator_schema() -> Json:
    """Describe native_functions.yaml."""
    properties: Json = {key.name: _value(key) for key in OPERATOR_KEYS}
    properties["promotion"] = {
        "type": "string",
        "pattern": rf"^\s*({_choice(tuple(PROMOTIONS))})\s*(\([^()]*\))?\s*$",
        "description": _doc("promotion"),
    }
    entry = _object(properties, OPERATOR_KEYS)
    entry["oneOf"] = [{"required": [kind]} for kind in KINDS]
    entry["additionalProperties"] = False
    return _file("native_functions.yaml", "One entry per operator family.", entry)


def derivative_schema() -> Json:
    """Describe derivatives.yaml."""
    properties: Json = {key.name: _value(key) for key in DERIVATIVE_KEYS}
    entry = _object(properties, DERIVATIVE_KEYS)
    entry["additionalProperties"] = {
        **_SCALAR,
        "description": "The gradient of the named arguments, or the tangent of the named results.",
    }
    return _file("derivatives.yaml", "One entry per differentiable operator.", entry)


def files() -> dict[str, str]:
    """Return the text of each file of FOLDER by its name."""
    schemas = {"native_functions": operator_schema(), "derivatives": derivative_schema()}
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2) + "\n"
        for name, schema in schemas.items()
    }


def _file(name: str, doc: str, entry: Json) -> Json:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": name,
        "description": doc,
        "type": "array",
        "items": entry,
    }


def _object(properties: Json, keys: tuple[Key, ...]) -> Json:
    required = [key.name for key in keys if key.is_required]
    return {"type": "object", "properties": properties, "required": required}


def _value(key: Key) -> Json:
    return {**_shape(key), "description": key.doc}


def _shape(key: Key) -> Json:
    match key.shape:
        case Shape.TEXT:
            return dict(_TEXT)
        case Shape.FORMULA:
            return dict(_SCALAR)
        case Shape.WORD:
            return {"enum": list(key.words)} if key.words else dict(_TEXT)
        case Shape.WORDS:
            return _words(key.words)
        case Shape.SCHEMAS:
            return {"type": "array", "items": dict(_TEXT), "minItems": 1}
        case Shape.FLAGS:
            return {"type": "array", "items": {"type": "boolean"}}
        case Shape.BACKENDS:
            return {"anyOf": [dict(_TEXT), _functions(BACKENDS)]}
        case Shape.KERNELS:
            return _functions(TEXT_BACKENDS)
        case Shape.LAYOUTS:
            return {"anyOf": [dict(_TEXT), _functions(tuple(LAYOUTS))]}
        case Shape.SENTENCES:
            return {"type": "object", "additionalProperties": dict(_TEXT), "minProperties": 1}
        case Shape.REDUCTION:
            parts: Json = {part.name: _value(part) for part in REDUCTION_KEYS}
            return {**_object(parts, REDUCTION_KEYS), "additionalProperties": False}
        case Shape.SAMPLES:
            values: Json = {"type": "object", "additionalProperties": dict(_SAMPLE_VALUE)}
            return {"anyOf": [values, {"type": "array", "items": values}]}


def _functions(words: tuple[str, ...]) -> Json:
    """A function for each of some words, or for several by commas."""
    return {
        "type": "object",
        "propertyNames": _listing(words),
        "additionalProperties": dict(_TEXT),
        "minProperties": 1,
    }


def _words(words: tuple[str, ...]) -> Json:
    """Words by commas, or as a list."""
    item: Json = {"enum": list(words)} if words else dict(_TEXT)
    return {"anyOf": [_listing(words), {"type": "array", "items": item}]}


def _listing(words: tuple[str, ...]) -> Json:
    """Words by commas."""
    word = _choice(words) if words else r"[^,\s]+"
    return {"type": "string", "pattern": rf"^\s*({word})(\s*,\s*({word}))*\s*$"}


def _choice(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


def _doc(name: str) -> str:
    return next(key.doc for key in OPERATOR_KEYS if key.name == name)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file_name, content in files().items():
        (FOLDER / file_name).write_text(content, encoding="utf-8")
    for file_name in key_table.FILES:
        path = key_table.path_of(file_name)
        path.write_text(key_table.replaced(path.read_text("utf-8"), file_name), encoding="utf-8")
