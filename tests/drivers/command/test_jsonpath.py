from __future__ import annotations

from typing import Any

import pytest

from stepgrid.drivers.command.jsonpath import PathError, find, parts

FIO = {"jobs": [{"read": {"iops": 1.5, "clat_ns": {"percentile": {"99.000000": 7}}}}, {"read": {"iops": 2}}, {}]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.jobs[0].read.iops", [1.5]),
        ("$.jobs[-2].read.iops", [2]),
        ("$.jobs[*].read.iops", [1.5, 2]),
        ("$['jobs'][0][\"read\"].iops", [1.5]),
        ("$.jobs[0].read.clat_ns.percentile['99.000000']", [7]),
        ("$.jobs[3].read", []),
        ("$.jobs[-4]", []),
        ("$.jobs.read", []),
        ("$.jobs[0][0]", []),
        ("$.nothing[*]", []),
    ],
)
def test_what_stands_there(path: str, found: list[Any]) -> None:
    assert find(FIO, path) == found


def test_the_whole_and_null() -> None:
    assert find([1, None, 3], "$[*]") == [1, 3]
    assert find(5, "$") == [5]


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
def test_what_is_no_path(path: str, why: str) -> None:
    with pytest.raises(PathError) as caught:
        parts(path)
    assert str(caught.value) == why
