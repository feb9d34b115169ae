"""What the scripts call things: files of a microbenchmark, rows and groups of tables, directories of builds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

SCAN = "scan"
GROUPS = ("point queries", "range queries without aggregation", "range queries with aggregation", "writes")
ORDER = (0, 1, 1, 2)  # of the groups in a table: both kinds of range queries are sorted together

_FILE = re.compile(r"sb\.[a-z]+\.(?P<name>.+)\.range(?P<range>\d+)\.pk(?P<pk>\d+)\.dop(?P<dop>\d+)")
_ROW = re.compile(r"(?P<name>.+)_range=(?P<range>\d+)")
_DIRECTORY = re.compile(r"(?:x\.)?(?P<build>.+?)(?:\.pk(?P<pk>\d+))?")
_WRITES = ("delete", "insert", "update", "write")
_UNSHOWN = ("point-query.warm", "points-covered-si.warm", "scan.warmpre")  # runs that no table shows


class Test(NamedTuple):
    name: str
    range: int
    pk: str
    dop: str

    @property
    def row(self) -> str:
        return f"{self.name}_range={self.range}"

    @property
    def suffix(self) -> str:
        return f"{self.name}.range{self.range}.pk{self.pk}.dop{self.dop}"

    @property
    def scans(self) -> bool:
        return self.name == SCAN or self.name.startswith(f"{SCAN}.")

    @property
    def shown(self) -> bool:
        """In tables: without what warms up, and without the tests before the writes."""
        return self.name not in _UNSHOWN and not self.name.endswith(".pre")


def test(file: str) -> Test | None:
    match = _FILE.fullmatch(file)
    return Test(match["name"], int(match["range"]), match["pk"], match["dop"]) if match else None


def row(text: str) -> tuple[str, int] | None:
    """random-points_range=10 -> its name and range."""
    match = _ROW.fullmatch(text)
    return (match["name"], int(match["range"])) if match else None


def build(directory: str) -> tuple[str, str | None]:
    """x.my8044_rel_o2nofp.z12a_c32r128.pk1 -> build.config, and whether there is a primary key."""
    match = _DIRECTORY.fullmatch(directory)
    return (match["build"], match["pk"]) if match else (directory, None)


def group(name: str) -> int:
    """By parts of its name, as the scripts and the hand edits after them have it."""
    if "point" in name and "warm" not in name:
        return 0
    if any(part in name for part in _WRITES):
        return 3
    return 2 if name.startswith("read-only") else 1


def ordered(tests: Iterable[Test]) -> list[Test]:
    """As in a table: by group, then as `sort` has the files' names where punctuation does not count."""
    return sorted(tests, key=lambda each: (ORDER[group(each.name)], re.sub(r"\W", "", each.suffix)))


def short(rows: Iterable[str]) -> Mapping[str, str]:
    """Row -> its name in a post: the range is left out where a test has one only."""
    parsed = {text: row(text) for text in rows}
    ranges = Counter(found[0] for found in parsed.values() if found)
    return {text: found[0] if found and ranges[found[0]] == 1 else text for text, found in parsed.items()}
