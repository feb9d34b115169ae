from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver


def _metric(**given: Any) -> dict[str, Any]:
    return {"argv": ["x"], "metrics": {given.pop("name", "rate"): given}}


@pytest.mark.parametrize(
    ("given", "where", "message"),
    [
        ({"argv": []}, "argv", "a program is needed"),
        ({"argv": ["", "-l"]}, "argv", "a program is needed"),
        ({"argv": "ls -l"}, "argv", "Input should be a valid tuple"),
        (
            {"argv": ["sh", "-c", "{program:db_bench} --help"]},
            "argv",
            "{program:db_bench} stands for several words: give it as a word of its own",
        ),
        ({"argv": ["x", "a{options}"]}, "argv", "{options} stands for several words: give it as a word of its own"),
        ({"argv": ["x"], "duration": 0.0}, "duration", "Input should be greater than 0"),
        (
            {"argv": ["x"], "durabilities": "none sync", "durability": "os"},
            "durability",
            "expected none or sync, which the program can do",
        ),
        ({"argv": ["x"], "shell": True}, "shell", "Extra inputs are not permitted"),
        (_metric(pattern=r"\d+"), "metrics", r"the pattern `\d+` has 0 groups; it needs one, around the number"),
        (_metric(pattern="(a)(b)"), "metrics", "the pattern `(a)(b)` has 2 groups; it needs one, around the number"),
        (
            _metric(pattern="(a"),
            "metrics",
            "`(a` is no pattern: missing ): (a",
        ),
        (_metric(pattern="(a)", better="more"), "metrics", "Input should be 'higher' or 'lower'"),
        (_metric(name="step", pattern="(a)"), "metrics", "`step` is a column of the tables: choose another name"),
        (_metric(name="Rate", pattern="(a)"), "metrics", "String should match pattern '^[a-z][a-z0-9_]*$'"),
        (_metric(unit="s"), "metrics", "a metric has `pattern`, `json` or `report`, one of them"),
        (_metric(pattern="(a)", json="$.a"), "metrics", "a metric has `pattern`, `json` or `report`, one of them"),
        (_metric(json="jobs[0]"), "metrics", "`jobs[0]` is no path: it begins with $"),
        (
            _metric(json="$.jobs[?(@.x)]"),
            "metrics",
            "`$.jobs[?(@.x)]` is no path: `[?(@.x)]` is none of .key ['key'] [0] [*]",
        ),
        (
            _metric(json="$.a", file="/tmp/x.json"),
            "metrics",
            "`/tmp/x.json` is outside of the step's folder: have the program write to {folder}",
        ),
        (
            _metric(json="$.a", file="../x.json"),
            "metrics",
            "`../x.json` is outside of the step's folder: have the program write to {folder}",
        ),
        (
            _metric(json="$.a", take="median"),
            "metrics",
            "Input should be 'first', 'last', 'sum', 'mean', 'min' or 'max'",
        ),
        (
            _metric(json="$.a", times="2x"),
            "metrics",
            "Input should be a valid number, unable to parse string as a number",
        ),
        ({"argv": ["x"], "series": {"file": "a.csv", "time": "t"}}, "series", "Field required"),
        (
            {"argv": ["x"], "series": {"file": "a.csv", "time": "t", "rate": "v", "unit": "h"}},
            "series",
            "Input should be 's', 'ms', 'us' or 'ns'",
        ),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], where: str, message: str) -> None:
    assert refused("command", given) == [(where, message)]


def test_values_of_expressions_become_words(kept: Callable[..., Any]) -> None:
    assert kept("command", {"argv": ["x", 5, 0.5, True]}) == {"argv": ["x", "5", "0.5", "true"]}


def test_estimate_and_seed() -> None:
    found = driver("command")
    assert found.estimate({"duration": None}) == 10.0
    assert found.estimate({"duration": 3.0}) == 3.0
    assert found.seed_key({"argv": ["/usr/bin/fio", "--x"]}) == "fio"
