"""
Gradescope's rules for ``results.json`` as a JSON Schema, and as a reader that says what students see.

Written from the documentation of its autograders: which keys there are, their types
and values, and that a score or a score of every test is required.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema

_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_TEST = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "max_score": {"type": "number"},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "name_format": _FORMAT,
        "number": {"type": "string"},
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "tags": {"type": "array", "items": {"type": "string"}},
        "visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
    },
}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        # Gradescope's own library writes it as a string.
        "execution_time": {"type": ["number", "string"], "pattern": r"^[0-9]+(\.[0-9]+)?$"},
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "test_output_format": _FORMAT,
        "test_name_format": _FORMAT,
        "visibility": _VISIBILITY,
        "stdout_visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {"type": "array", "items": _TEST},
        "leaderboard": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "value"],
                "properties": {
                    "name": {"type": "string"},
                    "value": {"type": ["number", "string"]},
                    "order": {"enum": ["asc", "desc"]},
                },
            },
        },
    },
    "anyOf": [
        {"required": ["score"]},
        {
            "required": ["tests"],
            "properties": {"tests": {"minItems": 1, "items": {"required": ["score"]}}},
        },
    ],
}


_VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def _refused(name: str) -> float:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def read_results(data: bytes) -> dict[str, Any]:
    """
    Return the results as Gradescope takes them.

    Raises
    ------
    ValueError
        If it is no JSON: NaN and infinity are not, though Python writes them.
    jsonschema.ValidationError
        If it is not what the documentation describes.
    """
    record = json.loads(data.decode("utf-8"), parse_constant=_refused)
    _VALIDATOR.validate(record)
    return dict(record)


def total(record: dict[str, Any]) -> float:
    """Return the score that Gradescope stores: the whole one, else the sum of the tests."""
    if "score" in record:
        return float(record["score"])
    return sum(float(test["score"]) for test in record["tests"])


def seen_by_students(record: dict[str, Any]) -> tuple[float | None, list[str]]:
    """Return the total, or None where it is not shown, and the names of the tests, before the due date."""
    if record.get("visibility", "visible") != "visible":
        return None, []
    tests = record.get("tests", [])
    shown = [test.get("name", "") for test in tests if test.get("visibility", "visible") == "visible"]
    hidden = any(test.get("visibility") == "hidden" for test in tests)
    return None if hidden else total(record), shown
