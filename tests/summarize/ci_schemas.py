"""JSON Schemas of what other programs read, from their sources and documentation (November 2026)."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
STRING: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "string", "pattern": "^[0-9]+$"}


def _object(properties: Schema, *optional: str, **keywords: Any) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **keywords}


# Bencher 0.6, "Bencher Metric Format" v0 (bmf.json): benchmark name -> measure (a slug of at most 64 letters) -> value
# between bounds
BENCHER: Schema = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": _object({name: {"type": "number"} for name in ("value", "lower_value", "upper_value")}),
    },
}

# github-action-benchmark 1.22, tools `customBiggerIsBetter` and `customSmallerIsBetter`: no empty list; a range is a
# sign and a number without thousands
BENCHMARK: Schema = {
    "type": "array",
    "minItems": 1,
    "items": _object(
        {
            **dict.fromkeys(("name", "unit", "extra"), STRING),
            "value": {"type": "number"},
            "range": {"type": "string", "pattern": r"^± [0-9]+(\.[0-9]+)?$"},
        },
        "range",
    ),
}

# JUnit XML as Jenkins (junit-10.xsd of its xUnit plugin 3.1) and most others take it; elements as `tree` of the tests
# gives them
_DETAIL: Schema = {
    "type": "object",
    "properties": {
        "tag": {"enum": ["failure", "error", "skipped", "system-out"]},
        "attributes": {"type": "object", "additionalProperties": STRING},
        "children": {"maxItems": 0},
    },
}
_CASE = _object(
    {
        "tag": {"const": "testcase"},
        "attributes": _object(dict.fromkeys(("classname", "name"), STRING)),
        "children": {"type": "array", "maxItems": 1, "items": _DETAIL},
    }
)
_SUITE_ATTRIBUTES = {
    "name": STRING,
    **dict.fromkeys(("tests", "failures", "errors", "skipped"), COUNT),
    "timestamp": {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"},
}
_SUITE = _object(
    {
        "tag": {"const": "testsuite"},
        "attributes": _object(_SUITE_ATTRIBUTES, "timestamp"),
        "children": {"type": "array", "items": _CASE},
    }
)
JUNIT = _object(
    {
        "tag": {"const": "testsuites"},
        "attributes": _object({"name": STRING}),
        "children": {"type": "array", "items": _SUITE},
    }
)

# Apache Otava 0.8, tests of `type: csv`: a time, attributes as text, and each other cell a number
OTAVA: Schema = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["time", "plan", "load"],
        "properties": {
            "time": {"pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$"},
            "plan": STRING,
            "load": {"pattern": "^[1-9][0-9]*$"},
        },
        "additionalProperties": {"pattern": r"^(nan|[0-9.]+(e[+-]?[0-9]+)?)$"},
    },
}

# Workflow commands of GitHub Actions: what ends a property or a line is escaped
ANNOTATION = r"^::(error|warning|notice) (file|title)=[^:,\r\n]+(,title=[^:,\r\n]+)?::[^\r\n]+$"
