"""A benchmark's result line, in the form before RocksDB 7.3 and in the one since."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from stepgrid.drivers.db_bench.parser.histogram import Histogram
from stepgrid.model.figures import ParseError

Release: TypeAlias = tuple[int, ...]
CLIENTS_TIME_SINCE: Release = (6, 0)

_LINE = re.compile(
    r"^(?P<name>\w+) +: +(?P<usec>\d+\.\d+) micros/op (?P<qps>\d+) ops/sec"
    r"(?: (?P<seconds>\d+\.\d+) seconds (?P<operations>\d+) operations)?;(?P<rest>.*)$",
    re.MULTILINE,
)
_RATE = re.compile(r"^ +(\d+\.\d+) MB/s")
_FOUND = re.compile(r"\((\d+) of (\d+) found[,)]")
_SKIPPED = r"^{} +: skipped \((.+)\)$"


@dataclass(frozen=True, slots=True)
class Result:
    usec_per_op: float | None  # of the clients' time: with n clients n times the time between two operations
    printed_qps: int  # cut, not rounded
    seconds: float | None
    operations: int | None
    mb_per_s: float | None
    found: tuple[int, int] | None
    end: int  # where the line ends in the text
    name: str = ""
    start: int = 0
    rest: str = ""  # of the line, behind the rates


def find(text: str, benchmark: str) -> Result:
    """The first result line of the benchmark."""
    for found in every(text):
        if found.name == benchmark:
            return found
    if skipped := re.search(_SKIPPED.format(re.escape(benchmark)), text, re.MULTILINE):
        raise ParseError(f"db_bench skipped {benchmark}: {skipped[1]}")
    raise ParseError(f"no result line of {benchmark} (`{benchmark} : … micros/op … ops/sec`)")


def every(text: str) -> Iterator[Result]:
    return map(_result, _LINE.finditer(text))


def of_clients(result: Result, release: Release, clients: int | None) -> Result:
    """Up to 5.18 it divides the wall time: with n clients a figure n times too small for what it is since."""
    if not release or release >= CLIENTS_TIME_SINCE or clients == 1:
        return result
    return replace(result, usec_per_op=result.usec_per_op * clients if result.usec_per_op and clients else None)


def figures(result: Result, latencies: Sequence[Histogram]) -> dict[str, float]:
    operations = result.operations or _counted(result, latencies)
    seconds = result.seconds
    if seconds is None and operations and result.printed_qps:
        seconds = operations / result.printed_qps
    qps = _qps(result)
    optional = {
        "qps": qps,
        "usec_per_op": result.usec_per_op,
        "seconds": seconds,
        "operations": operations,
        "mb_per_s": result.mb_per_s,
        "found_pct": (100 * result.found[0] / result.found[1] if result.found and result.found[1] else None),
    }
    known = {name: float(value) for name, value in optional.items() if value is not None}
    return known | mix(result.rest, qps)


def _result(match: re.Match[str]) -> Result:
    rate, found = _RATE.search(match["rest"]), _FOUND.search(match["rest"])
    return Result(
        usec_per_op=float(match["usec"]),
        printed_qps=int(match["qps"]),
        seconds=float(match["seconds"]) if match["seconds"] else None,
        operations=int(match["operations"]) if match["operations"] else None,
        mb_per_s=float(rate[1]) if rate else None,
        found=(int(found[1]), int(found[2])) if found else None,
        end=match.end(),
        name=match["name"],
        start=match.start(),
        rest=match["rest"],
    )


def _qps(result: Result) -> float | None:
    """As printed; a small one, of which the cut fraction would be a part that matters, is computed."""
    if result.printed_qps < 1000 and result.operations is not None and result.seconds:
        return result.operations / result.seconds
    return result.printed_qps or None  # a 0 is what is left of less than one: unknown


def _counted(result: Result, latencies: Sequence[Histogram]) -> int | None:
    """The operations of an old result line, from its histograms: not when a sample stands for a batch."""
    count = sum(item.count for item in latencies)
    if not count:
        return None
    mean = sum(item.count * item.average for item in latencies) / count
    return count if result.usec_per_op and 0.8 <= mean / result.usec_per_op <= 1.2 else None


_MIX = re.compile(
    r"\( Gets:(?P<gets>\d+) Puts:(?P<puts>\d+) Seek:(?P<seeks>\d+)"
    r"(?: of (?P<found>\d+) in \d+ found"  # before 7.1: the gets that found a key, in gets and seeks
    r"|, reads (?P<found_since>\d+) in (?P<looked_since>\d+) found, avg size: (?P<value>\S+) value, (?P<scan>\S+) scan)"
)


def mix(rest: str, qps: float | None) -> dict[str, float]:
    """What mixgraph says of its operations behind its rate: of the first client, where there are several.

    `rest`: of the result line.
    """
    match = _MIX.search(rest)
    if match is None:
        return {}
    found, looked = match["found"] or match["found_since"], match["looked_since"] or match["gets"]
    return {
        **_rates({name: int(match[name]) for name in ("gets", "puts", "seeks")}, qps),
        **({"found_pct": 100 * int(found) / int(looked)} if int(looked) else {}),
        **_mean_of("put_value_bytes", match["value"]),
        **_mean_of("scan_keys", match["scan"]),
    }


def _rates(counts: dict[str, int], qps: float | None) -> dict[str, float]:
    total = sum(counts.values())
    return {f"{name}_per_s": qps * count / total for name, count in counts.items()} if qps and total else {}


def _mean_of(name: str, text: str | None) -> dict[str, float]:
    """Of no puts, or no seeks, it prints nan."""
    try:
        value = float(text or "nan")
    except ValueError:
        return {}
    return {name: value} if math.isfinite(value) else {}
