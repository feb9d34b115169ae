"""What each client says of itself while it runs (--stats_interval_seconds)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stepgrid.model.figures import Interval

WRITER = 0  # the client that writes beside the readers of a *whilewriting benchmark

_SAID = (
    r"^.*\.\.\. thread (?P<client>{client}): \(\d+,(?P<operations>\d+)\) ops and \((?P<rate>\d+\.\d+),\S+\) ops/second"
    r" in \(\S+?,(?P<seconds>\d+\.\d+)\) seconds$"
)
_LINE = re.compile(_SAID.format(client=r"\d+"), re.MULTILINE)
# the first client adds the statistics of that moment, which are none of the end
_DUMP = re.compile(
    _SAID.format(client="0") + r"\n(?:(?!^\w+ +: +\d+\.\d+ micros/op).*\n)*?Interval stall: .*\n"
    r"(?:Write Stall \(count\): .*\n|num-running-\w+: .*\n|\n)*",
    re.MULTILINE,
)


def read(text: str) -> Iterator[Interval]:
    for match in _LINE.finditer(text):
        yield Interval(int(match["client"]), float(match["seconds"]), float(match["rate"]))


def without_dumps(text: str) -> str:
    return _DUMP.sub("", text)


def writer_rate(text: str) -> float | None:
    """Operations per second of the writer, up to the last line of its own; of one benchmark's output."""
    last = None
    for match in _LINE.finditer(text):
        if int(match["client"]) == WRITER and float(match["seconds"]):
            last = int(match["operations"]) / float(match["seconds"])
    return last
