"""What other programs read, as JSON Schemas written from their sources and documentation (November 2026)."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

Schema = dict[str, Any]
STRING: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "string", "pattern": "^[0-9]+$"}

# Bencher 0.6, "Bencher Metric Format" v0: benchmark name -> measure (a slug of at most 64) -> value, and its bounds.
# Of its published schema (bmf.json) this is the part that we use.
METRIC: Schema = {
    "type": "object",
    "required": ["value"],
    "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
    "additionalProperties": False,
}
BENCHER: Schema = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": METRIC,
    },
}

# github-action-benchmark 1.22, tools `customBiggerIsBetter` and `customSmallerIsBetter`. It takes no empty list, and
# reads a range as a sign and a number, without thousands.
GITHUB_ACTION_BENCHMARK: Schema = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "properties": {
            **dict.fromkeys(("name", "unit", "extra"), STRING),
            "value": {"type": "number"},
            "range": {"type": "string", "pattern": r"^± [0-9]+(\.[0-9]+)?$"},
        },
        "additionalProperties": False,
    },
}

# JUnit XML as Jenkins (junit-10.xsd of its xUnit plugin 3.1) and most others take it; elements as `tree` gives them.
DETAIL: Schema = {
    "type": "object",
    "required": ["attributes"],
    "properties": {
        "tag": {"enum": ["failure", "error", "skipped", "system-out"]},
        "attributes": {"type": "object", "additionalProperties": STRING},
        "children": {"maxItems": 0},
    },
}
CASE: Schema = {
    "type": "object",
    "properties": {
        "tag": {"const": "testcase"},
        "attributes": {
            "type": "object",
            "required": ["classname", "name"],
            "properties": dict.fromkeys(("classname", "name"), STRING),
            "additionalProperties": False,
        },
        "children": {"type": "array", "maxItems": 1, "items": DETAIL},
    },
}
SUITE: Schema = {
    "type": "object",
    "properties": {
        "tag": {"const": "testsuite"},
        "attributes": {
            "type": "object",
            "required": ["name", "tests", "failures", "errors", "skipped"],
            "properties": {
                "name": STRING,
                **dict.fromkeys(("tests", "failures", "errors", "skipped"), COUNT),
                "timestamp": {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"},
            },
            "additionalProperties": False,
        },
        "children": {"type": "array", "items": CASE},
    },
}
JUNIT: Schema = {
    "type": "object",
    "properties": {
        "tag": {"const": "testsuites"},
        "attributes": {"type": "object", "required": ["name"], "properties": {"name": STRING}},
        "children": {"type": "array", "items": SUITE},
    },
}

# Apache Otava 0.8, tests of `type: csv`: a time, attributes as text, and every other cell a number.
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

# Workflow commands of GitHub Actions: what ends a property or a line is escaped.
ANNOTATION = r"^::(error|warning|notice) (file|title)=[^:,\r\n]+(,title=[^:,\r\n]+)?::[^\r\n]+$"


def tree(found: Element) -> Schema:
    return {"tag": found.tag, "attributes": dict(found.attrib), "children": [tree(each) for each in found]}
