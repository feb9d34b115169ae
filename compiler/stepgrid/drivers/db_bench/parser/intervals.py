"""What each client says of itself while it runs (--stats_interval_seconds)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stepgrid.drivers.db_bench.benchmarks import has_background_writer
from stepgrid.model.figures import ClientRate

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


def read(text: str) -> Iterator[ClientRate]:
    for match in _LINE.finditer(text):
        yield ClientRate(int(match["client"]), float(match["seconds"]), "", float(match["rate"]))


def without_dumps(text: str) -> str:
    return _DUMP.sub("", text)


def _writer_rate(text: str) -> float | None:
    """Operations per second of the writer, up to the last line of its own; of one benchmark's output."""
    last = None
    for match in _LINE.finditer(text):
        if int(match["client"]) == WRITER and float(match["seconds"]):
            last = int(match["operations"]) / float(match["seconds"])
    return last


def writer(benchmark: str, said: str, metrics: Mapping[str, float], alone: bool) -> dict[str, float]:
    """Of the thread that writes beside the readers of a *whilewriting benchmark: its operations are not in the result.

    `said`: by the clients. Where no other benchmark ran (`alone`), all that was written is the writer's.
    """
    if not has_background_writer(benchmark):
        return {}
    rate = _writer_rate(said)
    keys, seconds = metrics.get("keys_written"), metrics.get("seconds")
    if rate is None and alone and keys is not None and seconds:
        rate = keys / seconds
    return {} if rate is None else {"writer_qps": rate}
