"""Patterns that cannot be searched for in bounded time are refused or given up; paths name entries of JSON."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.drivers.command import selectors
from stepgrid_databases.drivers.command.selectors import PathError, PatternError, find, groups, matches, parts
from tests.cases import rows

AS_PYTHON = (r"^keys=(\d+)", r"latency:\n.*\n +([0-9.]+)", r"(?i)QPS: (\S+)$", r"(?P<n>\d+)(?: ms|us)", r"a|(b)")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(" * 1500, "missing ): " + "(" * 109),
        ("(" * 1500 + "a" + ")" * 1500, "it compiles to 3,005 instructions, more than 2,000"),
        ("(?:a{1000}){1000}", "invalid repetition size: {1000}"),
        ("(?:.{40}){9}()", "it compiles to 2,886 instructions, more than 2,000"),
        ("(?<=a+)(b)", "invalid perl operator: (?<=; RE2 has no look-around and no back-references"),
        ("(?=a)(b)", "invalid perl operator: (?=; RE2 has no look-around and no back-references"),
        (r"(a)\1", r"invalid escape sequence: \1; RE2 has no look-around and no back-references"),
        ("(\ud800)", "it holds half a character"),
    ],
)
def test_what_is_no_pattern(pattern, why):
    with pytest.raises(PatternError) as caught:
        groups(pattern)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "pattern", ["(a{0,99999999999})", "(a+)+$", "(x+x+)+y", "(a|aa)+$", "(.*a){20}b", "([ab]*a[ab]{200})c"]
)
def test_a_pattern_that_other_engines_never_end_with(pattern):
    began = time.process_time()
    matches(pattern, "a" * 100_000 + "!")
    assert time.process_time() - began < 10


def test_matches_that_each_look_at_all_of_the_text(monkeypatch):
    monkeypatch.setattr(selectors, "SECONDS", 0.2)
    with pytest.raises(PatternError, match=re.escape("the pattern (a)(?:[^z]*z)? takes more than 1 s")):
        matches("(a)(?:[^z]*z)?", "a" * 300_000)


@given(st.text(alphabet="keys=123.4 \nlatency:QPSmusb", max_size=200), st.sampled_from(AS_PYTHON))
def test_what_is_found_is_what_python_finds(text, pattern):
    expected = [match[1] for match in re.finditer(pattern, text, re.MULTILINE) if match[1] is not None]
    assert matches(pattern, text) == expected


# Paths in JSON.

FIO = {"jobs": [{"read": {"iops": 1.5, "clat_ns": {"percentile": {"99.000000": 7}}}}, {"read": {"iops": 2}}, {}]}


@pytest.mark.parametrize(("path", "found"), rows(__file__, "what_stands_there"))
def test_what_stands_there(path, found):
    assert find(FIO, path) == found


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("jobs", "it begins with $"),
        ("$jobs", "`jobs` is none of .key ['key'] [0] [*]"),
        ("$.a..b", "`..b` is none of .key ['key'] [0] [*]"),
        ("$.a[1:2]", "`[1:2]` is none of .key ['key'] [0] [*]"),
        ("$.a['b]", "`['b]` is none of .key ['key'] [0] [*]"),
        (f"$[{'1' * 5000}]", "an index has too many digits"),
        ("$.99.0", "`.99.0` is none of .key ['key'] [0] [*]"),
    ],
)
def test_what_is_no_path(path, why):
    with pytest.raises(PathError) as caught:
        parts(path)
    assert str(caught.value) == why
