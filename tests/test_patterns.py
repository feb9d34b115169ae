"""Patterns of Python's `re` take time in proportion to the text, whatever a stranger puts into it."""

import ast
import importlib
import pkgutil
import re
import time
from pathlib import Path

import pytest

import stepgrid
import stepgrid_answers
import stepgrid_databases
import stepgrid_importers
import stepgrid_inspect
import stepgrid_investigate
import stepgrid_published
import stepgrid_registries
import stepgrid_share

LENGTHS, SECONDS = (4_000, 16_000), 0.5
UNITS = (" ", "0", "a", ".", "[", "(", '"', "'", "\n", "-", "_", "=", "/", "0.", "a.", "a ", "{{", "0@level0, ", " 0 ")
PARTS = ("__main__", "pip_guard")  # modules that are started, not imported
CUT = {"stepgrid.language.expressions._EXPRESSION"}  # its callers cut off what is behind the last `}}`
CALLS = ("match", "fullmatch", "search", "sub", "findall", "finditer", "split")


def modules():
    results = (
        stepgrid_answers,
        stepgrid_importers,
        stepgrid_inspect,
        stepgrid_investigate,
        stepgrid_published,
        stepgrid_share,
    )
    for package in (stepgrid, stepgrid_databases, stepgrid_registries, *results):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(part in module.name for part in PARTS):
                yield importlib.import_module(module.name)


def patterns():
    """Collect the patterns of texts at the level of modules, with the methods that their module calls."""
    collected = {}
    for module in modules():
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        calls = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in CALLS:
                calls.setdefault(node.value.id, set()).add(node.attr)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str) and name in calls:
                collected.setdefault(f"{module.__name__}.{name}", (value, calls[name]))
    return collected


def literal_beginning(pattern):
    """Return the plain characters that a pattern begins with."""
    match = re.match(r"(?:\^|\\b)?((?:[\w :=/,-]|\\[.\[({|-])*)", pattern)
    return match[1].replace("\\", "") if match else ""


PATTERNS = patterns()


def seconds(pattern, method, text):
    began = time.process_time()
    if method == "sub":
        pattern.sub("", text)
    elif method == "finditer":
        list(pattern.finditer(text))
    else:
        getattr(pattern, method)(text)
    return time.process_time() - began


def test_there_are_patterns():
    assert len(PATTERNS) > 100


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() - CUT))
def test_a_hostile_text(name):
    pattern, methods = PATTERNS[name]
    for length in LENGTHS:
        slow = [
            (method, beginning, unit)
            for method in sorted(methods)
            for beginning in {"", literal_beginning(pattern.pattern)}
            for unit in UNITS
            if seconds(pattern, method, beginning + unit * (length // len(unit)) + "\0") > SECONDS
        ]
        assert not slow, f"{pattern.pattern}: more than {SECONDS} s for {length} characters: {slow}"
