"""How long reads of files took, by level: the last histogram of each level of each column family."""

from __future__ import annotations

import re

from stepgrid.drivers.db_bench.parser.histogram import STATISTICS, statistics

_TITLE = re.compile(r"\*\* File Read Latency Histogram By Level \[(?P<family>.*)\] \*\*")
_LEVEL = re.compile(rf"\*\* Level (?P<level>\d+) read latency histogram \(micros\):{STATISTICS}")


def file_reads(text: str) -> list[dict[str, float | str]]:
    titles = list(_TITLE.finditer(text))
    ends = [*(title.start() for title in titles), len(text)][1:]
    found: dict[tuple[str, int], dict[str, float | str]] = {}
    for title, end in zip(titles, ends, strict=True):
        for head in _LEVEL.finditer(text, title.end(), end):
            family, level = title["family"], int(head["level"])
            found[family, level] = {"family": family, "level": f"L{level}", **statistics(head)}
    return [found[key] for key in sorted(found)]
