"""The thread that writes beside the readers of a *whilewriting benchmark: its operations are not in the result."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.drivers.db_bench.benchmarks import has_background_writer
from stepgrid.drivers.db_bench.parser import intervals


def figures(benchmark: str, said: str, metrics: Mapping[str, float], alone: bool) -> dict[str, float]:
    """`said`: by the clients. Where no other benchmark ran (`alone`), all that was written is the writer's."""
    if not has_background_writer(benchmark):
        return {}
    rate = intervals.writer_rate(said)
    keys, seconds = metrics.get("keys_written"), metrics.get("seconds")
    if rate is None and alone and keys is not None and seconds:
        rate = keys / seconds
    return {} if rate is None else {"writer_qps": rate}
